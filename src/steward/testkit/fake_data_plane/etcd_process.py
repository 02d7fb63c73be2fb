"""A real etcd for one TopoServer: a single member on loopback, whatever the number of pods.

The kernel kills it when the process that started it ends.
"""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

from steward.local import ports
from steward.local.processes import Lifetime, Service

STOP_SECONDS = 5.0
MEBIBYTE = 1024**2


class EtcdProcess:
    def __init__(self, program: Path, directory: Path) -> None:
        self._program = program
        self._directory = directory
        self._service = Service("etcd", directory)
        self.port, self._peer_port = ports.free_ports(2)
        self.is_paused = False

    def is_running(self) -> bool:
        return self._service.is_running()

    async def start(self) -> None:
        """Start it, on the same port as before unless another process has taken the port."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not ports.is_free(self.port) or not ports.is_free(self._peer_port):
            self.port, self._peer_port = ports.free_ports(2)
        self._service.start([str(self._program), *self._arguments()], Lifetime.PARENT)
        self.is_paused = False

    def _arguments(self) -> list[str]:
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{self._peer_port}"
        return [
            "--name=topology",
            f"--data-dir={self._directory / 'data'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            # A member on its own talks to no peer, so the peer's port may be another one after a restart.
            f"--initial-cluster=topology={peer}",
            "--unsafe-no-fsync",
            f"--quota-backend-bytes={64 * MEBIBYTE}",
            "--logger=zap",
            "--log-level=warn",
        ]

    async def pause(self) -> None:
        """Stop the process: the kernel still accepts connections, but nothing answers."""
        await self._service.suspend()
        self.is_paused = True

    def resume(self) -> None:
        self._service.send_signal(signal.SIGCONT)
        self.is_paused = False

    async def stop(self) -> None:
        """Terminate it and keep its data."""
        self.resume()  # a stopped process cannot terminate in order
        await self._service.stop(STOP_SECONDS)

    async def remove(self) -> None:
        """Terminate it and delete its data."""
        await self.stop()
        shutil.rmtree(self._directory, ignore_errors=True)

    def log_tail(self) -> str:
        return self._service.log_tail()
