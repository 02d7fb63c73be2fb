"""Listens on this machine and forwards each connection to a port of a pod.

For `psql` it listens on a Unix socket in a directory of its own: unlike a port of 127.0.0.1, other users of the machine
cannot connect to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from steward.kube.transport.port_forward import ForwardError, PodPort, PortForwarder, forward_streams

LOCALHOST = "127.0.0.1"

Report = Callable[[str], None]


class ForwardServer:
    """Forwards connections to one port; `report` gets the reason when the pod cannot be reached."""

    def __init__(self, forwarder: PortForwarder, target: PodPort, report: Report) -> None:
        self._forwarder = forwarder
        self._target = target
        self._report = report
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def on_unix_socket(self, path: Path) -> AsyncIterator[None]:
        async with self._serving(await asyncio.start_unix_server(self._accept, path)):
            yield

    @asynccontextmanager
    async def on_port(self, port: int) -> AsyncIterator[int]:
        """The port that was opened; 0 chooses a free one."""
        server = await asyncio.start_server(self._accept, LOCALHOST, port)
        async with self._serving(server):
            yield int(server.sockets[0].getsockname()[1])

    @asynccontextmanager
    async def _serving(self, server: asyncio.Server) -> AsyncIterator[None]:
        try:
            yield
        finally:
            server.close()
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._forward(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with self._forwarder.connect(self._target) as socket:
                await forward_streams(socket, self._target, reader, writer)
        except ForwardError as error:
            self._report(str(error))
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
