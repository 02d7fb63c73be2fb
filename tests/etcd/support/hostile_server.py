"""A server on a real socket that answers every request as a test tells it to, in its own thread."""

import asyncio
import threading
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Behaviour = Callable[[asyncio.StreamWriter], Awaitable[None]]
ENDLESS_BYTES = 512 << 20
"""Where an endless answer ends, so that a client without bounds fails a test instead of the machine."""
FOREIGN = "foreign-words"
"""Stands for what answers at an address that the author of a cluster may not read."""


@dataclass
class HostileServer:
    url: str
    requests: list[bytes] = field(default_factory=list)
    sent_bytes: int = 0


@contextmanager
def hostile_server(behaviour: Behaviour) -> Iterator[HostileServer]:
    server = _ServerThread(behaviour)
    server.start()
    assert server.started.wait(30)
    try:
        yield server.found
    finally:
        server.stop()
        server.join(30)


class _ServerThread(threading.Thread):
    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(daemon=True)
        self.found = HostileServer("")
        self.started = threading.Event()
        self._behaviour = behaviour
        self._end: Callable[[], object] = lambda: None

    def run(self) -> None:
        asyncio.run(self._serve())

    def stop(self) -> None:
        self._end()

    async def _serve(self) -> None:
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        self._end = lambda: loop.call_soon_threadsafe(stopped.set)
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.started.set()
        await stopped.wait()
        server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _request(reader):
                self.found.requests.append(request)
                await self._behaviour(_CountingWriter(writer, self.found))  # type: ignore[arg-type]
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()


class _CountingWriter:
    def __init__(self, writer: asyncio.StreamWriter, found: HostileServer) -> None:
        self._writer = writer
        self._found = found

    def write(self, data: bytes) -> None:
        self._found.sent_bytes += len(data)
        self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (
            int(line.partition(b":")[2])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        ),
        0,
    )
    return head + await reader.readexactly(length)


def answer_of(body: bytes, status: str = "200 OK", *headers: str) -> Behaviour:
    """A complete answer with this body."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()

    return behave


def raw_answer(data: bytes) -> Behaviour:
    """These bytes, then the end of the connection."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    return behave


def endless_answer(head: bytes, piece: bytes) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for _ in range(ENDLESS_BYTES // len(piece)):
            writer.write(piece)
            await writer.drain()
        writer.close()

    return behave


def dripping_answer(head: bytes, piece: bytes, seconds: float) -> Behaviour:
    """Sends a piece before any timeout between two reads could end."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        async for _ in _ticks(seconds):
            writer.write(piece)
            await writer.drain()

    return behave


async def _ticks(seconds: float) -> AsyncIterator[None]:
    while True:
        yield
        await asyncio.sleep(seconds)


def gzip_bomb(inflated_bytes: int) -> bytes:
    """A gzip stream of zeros; a megabyte of them is about a kilobyte."""
    piece = bytes(1 << 20)
    stream = zlib.compressobj(wbits=31)
    return b"".join(stream.compress(piece) for _ in range(inflated_bytes >> 20)) + stream.flush()


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
