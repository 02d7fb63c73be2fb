"""Clients that hold a server's memory and connections. Each has its own loopback address, as a pod has."""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

GUARD_SECONDS = 90.0
ATTACKER = "127.0.0.66"
CHUNK = b" " * (64 << 10)

LOST = (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, OSError)


def untrusting_tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Stream(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def abort(self) -> None:
        self.writer.transport.abort()

    async def answer(self) -> bytes:
        """All that the server sends until it closes the connection; the test fails if it never does."""
        async with asyncio.timeout(GUARD_SECONDS):
            try:
                return await self.reader.read(-1)
            except LOST:
                return b""
            finally:
                self.abort()

    async def first_line(self) -> bytes:
        """The first line of the next answer; empty if the server closes the connection. Skips what follows it."""
        async with asyncio.timeout(GUARD_SECONDS):
            with suppress(*LOST):
                line = await self.reader.readline()
                header = await self.reader.readuntil(b"\r\n\r\n")
                lengths = [
                    part for part in header.lower().split(b"\r\n") if part.startswith(b"content-length:")
                ]
                await self.reader.readexactly(int(lengths[0].partition(b":")[2]) if lengths else 0)
                return line
            return b""

    async def send(self, data: bytes) -> None:
        with suppress(*LOST):
            self.writer.write(data)
            await self.writer.drain()


async def open_tls(port: int, address: str = ATTACKER) -> Stream:
    return Stream(
        *await asyncio.open_connection(
            "127.0.0.1", port, local_addr=(address, 0), ssl=untrusting_tls(), ssl_shutdown_timeout=1
        )
    )


async def open_plain(port: int, address: str = ATTACKER) -> Stream:
    return Stream(*await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0)))


def post_header(path: str, *fields: str) -> bytes:
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: webhook", *fields, "", ""]).encode()


async def send_slow_body(stream: Stream, path: str, size: int, kept_back: int) -> bytes:
    """Announce a body, send all of it but the end, then wait for what the server does."""
    await stream.send(post_header(f"{path}?timeout=30s", f"Content-Length: {size}"))
    answer = asyncio.create_task(stream.answer())
    remaining = size - kept_back
    while remaining > 0 and not answer.done() and not stream.writer.is_closing():
        part = CHUNK[: min(remaining, len(CHUNK))]
        sending = asyncio.create_task(stream.send(part))
        await asyncio.wait({answer, sending}, return_when=asyncio.FIRST_COMPLETED)
        sending.cancel()
        remaining -= len(part)
    return await answer


def status(answer: bytes) -> bytes:
    """The status code of an answer; empty if the server closed the connection without one."""
    return answer.split(b" ", 2)[1] if answer else b""


async def until_at_most(count: int, connections: Callable[[], list[int]]) -> None:
    """Wait until the server has at most so many connections: the kernel also counts those not yet accepted."""
    async with asyncio.timeout(GUARD_SECONDS):
        while len(connections()) > count:
            await asyncio.sleep(0.1)
