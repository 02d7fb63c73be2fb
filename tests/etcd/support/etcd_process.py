"""A real etcd as a process."""

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from steward.etcd.client import Endpoints, EtcdClient
from steward.etcd.errors import EtcdError
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import SilentProgress


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def wait_until_reachable(endpoints: Endpoints) -> None:
    """The test's own time limit ends the wait."""
    while True:
        try:
            async with EtcdClient(endpoints) as client:
                await client.get("ready")
                return
        except EtcdError:
            await asyncio.sleep(0.05)


@asynccontextmanager
async def running_etcd(directory: Path, scheme: str, *flags: str) -> AsyncIterator[str]:
    program = (await binaries.ensure([CONTROL_PLANE], SilentProgress()))["etcd"]
    client, peer = f"{scheme}://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
    command = [str(program), "--data-dir", str(directory / "data"), "--unsafe-no-fsync", "--logger=zap"]
    command += ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer]
    command += ["--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}", *flags]
    with (directory / "etcd.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield client
        finally:
            process.kill()
            process.wait(timeout=60)
