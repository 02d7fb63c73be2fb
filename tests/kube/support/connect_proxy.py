"""An HTTP proxy for CONNECT tunnels, with an optional password."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class Proxy:
    names: Mapping[str, str]
    """Where the proxy finds hosts that only it knows."""
    password: str
    address: str = ""
    """host:port"""
    tunnels: list[str] = field(default_factory=list)
    server: asyncio.Server | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self, tls: ssl.SSLContext | None) -> None:
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0, ssl=tls)
        self.address = f"127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.add(asyncio.ensure_future(_serve(self, reader, writer)))

    async def stop(self) -> None:
        """Closes every tunnel and accepts no more."""
        if self.server is None:
            return
        self.server.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.server.wait_closed()
        self.server = None


@asynccontextmanager
async def proxying(
    names: Mapping[str, str] | None = None, password: str = "", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Proxy]:
    proxy = Proxy(names or {}, password)
    await proxy.start(tls)
    try:
        yield proxy
    finally:
        await proxy.stop()


async def _serve(proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await _tunnel(proxy, reader, writer)
    finally:
        await _closed(writer)


async def _tunnel(proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    if proxy.password and not _knows(head, proxy.password):
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        return
    method, target, _ = head.split(" ", 2)
    assert method == "CONNECT"
    proxy.tunnels.append(target)
    host, _, port = target.rpartition(":")
    onward_reader, onward_writer = await asyncio.open_connection(proxy.names.get(host, host), int(port))
    try:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(_pump(reader, onward_writer), _pump(onward_reader, writer))
    finally:
        await _closed(onward_writer)


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError, ssl.SSLError):
        await writer.wait_closed()


def _knows(head: str, password: str) -> bool:
    expected = base64.b64encode(password.encode()).decode()
    return f"proxy-authorization: basic {expected}".lower() in head.lower()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)
        await writer.drain()
    writer.close()
