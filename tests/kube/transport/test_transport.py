import asyncio
import contextlib
import gzip
from pathlib import Path

import pytest
from aiohttp import web

from steward.kube import errors
from steward.kube.config.settings import AuthSettings, ConnectionSettings, ExecSettings
from steward.kube.transport.request import Effect, Request
from steward.kube.transport.retry import RetryPolicy
from steward.kube.transport.transport import Hooks, Transport, TransportOptions
from tests.kube.support.instant_clock import InstantClock
from tests.kube.support.scripted_server import in_turn, ok, serving, status, transport_to

READ = Request(method="GET", path="/a")
CREATE = Request(method="POST", path="/a", body=b"{}", effect=Effect.WRITE)
APPLY = Request(method="PATCH", path="/a", body=b"{}", effect=Effect.WRITE, idempotent=True)
DELETE = Request(method="DELETE", path="/a", body=b"{}", effect=Effect.WRITE)
ELECTION = Request(method="PUT", path="/a", body=b"{}", effect=Effect.ELECTION)

CUT = None


def instant(**more: object) -> TransportOptions:
    return TransportOptions(clock=InstantClock(), random=lambda: 0.5, **more)  # type: ignore[arg-type]


async def test_a_request_has_credentials_content_type_and_user_agent() -> None:
    async with (
        serving(in_turn(ok())) as server,
        transport_to(server, instant(user_agent="mine/1")) as transport,
    ):
        await transport.request(CREATE)
    headers = server.seen[0].headers
    assert headers["Authorization"] == "Bearer t0ken"
    assert headers["User-Agent"] == "mine/1"
    assert headers["Accept"] == "application/json"
    assert headers["Content-Type"] == "application/json"


async def test_a_path_below_the_server_and_a_query_are_sent_as_given() -> None:
    async with serving(in_turn(ok())) as server:
        settings = ConnectionSettings(server=f"{server.url}/k8s/c-1/")
        transport = Transport(settings, instant())
        query = {"labelSelector": "a in (b, c)", "limit": "5"}
        await transport.request(Request(method="GET", path="/api/v1/pods/a%3Ab", query=query))
        await transport.close()
    assert server.seen[0].raw_path == "/k8s/c-1/api/v1/pods/a%3Ab?labelSelector=a+in+%28b%2C+c%29&limit=5"


async def test_a_body_of_more_than_a_megabyte_arrives_whole() -> None:
    large = b"x" * (3 << 19)
    sizes = []

    async def measure(request: web.BaseRequest) -> web.StreamResponse:
        sizes.append(len(await request.read()))
        return web.json_response({})

    async with serving(measure) as server, transport_to(server, instant()) as transport:
        await transport.request(Request(method="PATCH", path="/a", body=large, effect=Effect.WRITE))
    assert sizes == [len(large)]


async def test_more_headers_come_from_the_hook_for_each_request() -> None:
    numbers = iter("12")
    hooks = Hooks(headers_for=lambda: {"traceparent": next(numbers)})
    async with serving(in_turn(ok())) as server, transport_to(server, instant(hooks=hooks)) as transport:
        await transport.request(READ)
        await transport.request(READ)
    assert [request.headers["traceparent"] for request in server.seen] == ["1", "2"]


async def test_a_compressed_answer_is_read() -> None:
    packed = web.Response(body=gzip.compress(b'{"a":1}'), headers={"Content-Encoding": "gzip"})
    async with serving(in_turn(packed)) as server, transport_to(server) as transport:
        answer = await transport.request(READ)
    assert answer.body == b'{"a":1}'
    assert server.seen[0].headers["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize("request_", [READ, APPLY, CREATE, DELETE], ids=lambda request: request.method)
async def test_a_429_is_retried_after_retry_after_for_any_request(request_: Request) -> None:
    options = instant()
    answers = in_turn(status(429, "TooManyRequests", {"Retry-After": "2"}), ok())
    async with serving(answers) as server, transport_to(server, options) as transport:
        await transport.request(request_)
    assert len(server.seen) == 2
    assert options.clock.slept == [pytest.approx(2.2)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("code", [500, 502, 503, 504])
@pytest.mark.parametrize(("request_", "calls"), [(READ, 3), (APPLY, 3), (CREATE, 1)])
async def test_a_5xx_is_retried_only_if_the_request_is_idempotent(
    code: int, request_: Request, calls: int
) -> None:
    async with (
        serving(in_turn(status(code), status(code), ok())) as server,
        transport_to(server, instant()) as transport,
    ):
        with contextlib.suppress(errors.ServerError):
            await transport.request(request_)
    assert len(server.seen) == calls


async def test_attempts_end_and_the_last_failure_is_raised() -> None:
    options = instant(retry=RetryPolicy(attempts=3))
    async with (
        serving(in_turn(status(503, message="busy"))) as server,
        transport_to(server, options) as transport,
    ):
        with pytest.raises(errors.Unavailable, match="busy"):
            await transport.request(READ)
    assert len(server.seen) == 3


async def test_a_wait_past_the_deadline_is_not_begun() -> None:
    options = instant()
    answers = in_turn(status(429, "TooManyRequests", {"Retry-After": "120"}))
    async with serving(answers) as server, transport_to(server, options) as transport:
        with pytest.raises(errors.TooManyRequests) as caught:
            await transport.request(READ)
    assert caught.value.retry_after == 120
    assert options.clock.slept == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("request_", [READ, APPLY], ids=lambda request: request.method)
async def test_a_cut_connection_is_repeated_if_twice_is_once(request_: Request) -> None:
    async with serving(in_turn(CUT, CUT, ok())) as server, transport_to(server, instant()) as transport:
        await transport.request(request_)
    assert len(server.seen) == 3


@pytest.mark.parametrize("request_", [CREATE, DELETE], ids=lambda request: request.method)
async def test_a_write_whose_response_was_lost_is_ambiguous_and_never_retried(request_: Request) -> None:
    async with serving(in_turn(ok(), CUT, ok())) as server, transport_to(server, instant()) as transport:
        await transport.request(READ)
        with pytest.raises(errors.Timeout, match="the server may have carried it out") as caught:
            await transport.request(request_)
    assert caught.value.ambiguous
    assert len(server.seen) == 2


async def test_any_request_to_an_unreachable_server_is_retried() -> None:
    async with serving(in_turn(ok())) as server:
        settings = server.settings
    codes: list[str] = []
    hooks = Hooks(on_request=lambda method, host, code, seconds: codes.append(code))
    transport = Transport(settings, instant(hooks=hooks, retry=RetryPolicy(attempts=3)))
    with pytest.raises(errors.Unreachable, match=r"cannot reach 127.0.0.1:\d+: "):
        await transport.request(CREATE)
    await transport.close()
    assert codes == ["<error>"] * 3


@pytest.mark.parametrize(("request_", "ambiguous"), [(READ, False), (CREATE, True)])
async def test_a_server_that_does_not_answer_is_a_timeout(request_: Request, ambiguous: bool) -> None:
    silent = asyncio.Event()

    async def never(request: web.BaseRequest) -> web.StreamResponse:
        await silent.wait()
        return web.Response()

    options = TransportOptions(retry=RetryPolicy(attempts=1))
    async with serving(never) as server, transport_to(server, options) as transport:
        hurried = Request(
            method=request_.method, path="/a", body=request_.body, effect=request_.effect, timeout=1.0
        )
        with pytest.raises(errors.Timeout) as caught:
            await transport.request(hurried)
        silent.set()
    assert caught.value.ambiguous is ambiguous


async def test_every_response_is_reported_with_method_host_and_code() -> None:
    reports: list[tuple[str, str, str]] = []
    hooks = Hooks(on_request=lambda method, host, code, seconds: reports.append((method, host, code)))
    answers = in_turn(status(503), ok())
    async with serving(answers) as server, transport_to(server, instant(hooks=hooks)) as transport:
        await transport.request(READ)
    host = server.url.removeprefix("http://")
    assert reports == [("GET", host, "503"), ("GET", host, "200")]


async def test_before_write_is_called_for_each_attempt_of_a_write_only() -> None:
    asked: list[str] = []
    hooks = Hooks(before_write=lambda request: asked.append(request.method))
    answers = in_turn(ok(), ok(), status(503), ok())
    async with serving(answers) as server, transport_to(server, instant(hooks=hooks)) as transport:
        for request in (READ, ELECTION, APPLY):
            await transport.request(request)
    assert len(server.seen) == 4
    assert asked == ["PATCH", "PATCH"]


def refuse(request: Request) -> None:
    raise errors.LeaseLost("no longer the leader")


async def test_a_write_that_before_write_rejects_never_reaches_the_server() -> None:
    async with (
        serving(in_turn(ok())) as server,
        transport_to(server, instant(hooks=Hooks(before_write=refuse))) as transport,
    ):
        with pytest.raises(errors.LeaseLost):
            await transport.request(APPLY)
        await transport.request(READ)
    assert server.calls == ["GET /a"]


async def test_a_write_that_waited_for_its_turn_is_checked_after_the_wait() -> None:
    leading = True
    first_arrived, go_on = asyncio.Event(), asyncio.Event()

    def check(request: Request) -> None:
        if not leading:
            raise errors.LeaseLost("no longer the leader")

    async def slow(request: web.BaseRequest) -> web.StreamResponse:
        first_arrived.set()
        await go_on.wait()
        return ok()

    options = instant(hooks=Hooks(before_write=check), in_flight=1)
    async with serving(slow) as server, transport_to(server, options) as transport:
        first = asyncio.create_task(transport.request(CREATE))
        await first_arrived.wait()
        second = asyncio.create_task(transport.request(CREATE))
        leading = False
        go_on.set()
        await first
        with pytest.raises(errors.LeaseLost):
            await second
    assert len(server.seen) == 1


async def test_before_write_is_called_after_the_connection_is_open() -> None:
    events: list[str] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        events.append((await reader.readline()).split()[0].decode())
        writer.write(b"HTTP/1.1 403 no\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(proxy, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    hooks = Hooks(before_write=lambda request: events.append("check"))
    settings = ConnectionSettings(server="https://server.test", proxy=address)
    transport = Transport(settings, instant(hooks=hooks, retry=RetryPolicy(attempts=1)))
    with pytest.raises(
        errors.Unreachable, match=r"the proxy did not connect us to server\.test: it answered 403"
    ):
        await transport.request(CREATE)
    await transport.close()
    listener.close()
    await listener.wait_closed()
    assert events == ["CONNECT"]


async def test_after_a_401_the_token_file_is_read_again_and_the_call_retried(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.headers["Authorization"] == "Bearer new":
            return ok()
        token.write_text("new")
        return status(401, "Unauthorized")

    async with serving(answer) as server:
        settings = ConnectionSettings(server=server.url, auth=AuthSettings(token_file=str(token)))
        transport = Transport(settings, instant())
        await transport.request(CREATE)
        await transport.close()
    assert len(server.seen) == 2


async def test_a_rejected_static_token_is_raised_at_once() -> None:
    async with (
        serving(in_turn(status(401, "Unauthorized", message="bad token"))) as server,
        transport_to(server, instant()) as transport,
    ):
        with pytest.raises(errors.Unauthorized, match="bad token"):
            await transport.request(READ)
    assert len(server.seen) == 1


async def test_a_plugin_whose_tokens_are_all_rejected_runs_once_more(tmp_path: Path) -> None:
    script = tmp_path / "plugin"
    kind = (
        '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"\'$$\'"}}'
    )
    script.write_text(f"#!/bin/sh\necho '{kind}'\n")
    script.chmod(0o700)
    plugin = ExecSettings(command=str(script), interactive_mode="Never")
    async with serving(in_turn(status(401, "Unauthorized"))) as server:
        transport = Transport(
            ConnectionSettings(server=server.url, auth=AuthSettings(plugin=plugin)), instant()
        )
        with pytest.raises(errors.Unauthorized):
            await transport.request(READ)
        await transport.close()
    tokens = {request.headers["Authorization"] for request in server.seen}
    assert len(server.seen) == len(tokens) == 2


@pytest.mark.parametrize("request_", [READ, CREATE], ids=lambda request: request.method)
async def test_an_answer_that_breaks_off_is_a_lost_connection(request_: Request) -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"{")
        assert request.transport is not None
        request.transport.abort()
        return response

    options = instant(retry=RetryPolicy(attempts=2))
    async with serving(answer) as server, transport_to(server, options) as transport:
        with pytest.raises(errors.Timeout, match="lost its connection") as caught:
            await transport.request(request_)
    assert caught.value.ambiguous is (request_ is CREATE)
    assert len(server.seen) == (1 if request_ is CREATE else 2)


@pytest.mark.parametrize("code", [302, 307])
async def test_a_redirect_is_an_error_and_takes_no_token_elsewhere(code: int) -> None:
    away = web.Response(status=code, headers={"Location": "/login"})
    async with serving(in_turn(away)) as server, transport_to(server, instant()) as transport:
        with pytest.raises(errors.ApiError, match=f"GET /a was answered {code}"):
            await transport.request(READ)
    assert server.calls == ["GET /a"]


async def test_the_limiter_holds_requests_back() -> None:
    options = instant(qps=10, burst=2)
    async with serving(in_turn(ok())) as server, transport_to(server, options) as transport:
        for _ in range(4):
            await transport.request(READ)
    assert options.clock.slept == pytest.approx([0.1, 0.1])  # type: ignore[attr-defined]


async def test_election_requests_skip_the_limits() -> None:
    options = instant(qps=1, burst=1, in_flight=1)
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            arrived.set()
            await go_on.wait()
        return ok()

    async with serving(answer) as server, transport_to(server, options) as transport:
        slow = asyncio.create_task(transport.request(READ))
        await arrived.wait()
        for _ in range(3):
            await transport.request(ELECTION)
        go_on.set()
        await slow
    assert options.clock.slept == []  # type: ignore[attr-defined]


async def test_a_stream_gives_lines_of_any_length_as_they_come() -> None:
    big = b"x" * 3_000_000

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for part in (b"one\ntw", b"o\n", big, b"\nlast\n"):
            await response.write(part)
        return response

    async with serving(answer) as server, transport_to(server) as transport, transport.stream(READ) as lines:
        received = [line async for line in lines]
    assert received == [b"one", b"two", big, b"last"]


async def test_a_cut_stream_returns_its_complete_lines_and_then_fails() -> None:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"one\ntw")
        assert request.transport is not None
        request.transport.abort()
        return response

    async with serving(answer) as server, transport_to(server) as transport, transport.stream(READ) as lines:
        assert await anext(lines) == b"one"
        with pytest.raises(errors.Unreachable, match=r"the stream of /a from .* was cut"):
            await anext(lines)


async def test_the_error_response_to_a_stream_is_raised() -> None:
    async with serving(in_turn(status(410, "Expired"))) as server, transport_to(server) as transport:
        with pytest.raises(errors.Gone):
            async with transport.stream(READ):
                pytest.fail("a refused stream has no lines")


async def test_leaving_a_stream_ends_it_at_the_server() -> None:
    gone = asyncio.Event()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"one\n")
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        return response

    async with serving(answer) as server, transport_to(server) as transport:
        async with transport.stream(READ) as lines:
            assert await anext(lines) == b"one"
        await asyncio.wait_for(gone.wait(), 60)


async def test_an_exception_of_the_reader_passes_through_a_stream_unchanged() -> None:
    async with serving(in_turn(ok())) as server, transport_to(server) as transport:
        with pytest.raises(TimeoutError, match="mine"):
            async with transport.stream(READ):
                raise TimeoutError("mine")


async def test_streams_do_not_take_the_places_of_requests() -> None:
    held = asyncio.Event()

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"{}\n")
        if request.path == "/watch":
            await held.wait()
        return response

    watch = Request(method="GET", path="/watch")
    async with (
        serving(answer) as server,
        transport_to(server, instant(in_flight=1)) as transport,
        transport.stream(watch) as lines,
    ):
        await anext(lines)
        assert (await transport.request(READ)).status == 200
        held.set()
