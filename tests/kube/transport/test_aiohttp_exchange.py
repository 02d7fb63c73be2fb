"""HTTP exchanges with a server that sends given bytes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from steward.kube import errors
from steward.kube.config.settings import AuthSettings, ConnectionSettings
from steward.kube.transport.aiohttp_exchange import ConnectionPool, ServerAddress
from steward.kube.transport.request import Effect, Request
from steward.kube.transport.retry import NO_RETRY
from steward.kube.transport.transport import Transport, TransportOptions

READ = Request(method="GET", path="/a")
WRITE = Request(method="PATCH", path="/a", body=b"{}", effect=Effect.WRITE)
ONCE = TransportOptions(retry=NO_RETRY)

Reply = Callable[["ReceivedRequest"], Awaitable[None]]


def response(body: bytes = b"{}", *headers: str) -> bytes:
    lines = ("HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", "")
    return "\r\n".join(lines).encode() + body


@dataclass
class ReceivedRequest:
    """One request, and its connection."""

    head: str
    body: bytes
    connection: int
    writer: asyncio.StreamWriter

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()


@dataclass
class RecordingServer:
    url: str = ""
    received: list[ReceivedRequest] = field(default_factory=list)
    connections: int = 0


Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handle: Handle) -> AsyncIterator[str]:
    """Yields the URL of a server that is closed after the block."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await handle(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.transport.abort()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def listening(reply: Reply) -> AsyncIterator[RecordingServer]:
    state = RecordingServer()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state.connections += 1
        number = state.connections
        while head := (await reader.readuntil(b"\r\n\r\n")).decode():
            length = next((line for line in head.splitlines() if line.startswith("Content-Length:")), ":0")
            body = await reader.readexactly(int(length.partition(":")[2]))
            state.received.append(ReceivedRequest(head, body, number, writer))
            await reply(state.received[-1])

    async with serving(handle) as state.url:
        yield state


@asynccontextmanager
async def transport_to(
    url: str, options: TransportOptions = ONCE, proxy: str = ""
) -> AsyncIterator[Transport]:
    transport = Transport(ConnectionSettings(server=url, proxy=proxy), options)
    try:
        yield transport
    finally:
        await transport.close()


async def test_one_connection_serves_one_question_after_the_other() -> None:
    async with (
        listening(lambda asked: asked.send(response())) as server,
        transport_to(server.url) as transport,
    ):
        for request in (READ, WRITE, READ):
            assert (await transport.request(request)).body == b"{}"
    assert [asked.connection for asked in server.received] == [1, 1, 1]


async def test_connection_close_leads_to_a_new_connection() -> None:
    last = response(b"{}", "Connection: close")
    async with listening(lambda asked: asked.send(last)) as server, transport_to(server.url) as transport:
        await transport.request(READ)
        await transport.request(READ)
    assert [asked.connection for asked in server.received] == [1, 2]


async def test_interim_responses_are_skipped() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    async with (
        listening(lambda asked: asked.send(early, response(b'{"a":1}'))) as server,
        transport_to(server.url) as transport,
    ):
        assert (await transport.request(READ)).body == b'{"a":1}'


async def test_an_answer_in_many_pieces_is_put_together() -> None:
    async def drip(asked: ReceivedRequest) -> None:
        await asked.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in (b'{"a"', b":", b"1}"):
            await asyncio.sleep(0)
            await asked.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        await asked.send(b"0\r\n\r\n")

    async with listening(drip) as server, transport_to(server.url) as transport:
        assert (await transport.request(READ)).body == b'{"a":1}'
        await transport.request(READ)
    assert server.connections == 1


async def test_a_response_that_is_not_http_is_a_lost_connection() -> None:
    async with (
        listening(lambda asked: asked.send(b"220 mail.example.com ESMTP\r\n\r\n")) as server,
        transport_to(server.url) as transport,
    ):
        with pytest.raises(errors.Timeout, match="lost its connection"):
            await transport.request(READ)


@pytest.mark.parametrize("request_", [READ, WRITE], ids=lambda request: request.method)
async def test_the_late_response_to_a_cancelled_request_is_dropped(request_: Request) -> None:
    release = asyncio.Event()

    async def slow_at_first(asked: ReceivedRequest) -> None:
        number = len(server.received)
        if number == 1:
            await release.wait()
        await asked.send(response(b'{"answer":%d}' % number))

    async with listening(slow_at_first) as server, transport_to(server.url) as transport:
        given_up = asyncio.create_task(transport.request(request_))
        while not server.received:
            await asyncio.sleep(0.001)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        release.set()
        assert (await transport.request(request_)).body == b'{"answer":2}'
    assert [asked.connection for asked in server.received] == [1, 2]


async def test_a_question_that_took_too_long_takes_its_connection_with_it() -> None:
    release = asyncio.Event()

    async def silent_once(asked: ReceivedRequest) -> None:
        if len(server.received) == 2:
            await release.wait()
        await asked.send(response(b'{"answer":%d}' % len(server.received)))

    hurried = Request(method="PATCH", path="/a", body=b"{}", effect=Effect.WRITE, timeout=0.2)
    async with listening(silent_once) as server, transport_to(server.url) as transport:
        await transport.request(WRITE)
        with pytest.raises(errors.Timeout, match="got no answer in time") as caught:
            await transport.request(hurried)
        release.set()
        assert (await transport.request(WRITE)).body == b'{"answer":3}'
    assert caught.value.ambiguous
    assert server.received[2].connection == 2


async def test_a_response_that_stops_in_the_middle_times_out() -> None:
    release = asyncio.Event()

    async def half(asked: ReceivedRequest) -> None:
        await asked.send(response(b"x" * 100)[:-50])
        await release.wait()

    hurried = Request(method="PATCH", path="/a", body=b"{}", effect=Effect.WRITE, timeout=0.2)
    async with listening(half) as server, transport_to(server.url) as transport:
        with pytest.raises(errors.Timeout, match="got no answer in time"):
            await transport.request(hurried)
        release.set()


async def test_an_error_response_before_the_body_was_sent_is_read() -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(refusal)
        await writer.drain()
        while await reader.read(1 << 16):
            pass

    large = Request(method="PATCH", path="/a", body=b"x" * (8 << 20), effect=Effect.WRITE)
    async with serving(refuse) as url, transport_to(url) as transport:
        with pytest.raises(errors.RequestTooLarge):
            await transport.request(large)


async def test_a_plain_http_proxy_gets_the_absolute_url_and_credentials() -> None:
    async with listening(lambda asked: asked.send(response())) as proxy:
        through = proxy.url.replace("http://", "http://me:secret@")
        async with transport_to("http://server.test:8080/base", proxy=through) as transport:
            await transport.request(READ)
            await transport.request(READ)
    assert proxy.connections == 1
    for asked in proxy.received:
        lines = asked.head.split("\r\n")
        assert lines[0] == "GET http://server.test:8080/base/a HTTP/1.1"
        assert "Host: server.test:8080" in lines
        assert "Proxy-Authorization: Basic bWU6c2VjcmV0" in lines


async def test_a_stream_has_no_timeout_after_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, limits = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    later = loop.call_later

    def recorded(delay: float, *call: Any) -> asyncio.TimerHandle:
        limits.append(later(delay, *call))
        return limits[-1]

    begun = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n"
    async with listening(lambda asked: asked.send(begun)) as server, transport_to(server.url) as transport:
        monkeypatch.setattr(loop, "call_later", recorded)
        async with transport.stream(READ) as lines:
            assert await anext(lines) == b"one"
            assert [limit.cancelled() for limit in limits] == [True] * len(limits)
    assert limits


async def test_a_write_without_a_body_sends_content_length_0() -> None:
    async with (
        listening(lambda asked: asked.send(response())) as server,
        transport_to(server.url) as transport,
    ):
        await transport.request(Request(method="DELETE", path="/a", effect=Effect.WRITE))
        await transport.request(READ)
    assert "Content-Length: 0\r\n" in server.received[0].head
    assert "Content-Length" not in server.received[1].head


@pytest.fixture
async def wire() -> AsyncIterator[ConnectionPool]:
    wire = ConnectionPool(ServerAddress(url="http://server.test", user_agent="steward/1"))
    yield wire
    await wire.close()


async def test_headers_of_the_caller_replace_the_default_ones(wire: ConnectionPool) -> None:
    spelt = wire.encode_request(
        "GET", "/a", (("accept", "text/plain"), ("X", "1"), ("X", "2")), None
    ).decode()
    assert "application/json" not in spelt
    assert spelt.split("\r\n")[2:7] == [
        "User-Agent: steward/1",
        "accept: text/plain",
        "X: 1",
        "X: 2",
        "Accept-Encoding: gzip",
    ]


@pytest.mark.parametrize(
    ("token", "sent"),
    [("", "Basic bWU6c0BjcmV0"), ("t0ken", "Bearer t0ken")],
    ids=["alone", "beside a token"],
)
async def test_a_password_in_the_url_is_used_without_other_credentials(token: str, sent: str) -> None:
    async with listening(lambda asked: asked.send(response())) as server:
        url = server.url.replace("http://", "http://me:s%40cret@")
        transport = Transport(ConnectionSettings(server=url, auth=AuthSettings(token=token)), ONCE)
        await transport.request(READ)
        await transport.close()
    lines = server.received[0].head.split("\r\n")
    assert [line for line in lines if line.startswith("Authorization")] == [f"Authorization: {sent}"]
    assert f"Host: {server.url.removeprefix('http://')}" in lines


@pytest.mark.parametrize("value", ["a\r\nX: b", "a\nb", "a\0b"], ids=repr)
async def test_no_header_can_be_smuggled_into_a_question(wire: ConnectionPool, value: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        wire.encode_request("GET", "/a", (("Impersonate-User", value),), None)
