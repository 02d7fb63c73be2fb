"""Runs the fake data plane as a process: `python -m steward.testkit.fake_data_plane --kubeconfig F --directory D`."""

import argparse
import asyncio
import logging
import signal
import ssl
import sys
from contextlib import suppress
from pathlib import Path

from steward.runtime.manager.connect_to import parse_forward
from steward.testkit.fake_data_plane.data_plane import EtcdKind, FakeDataPlane, FakeDataPlaneSettings
from steward.testkit.fake_data_plane.servers import ExternalEtcd
from steward.testkit.fake_data_plane.shard_model import Timing

TIMES = {
    "start": "how long a Postgres needs after its pooler",
    "stream": "how long a standby needs until it streams",
    "failover": "how long a shard has no primary",
    "switch": "how long a call of switch-primary takes",
    "backup": "how long a backup takes",
}


async def serve(settings: FakeDataPlaneSettings) -> None:
    """Run until SIGTERM or SIGINT."""
    async with FakeDataPlane(settings) as plane:
        sys.stderr.write(f"start the operator with --connect-to {plane.connect_to}\n")
        work = asyncio.ensure_future(plane.wait())
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        with suppress(asyncio.CancelledError):
            await work


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m steward.testkit.fake_data_plane", description="A fake data plane."
    )
    parser.add_argument("--kubeconfig", type=Path, required=True, help="the control plane")
    parser.add_argument("--directory", type=Path, required=True, help="directory for etcd's data")
    parser.add_argument(
        "--namespace", action="append", default=[], help="watch only this namespace; may be repeated"
    )
    parser.add_argument(
        "--etcd",
        choices=[kind.value for kind in EtcdKind],
        default=EtcdKind.PROCESS.value,
        help="a real etcd for each TopoServer, or one in the memory of this process",
    )
    parser.add_argument(
        "--forward",
        action="append",
        default=[],
        type=parse_forward,
        help="the address of an external etcd and the one to connect to instead, as in --connect-to; may be repeated",
    )
    parser.add_argument(
        "--etcd-certificates", type=Path, help="directory with ca.crt, tls.crt and tls.key for external etcds"
    )
    for name, meaning in TIMES.items():
        default = getattr(Timing(), name)
        parser.add_argument(f"--{name}-seconds", type=float, default=default, help=f"{meaning} ({default:g})")
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    asyncio.run(serve(_settings(given)))


def _settings(given: argparse.Namespace) -> FakeDataPlaneSettings:
    timing = Timing(**{name: getattr(given, f"{name}_seconds") for name in TIMES})
    external = ExternalEtcd(tuple(given.forward), _tls(given.etcd_certificates))
    return FakeDataPlaneSettings(
        given.kubeconfig, given.directory, tuple(given.namespace), timing, EtcdKind(given.etcd), external
    )


def _tls(directory: Path | None) -> ssl.SSLContext | None:
    if directory is None:
        return None
    context = ssl.create_default_context(cafile=directory / "ca.crt")
    context.load_cert_chain(directory / "tls.crt", directory / "tls.key")
    return context


if __name__ == "__main__":
    main()
