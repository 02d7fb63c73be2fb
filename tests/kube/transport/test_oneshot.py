"""The transport of short-lived commands."""

import asyncio
import gzip
import threading

import pytest
from aiohttp import web
from msgspec.structs import replace

from steward.kube import errors
from steward.kube.client.client import Client, client_with_transport
from steward.kube.clock import SystemClock
from steward.kube.config.settings import ConnectionSettings, Impersonation, TlsSettings
from steward.kube.objects.kinds import NAMESPACE, Key
from steward.kube.transport import oneshot
from steward.kube.transport.oneshot import OneShotTransport
from steward.kube.transport.oneshot_http import OneShotConnection
from steward.kube.transport.request import Effect, Request
from steward.kube.transport.retry import RetryPolicy
from tests.kube.support.scripted_server import Server, in_turn, ok, serving, status

HASTY = RetryPolicy(first_delay=0.001)
READ = Request(method="GET", path="/a", retry=HASTY)
CREATE = Request(method="POST", path="/a", body=b"{}", effect=Effect.WRITE, retry=HASTY)


async def asked(server: Server, request: Request) -> bytes:
    transport = OneShotTransport(server.settings)
    try:
        return (await transport.request(request)).body
    finally:
        await transport.close()


async def test_a_request_carries_credentials_content_type_and_query() -> None:
    async with serving(in_turn(ok())) as server:
        query = {"labelSelector": "a in (b, c)"}
        await asked(server, Request(method="POST", path="/a", body=b"{}", query=query))
    (seen,) = server.seen
    assert seen.raw_path == "/a?labelSelector=a+in+%28b%2C+c%29"
    assert seen.headers["Authorization"] == "Bearer t0ken"
    assert seen.headers["Content-Type"] == "application/json"
    assert await seen.read() == b"{}"


async def test_headers_of_one_name_are_all_sent_and_stand_instead_of_the_usual_ones() -> None:
    headers = (("Impersonate-Group", "a"), ("Impersonate-Group", "b"), ("Accept", "text/plain"))
    async with serving(in_turn(ok())) as server:
        await asked(server, Request(method="GET", path="/a", headers=headers))
    (seen,) = server.seen
    assert seen.headers.getall("Impersonate-Group") == ["a", "b"]
    assert seen.headers.getall("Accept") == ["text/plain"]


async def test_a_compressed_answer_is_unpacked() -> None:
    packed = web.Response(body=gzip.compress(b"[1]"), headers={"Content-Encoding": "gzip"})
    async with serving(in_turn(packed)) as server:
        assert await asked(server, READ) == b"[1]"


async def test_many_at_once_share_few_connections() -> None:
    async with serving(in_turn(ok())) as server:
        transport = OneShotTransport(server.settings)
        await asyncio.gather(*(transport.request(READ) for _ in range(40)))
        await transport.close()
    ports = {request.transport.get_extra_info("peername")[1] for request in server.seen if request.transport}
    assert len(server.seen) == 40
    assert len(ports) <= 8


async def test_a_stream_is_read_line_by_line() -> None:
    async with serving(in_turn(web.Response(body=b"one\ntwo\n"))) as server:
        transport = OneShotTransport(server.settings)
        async with transport.stream(READ) as lines:
            assert [line async for line in lines] == [b"one", b"two"]
        await transport.close()


@pytest.mark.parametrize(
    ("answer", "error"),
    [(status(403), errors.Forbidden), (status(404), errors.NotFound), (status(422), errors.Invalid)],
)
async def test_an_error_response_is_raised(answer: web.Response, error: type[Exception]) -> None:
    async with serving(in_turn(answer)) as server:
        with pytest.raises(error):
            await asked(server, READ)
    assert len(server.seen) == 1


@pytest.mark.parametrize("first", [status(503), status(429), None], ids=["503", "429", "cut"])
async def test_a_read_is_repeated_until_it_is_answered(first: web.Response | None) -> None:
    async with serving(in_turn(first, ok(found=True))) as server:
        assert b"found" in await asked(server, READ)
    assert len(server.seen) == 2


async def test_an_ambiguous_create_is_not_retried() -> None:
    async with serving(in_turn(None, ok())) as server:
        with pytest.raises(errors.Timeout) as raised:
            await asked(server, CREATE)
    assert raised.value.ambiguous
    assert len(server.seen) == 1


async def test_unchanged_credentials_are_not_sent_again_after_a_401() -> None:
    async with serving(in_turn(status(401))) as server:
        with pytest.raises(errors.Unauthorized):
            await asked(server, READ)
    assert len(server.seen) == 1


async def test_the_error_names_an_unreachable_server() -> None:
    once = Request(method="GET", path="/a", retry=RetryPolicy(attempts=1))
    async with serving(in_turn(ok())) as server:
        pass
    with pytest.raises(errors.Unreachable, match=r"cannot reach 127\.0\.0\.1"):
        await asked(server, once)


async def test_a_server_that_accepts_no_connection_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a second attempt: the user of a command gets the error within seconds."""
    gone, attempts = threading.Event(), []

    def open_socket(connection: OneShotConnection, seconds: float) -> None:
        attempts.append(seconds)
        gone.wait()

    monkeypatch.setattr(oneshot, "CONNECT_SECONDS", 0.05)
    monkeypatch.setattr(OneShotConnection, "open_socket", open_socket)
    async with serving(in_turn(ok())) as server:
        with pytest.raises(errors.Unreachable, match="no server answers at this address"):
            await asked(server, READ)
    gone.set()
    assert len(attempts) == 1


async def test_the_error_response_to_a_stream_is_raised() -> None:
    async with serving(in_turn(status(403))) as server:
        transport = OneShotTransport(server.settings)
        with pytest.raises(errors.Forbidden):
            async with transport.stream(READ):
                pass
        await transport.close()


async def test_a_stream_can_be_closed_while_it_is_silent() -> None:
    left = asyncio.Event()

    async def first_line_and_silence(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"one\n")
        await left.wait()
        return answer

    async with serving(first_line_and_silence) as server:
        transport = OneShotTransport(server.settings)
        async with transport.stream(READ) as lines:
            assert await anext(lines) == b"one"
            reading = asyncio.ensure_future(anext(lines))
            await asyncio.sleep(0)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
        left.set()
        await transport.close()


async def test_before_write_is_called_before_a_write_is_sent() -> None:
    def refuse(request: Request) -> None:
        raise errors.LeaseLost(request.path)

    async with serving(in_turn(ok())) as server:
        transport = OneShotTransport(server.settings, refuse)
        with pytest.raises(errors.LeaseLost):
            await transport.request(CREATE)
        await transport.request(READ)
        await transport.close()
    assert [seen.method for seen in server.seen] == ["GET"]


@pytest.fixture
def brief(settings: ConnectionSettings) -> Client:
    return client_with_transport(OneShotTransport(settings), settings, SystemClock())


async def test_a_real_server_answers_over_tls(brief: Client) -> None:
    found = await brief.get(NAMESPACE, Key("", "default"))
    await brief.close()
    assert found["metadata"]["name"] == "default"


async def test_a_server_of_another_name_is_not_trusted(settings: ConnectionSettings) -> None:
    tls: TlsSettings = replace(settings.tls, server_name="elsewhere.example")
    transport = OneShotTransport(replace(settings, tls=tls))
    with pytest.raises(errors.TlsError, match="tls-server-name"):
        await transport.request(READ)
    await transport.close()


async def test_another_user_can_be_impersonated(settings: ConnectionSettings) -> None:
    as_anna = replace(settings, impersonation=Impersonation(user="anna"))
    client = client_with_transport(OneShotTransport(as_anna), as_anna, SystemClock())
    with pytest.raises(errors.Forbidden, match="anna"):
        await client.get(NAMESPACE, Key("", "default"))
    await client.close()
