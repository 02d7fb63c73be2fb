"""Runs a fault proxy as a separate process: `python -m steward.testkit --kubeconfig F --write-kubeconfig F`."""

import argparse
import asyncio
import shutil
import signal
import sys
from pathlib import Path

from steward.testkit.proxy.server import FaultProxy


async def serve(kubeconfig: Path, written: Path, port: int) -> None:
    """Forward until SIGTERM or SIGINT."""
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    proxy = FaultProxy(kubeconfig)
    await proxy.start(port)
    try:
        shutil.copyfile(proxy.kubeconfig, written)
        sys.stderr.write(f"fault proxy on {proxy.url}\n")
        await ended.wait()
    finally:
        await proxy.stop()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m steward.testkit", description="A fault proxy.")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="API server and credentials")
    parser.add_argument(
        "--write-kubeconfig", type=Path, required=True, help="where to write the kubeconfig of the proxy"
    )
    parser.add_argument("--port", type=int, default=0, help="port on loopback; 0 chooses a free one")
    options = parser.parse_args()
    asyncio.run(serve(options.kubeconfig, options.write_kubeconfig, options.port))


if __name__ == "__main__":
    main()
