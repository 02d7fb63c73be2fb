"""A loopback port that keeps its number while nothing listens on it: connections are refused until `listen`."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable

from aiohttp import web

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
HOST = "127.0.0.1"
SHUTDOWN_SECONDS = 0.05
"""aiohttp takes 0 as no limit."""


class Listener:
    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._socket = bind_port()
        self.port: int = self._socket.getsockname()[1]
        self._runner: web.ServerRunner | None = None

    @property
    def is_listening(self) -> bool:
        return self._runner is not None

    async def listen(self) -> None:
        if self._runner is None:
            self._runner = web.ServerRunner(web.Server(self._handler), shutdown_timeout=SHUTDOWN_SECONDS)
            await self._runner.setup()
            await web.SockSite(self._runner, self._socket).start()

    async def refuse(self) -> None:
        """Close all connections and refuse new ones."""
        if self._runner is not None:
            await self._close_server(self._runner)
            self._socket = bind_port(self.port)

    async def close(self) -> None:
        """Give up the port."""
        if self._runner is not None:
            await self._close_server(self._runner)
        self._socket.close()

    async def _close_server(self, runner: web.ServerRunner) -> None:
        self._runner = None
        await runner.cleanup()


def bind_port(port: int = 0) -> socket.socket:
    """A bound socket that does not listen reserves its port, and the kernel refuses connections to it."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind((HOST, port))
    return found
