"""`python -m steward.local.provisioner --kubeconfig F --directory D --node NAME=ZONE`: runs until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
from pathlib import Path

from steward.local.provisioner.decisions import Placement
from steward.local.provisioner.process import running


def _node(text: str) -> tuple[str, str]:
    name, separator, zone = text.partition("=")
    if not (name and separator and zone):
        raise argparse.ArgumentTypeError(f"{text!r} names no node and zone: write NAME=ZONE")
    return name, zone


async def _serve(kubeconfig: Path, placement: Placement) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with running(kubeconfig, placement):
        await ended.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m steward.local.provisioner", description="Provisions volumes as directories."
    )
    parser.add_argument("--kubeconfig", type=Path, required=True, help="the cluster")
    parser.add_argument("--directory", type=Path, required=True, help="directory of all volumes")
    parser.add_argument(
        "--node", type=_node, action="append", required=True, help="NAME=ZONE; may be repeated"
    )
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    asyncio.run(_serve(given.kubeconfig, Placement(dict(given.node), given.directory.absolute())))


if __name__ == "__main__":
    main()
