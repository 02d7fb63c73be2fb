"""Runs the fake data plane as a process: `python -m steward.testkit.fake_data_plane --kubeconfig F --directory D`."""

import argparse
import asyncio
import logging
import signal
import sys
from contextlib import suppress
from pathlib import Path

from steward.testkit.fake_data_plane.data_plane import FakeDataPlane, FakeDataPlaneSettings


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
    parser.add_argument("--failover-seconds", type=float, default=2.0, help="how long a shard has no primary")
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    asyncio.run(
        serve(
            FakeDataPlaneSettings(
                given.kubeconfig, given.directory, tuple(given.namespace), given.failover_seconds
            )
        )
    )


if __name__ == "__main__":
    main()
