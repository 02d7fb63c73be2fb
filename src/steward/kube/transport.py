"""Carries requests to one API server: with `failures`, the only module that knows the HTTP client.

Every attempt takes the credentials of this moment, the TLS context of this moment and a token of the limiter.
`before_write` is asked when the connection is there and nothing has been written to it yet: a check made
earlier would be stale after the wait for a connection. The same place knows whether a failed attempt can have
had an effect, and it stops the HTTP client from quietly repeating a request by itself.
"""

import asyncio
import io
import os
import random
from asyncio.sslproto import SSLProtocol
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from functools import lru_cache
from urllib.parse import urlencode, urlsplit

import aiohttp
from msgspec import Struct
from multidict import CIMultiDict
from yarl import URL

from steward.kube.clock import Clock, Random, SystemClock
from steward.kube.connection import ConnectionSettings
from steward.kube.credentials import Presented, credentials_for
from steward.kube.errors import ApiError, KubeError, Unauthorized
from steward.kube.failures import FAILURES, cut_stream, failure_of
from steward.kube.limits import Limiter
from steward.kube.lines import LineSplitter
from steward.kube.proxy import choose_proxy
from steward.kube.request import Effect, Request, Response
from steward.kube.retry import RetryPolicy, may_repeat, wait_before
from steward.kube.status import Asked, refusal
from steward.kube.tls import TlsContexts

USER_AGENT = "steward"
KEEP_ALIVE_SECONDS = 45.0
CONNECT_SECONDS = 15.0
SILENCE_SECONDS = 35.0
LONGEST_HEADER = 1 << 16
READ_BUFFER = 1 << 18
LARGE_BODY = 1 << 19

_IN_ONE_PIECE = frozenset(("PATCH", "POST", "PUT"))
_UNHURRIED = aiohttp.ClientTimeout(total=SILENCE_SECONDS, sock_connect=CONNECT_SECONDS)

# asyncio gives every TLS connection a buffer of 256 KiB for good, and a process with forty watches has forty. A TLS
# record has 16 KiB and its frame at most: more than one of them at once is no faster to take apart.
SSLProtocol.max_size = 18 << 10

BeforeWrite = Callable[[Request], None]
OnRequest = Callable[[str, str, str, float], None]


def _permit(request: Request) -> None: ...


def _ignore(method: str, host: str, code: str, seconds: float) -> None: ...


def _no_headers() -> Mapping[str, str]:
    return {}


class Hooks(Struct, frozen=True, kw_only=True):
    before_write: BeforeWrite = _permit
    """Called synchronously as the last step before the socket; raises to stop the write."""
    on_request: OnRequest = _ignore
    """Called after each answer with method, host, code (or "<error>") and seconds."""
    headers_for: Callable[[], Mapping[str, str]] = _no_headers
    """More headers for each request, such as a traceparent."""


class TransportOptions(Struct, frozen=True, kw_only=True):
    user_agent: str = USER_AGENT
    qps: float = 0.0
    """Requests a second; 0 is no limit."""
    burst: int = 0
    in_flight: int = 100
    """Requests at once; streams are not counted."""
    retry: RetryPolicy = RetryPolicy()
    hooks: Hooks = Hooks()
    clock: Clock = SystemClock()
    random: Random = random.random
    environ: Mapping[str, str] = os.environ


class _Attempt:
    """One request on its way to one socket."""

    def __init__(self, request: Request, before_write: BeforeWrite) -> None:
        self._request = request
        self._before_write = before_write
        self.sent = False

    def leave(self) -> None:
        if self.sent:
            raise aiohttp.ServerDisconnectedError
        if self._request.effect is Effect.WRITE:
            self._before_write(self._request)
        self.sent = True


_leaving: ContextVar[_Attempt] = ContextVar("leaving")


class _CheckedRequest(aiohttp.ClientRequest):
    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        try:
            _leaving.get().leave()
        except Exception:
            _hang_up(conn)
            raise
        return await super().send(conn)


class Transport:
    def __init__(self, settings: ConnectionSettings, options: TransportOptions | None = None) -> None:
        self._options = options or TransportOptions()
        self._clock = self._options.clock
        self._hooks = self._options.hooks
        self._server = settings.server.rstrip("/")
        self._host = urlsplit(self._server).netloc.rpartition("@")[2]
        self._secure = self._server.startswith("https:")
        self._server_name = settings.tls.server_name or None
        self._proxy = choose_proxy(self._server, settings.proxy, self._options.environ) or None
        self._credentials = credentials_for(settings.auth, self._clock)
        self._contexts = TlsContexts(settings.tls, self._clock)
        self._limiter = Limiter(self._options.qps, self._options.burst, self._clock)
        self._turn = asyncio.Semaphore(self._options.in_flight)
        self._session = _open_session(self._options.user_agent)

    async def close(self) -> None:
        await self._session.close()

    async def request(self, request: Request) -> Response:
        """The answer, always of 2xx; anything else is raised, after the attempts that are harmless."""
        deadline = self._clock.monotonic() + request.timeout
        presented = await self._credentials.present()
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._ask(request, presented, deadline)
            except Unauthorized as failure:
                presented = await self._renewed(presented, failure, attempt)
            except KubeError as failure:
                await self._pause(failure, request, attempt, deadline)
                presented = await self._credentials.present()

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        """The answer's lines as they come. Never repeated: the reader knows where to resume, and when silence
        has lasted too long."""
        await self._limiter.wait()
        presented = await self._credentials.present()
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=None)
        answer = await self._send(request, presented, timeout)
        async with answer:
            if answer.status >= 300:
                raise self._refusal(request, presented, await self._whole(request, answer))
            try:
                async with aclosing(_lines(answer, request, self._host)) as lines:
                    yield lines
            finally:
                _hang_up(answer.connection)

    async def _ask(self, request: Request, presented: Presented, deadline: float) -> Response:
        if request.effect is Effect.ELECTION:
            response = await self._attempt(request, presented, deadline)
        else:
            await self._limiter.wait()
            async with self._turn:
                response = await self._attempt(request, presented, deadline)
        if response.status >= 300:
            raise self._refusal(request, presented, response)
        return response

    async def _attempt(self, request: Request, presented: Presented, deadline: float) -> Response:
        limits = _limits(request, max(deadline - self._clock.monotonic(), 0.001))
        async with await self._send(request, presented, limits) as answer:
            return await self._whole(request, answer)

    async def _send(
        self, request: Request, presented: Presented, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """One attempt, up to the head of its answer."""
        attempt = _Attempt(request, self._hooks.before_write)
        _leaving.set(attempt)
        started = self._clock.monotonic()
        try:
            if timeout.total is None:
                answer = await self._start_in_time(request, presented, timeout)
            else:
                answer = await self._start(request, presented, timeout)
        except FAILURES as error:
            self._report(request, "<error>", started)
            raise failure_of(error, request, self._host, attempt.sent) from error
        self._report(request, str(answer.status), started)
        return answer

    async def _start_in_time(
        self, request: Request, presented: Presented, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        """A stream's head has a limit although its body has none."""
        async with asyncio.timeout(request.timeout):
            return await self._start(request, presented, timeout)

    def _start(
        self, request: Request, presented: Presented, timeout: aiohttp.ClientTimeout
    ) -> Awaitable[aiohttp.ClientResponse]:
        return self._session.request(
            request.method,
            self._url(request),
            data=_payload(request.body),
            headers=self._headers(request, presented),
            timeout=timeout,
            allow_redirects=False,
            proxy=self._proxy,
            ssl=self._contexts.current(presented.certificate) if self._secure else True,
            server_hostname=self._server_name if self._secure else None,
        )

    async def _whole(self, request: Request, answer: aiohttp.ClientResponse) -> Response:
        try:
            return Response(answer.status, answer.headers, await answer.read())
        except FAILURES as error:
            raise failure_of(error, request, self._host, sent=True) from error

    def _url(self, request: Request) -> URL:
        query = f"?{_encoded(tuple(request.query.items()))}" if request.query else ""
        return URL(f"{self._server}{request.path}{query}", encoded=True)

    def _headers(self, request: Request, presented: Presented) -> CIMultiDict[str]:
        headers = CIMultiDict(self._hooks.headers_for())
        headers.extend(request.headers)
        if presented.authorization:
            headers["Authorization"] = presented.authorization
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        return headers

    def _report(self, request: Request, code: str, started: float) -> None:
        self._hooks.on_request(request.method, self._host, code, self._clock.monotonic() - started)

    def _refusal(self, request: Request, presented: Presented, answer: Response) -> ApiError:
        if answer.status == 401:
            self._credentials.refused(presented)
        return refusal(answer.status, answer.headers, answer.body, Asked(request.method, request.path))

    async def _renewed(self, refused: Presented, failure: Unauthorized, attempt: int) -> Presented:
        """Other credentials than those refused, once a call; a 401 had no effect, so any call may be repeated."""
        if attempt > 1:
            raise failure
        presented = await self._credentials.present()
        if presented == refused:
            raise failure
        return presented

    async def _pause(self, failure: KubeError, request: Request, attempt: int, deadline: float) -> None:
        """Waits before the next attempt, or raises the failure when there must be none."""
        policy = request.retry or self._options.retry
        if attempt >= policy.attempts or not may_repeat(failure, request.is_harmless_twice):
            raise failure
        delay = wait_before(failure, attempt, policy, self._options.random())
        if self._clock.monotonic() + delay >= deadline:
            raise failure
        await self._clock.sleep(delay)


@lru_cache(maxsize=512)
def _encoded(query: tuple[tuple[str, str], ...]) -> str:
    # The writes of a controller all carry the same few parameters.
    return urlencode(query)


def _limits(request: Request, left: float) -> aiohttp.ClientTimeout:
    """For one attempt that may last as long as `left`, and may be silent for `SILENCE_SECONDS` of it.

    Each limit is a timer, and timers cost more than all else that we do for a write: an answer that comes in one
    piece needs no second one to tell silence from slowness.
    """
    if request.method in _IN_ONE_PIECE:
        if left >= SILENCE_SECONDS:
            return _UNHURRIED
        return aiohttp.ClientTimeout(total=left, sock_connect=CONNECT_SECONDS)
    return aiohttp.ClientTimeout(total=left, sock_connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS)


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    """The HTTP client warns of large bytes, which it writes in one go; from a file it writes them piece by piece."""
    return io.BytesIO(body) if body is not None and len(body) > LARGE_BODY else body


def _hang_up(connection: aiohttp.connector.Connection | None) -> None:
    # A farewell in TLS would wait for the server, which may go on talking, and outlive us.
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


async def _lines(answer: aiohttp.ClientResponse, request: Request, host: str) -> AsyncGenerator[bytes, None]:
    splitter = LineSplitter()
    try:
        async for chunk in answer.content.iter_any():
            for line in splitter.feed(chunk):
                yield line
    except FAILURES as error:
        raise cut_stream(error, request, host) from error


def _open_session(user_agent: str) -> aiohttp.ClientSession:
    # No limit here: streams hold their connection for long and must not starve requests, which have their own.
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS)
    return aiohttp.ClientSession(
        connector=connector,
        request_class=_CheckedRequest,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": user_agent, "Accept": "application/json", "Accept-Encoding": "gzip"},
        read_bufsize=READ_BUFFER,
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
    )
