"""One real etcd for one TopoServer: a single member on loopback, whatever the number of pods.

It ends with the process that started it, however that ends: the kernel sees to it.
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
        self.is_silent = False

    def is_running(self) -> bool:
        return self._service.is_running()

    def start(self) -> None:
        """The port stays the same over restarts, unless somebody else has taken it meanwhile."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not ports.is_free(self.port) or not ports.is_free(self._peer_port):
            self.port, self._peer_port = ports.free_ports(2)
        self._service.start([str(self._program), *self._arguments()], Lifetime.PARENT)
        self.is_silent = False

    def _arguments(self) -> list[str]:
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{self._peer_port}"
        return [
            "--name=stand-in",
            f"--data-dir={self._directory / 'data'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            # A member on its own talks to no peer, so the peer's port may be another one after a restart.
            f"--initial-cluster=stand-in={peer}",
            "--unsafe-no-fsync",
            f"--quota-backend-bytes={64 * MEBIBYTE}",
            "--logger=zap",
            "--log-level=warn",
        ]

    def silence(self) -> None:
        """From now on connections are accepted, by the kernel, and nothing is answered."""
        self._service.send(signal.SIGSTOP)
        self.is_silent = True

    def wake(self) -> None:
        self._service.send(signal.SIGCONT)
        self.is_silent = False

    async def stop(self) -> None:
        """End it and keep its data."""
        self.wake()  # what sleeps cannot end in order
        await self._service.stop(STOP_SECONDS)

    async def remove(self) -> None:
        """End it for good."""
        await self.stop()
        shutil.rmtree(self._directory, ignore_errors=True)

    def log_tail(self) -> str:
        return self._service.log_tail()
