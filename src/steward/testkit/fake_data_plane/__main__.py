"""Runs the fake data plane as a process: `python -m steward.testkit.fake_data_plane --kubeconfig F --directory D`."""

import argparse
import asyncio
import logging
import signal
import sys
from contextlib import suppress
from pathlib import Path

from steward.testkit.fake_data_plane.data_plane import DataPlane, DataPlaneSettings


async def serve(settings: DataPlaneSettings) -> None:
    """Until told to end (SIGTERM or SIGINT)."""
    async with DataPlane(settings) as plane:
        sys.stderr.write(f"start the operator with --connect-to {plane.connect_to}\n")
        work = asyncio.ensure_future(plane.wait())
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        with suppress(asyncio.CancelledError):
            await work


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m steward.testkit.fake_data_plane", description="A stand-in for the data plane."
    )
    parser.add_argument("--kubeconfig", type=Path, required=True, help="the control plane")
    parser.add_argument("--directory", type=Path, required=True, help="where etcd keeps its data")
    parser.add_argument(
        "--namespace", action="append", default=[], help="look at this one only; may be repeated"
    )
    parser.add_argument("--failover-seconds", type=float, default=2.0, help="how long a shard has no primary")
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    asyncio.run(
        serve(
            DataPlaneSettings(
                given.kubeconfig, given.directory, tuple(given.namespace), given.failover_seconds
            )
        )
    )


if __name__ == "__main__":
    main()
