"""The server on real sockets, with limits that are small enough to be reached."""

import asyncio
import gc
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from steward.serving.bounded_server import BoundedServer
from steward.serving.connections import Connection
from steward.serving.limits import ServerLimits

GUARD_SECONDS = 30.0
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def hello(request: web.BaseRequest, connection: Connection) -> web.StreamResponse:
    connection.process()
    return web.Response(text="hello")


@asynccontextmanager
async def serving(
    handler: Callable[[web.BaseRequest, Connection], Awaitable[web.StreamResponse]] = hello,
    limits: ServerLimits | None = None,
) -> AsyncIterator[BoundedServer]:
    server = BoundedServer(handler, limits or ServerLimits())
    await server.listen("127.0.0.1", 0)
    yield server
    await server.stop(GUARD_SECONDS)


async def connect(server: BoundedServer, address: str = "127.0.0.1") -> Stream:
    return await asyncio.open_connection("127.0.0.1", server.port, local_addr=(address, 0))


async def answer(stream: Stream) -> bytes:
    """All that the server sends until it closes the connection."""
    async with asyncio.timeout(GUARD_SECONDS):
        try:
            return await stream[0].read(-1)
        except ConnectionError:
            return b""
        finally:
            stream[1].close()


async def request_page(stream: Stream, request: bytes = GET) -> bytes:
    """The first line of the answer."""
    stream[1].write(request)
    async with asyncio.timeout(GUARD_SECONDS):
        return (await stream[0].readuntil(b"hello")).partition(b"\r\n")[0]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(GUARD_SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHos"], ids=["nothing", "half a header"])
async def test_a_connection_without_a_request_is_closed(sent: bytes) -> None:
    async with serving(limits=ServerLimits(opening_seconds=0.1)) as server:
        stream = await connect(server)
        stream[1].write(sent)
        assert await answer(stream) == b""
        await until(lambda: server.connections == 0)


async def test_a_connection_that_is_idle_too_long_is_closed() -> None:
    async with serving(limits=ServerLimits(idle_seconds=0.1)) as server:
        stream = await connect(server)
        assert await request_page(stream) == b"HTTP/1.1 200 OK"
        assert await answer(stream) == b""


async def test_a_request_that_takes_too_long_is_ended() -> None:
    ended = asyncio.Event()

    async def hang(request: web.BaseRequest, connection: Connection) -> web.StreamResponse:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async with serving(hang, ServerLimits(request_seconds=0.1)) as server:
        stream = await connect(server)
        stream[1].write(GET)
        assert await answer(stream) == b""
        assert ended.is_set()


async def test_requests_follow_each_other_on_one_connection() -> None:
    async with serving() as server:
        stream = await connect(server)
        assert [await request_page(stream) for _ in range(3)] == [b"HTTP/1.1 200 OK"] * 3
        assert server.connections == 1
        stream[1].close()


async def test_a_new_client_is_served_while_another_holds_all_connections() -> None:
    async with serving(limits=ServerLimits(connections=8)) as server:
        held = [await connect(server, "127.0.0.66") for _ in range(20)]
        await until(lambda: server.connections == 8)
        stream = await connect(server)
        assert await request_page(stream) == b"HTTP/1.1 200 OK"
        again = [await connect(server, "127.0.0.66") for _ in range(20)]
        # Its idle connection has not been closed for them.
        assert await request_page(stream) == b"HTTP/1.1 200 OK"
        for _, writer in (*held, *again, stream):
            writer.close()


async def test_connections_that_arrive_at_once_are_closed_when_they_are_replaced() -> None:
    gc.disable()
    async with serving(limits=ServerLimits(connections=8)) as server:
        # Without an await: the server finds all of them in its backlog.
        clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
        for client in clients:
            client.setblocking(False)
        await until(lambda: sum(map(_is_closed_by_peer, clients)) == 32)
        for client in clients:
            client.close()
    gc.enable()


def _is_closed_by_peer(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


async def test_a_header_that_is_too_long_closes_the_connection() -> None:
    limits = ServerLimits(header_bytes=10_000)
    async with serving(limits=limits) as server:
        stream = await connect(server)
        stream[1].write(
            b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: %b\r\n" % (n, b"x" * 500) for n in range(30))
        )
        assert await answer(stream) == b""


async def test_bytes_after_a_complete_request_close_the_connection() -> None:
    entered, cancelled = asyncio.Event(), asyncio.Event()

    async def hang(request: web.BaseRequest, connection: Connection) -> web.StreamResponse:
        connection.process()
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    async with serving(hang) as server:
        stream = await connect(server)
        stream[1].write(GET)
        await entered.wait()
        stream[1].write(GET)
        assert await answer(stream) == b""
        await asyncio.wait_for(cancelled.wait(), GUARD_SECONDS)


async def test_a_client_that_does_not_finish_its_body_gets_the_response() -> None:
    async with serving() as server:
        stream = await connect(server)
        stream[1].write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\nx")
        found = await answer(stream)
        assert found.startswith(b"HTTP/1.1 200 OK")
        assert b"Connection: close" in found


async def test_malformed_requests_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as server:
        for sent in (b"\x00\x01\r\n\r\n", GET.replace(b"Host: a", b"Host\x00: a")):
            stream = await connect(server)
            stream[1].write(sent)
            assert (await answer(stream)).startswith(b"HTTP/1.0 400")
    assert caplog.records == []


async def test_an_unexpected_error_is_a_500_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(request: web.BaseRequest, connection: Connection) -> web.StreamResponse:
        raise RuntimeError("the password is hunter2")

    async with serving(fail) as server:
        stream = await connect(server)
        stream[1].write(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        found = await answer(stream)
    assert found.startswith(b"HTTP/1.1 500")
    assert b"hunter2" not in found
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_without_a_host_the_server_listens_for_both_versions_of_ip() -> None:
    server = BoundedServer(hello, ServerLimits())
    await server.listen(None, 0)
    for host in ("127.0.0.1", "::1"):
        stream = await asyncio.open_connection(host, server.port)
        assert await request_page(stream) == b"HTTP/1.1 200 OK"
        stream[1].close()
    await server.stop(GUARD_SECONDS)
