"""Sends requests to one API server and retries them where that is harmless.

Every attempt uses the current credentials, the current TLS context and a token of the rate limiter. `before_write` is
called when the connection is open and nothing has been written to it yet: an earlier check would be stale after the
wait for a connection. The same place knows whether a failed attempt can have had an effect.
"""

import asyncio
import os
import random
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import lru_cache
from urllib.parse import urlencode

from msgspec import Struct

from steward.kube.auth.credentials import RequestCredentials, credentials_for
from steward.kube.auth.tls import TlsContexts
from steward.kube.clock import Clock, Random, SystemClock
from steward.kube.config.proxy import choose_proxy
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import ApiError, KubeError, Unauthorized
from steward.kube.transport.aiohttp_errors import FAILURES, stream_error, to_transport_error
from steward.kube.transport.aiohttp_exchange import (
    CONNECT_SECONDS,
    ConnectionPool,
    HttpExchange,
    ServerAddress,
    Timeouts,
)
from steward.kube.transport.line_splitter import LineSplitter
from steward.kube.transport.rate_limiter import RateLimiter
from steward.kube.transport.request import BeforeWrite, Effect, Request, Response, allow_write
from steward.kube.transport.retry import RetryPolicy, may_retry, retry_delay
from steward.kube.transport.status_errors import RequestLine, api_error

USER_AGENT = "steward"
READ_TIMEOUT_SECONDS = 35.0

_WRITE_METHODS = frozenset(("PATCH", "POST", "PUT"))
_DEFAULT_TIMEOUTS = Timeouts(total=READ_TIMEOUT_SECONDS)

OnRequest = Callable[[str, str, str, float], None]


def _ignore(method: str, host: str, code: str, seconds: float) -> None: ...


def _no_headers() -> Mapping[str, str]:
    return {}


class Hooks(Struct, frozen=True, kw_only=True):
    before_write: BeforeWrite = allow_write
    on_request: OnRequest = _ignore
    """Called after each response with method, host, code (or "<error>") and seconds."""
    headers_for: Callable[[], Mapping[str, str]] = _no_headers
    """More headers for each request, such as a traceparent."""
    on_date: Callable[[str], None] = lambda date: None
    """Called with the Date header of each response."""


class TransportOptions(Struct, frozen=True, kw_only=True):
    user_agent: str = USER_AGENT
    qps: float = 0.0
    """Requests per second; 0 means no limit."""
    burst: int = 0
    in_flight: int = 100
    """Concurrent requests; streams do not count."""
    retry: RetryPolicy = RetryPolicy()
    hooks: Hooks = Hooks()
    clock: Clock = SystemClock()
    random: Random = random.random
    environ: Mapping[str, str] = os.environ


class Transport:
    def __init__(self, settings: ConnectionSettings, options: TransportOptions | None = None) -> None:
        self._options = options or TransportOptions()
        self._clock = self._options.clock
        self._hooks = self._options.hooks
        server = ServerAddress(
            url=settings.server.rstrip("/"),
            user_agent=self._options.user_agent,
            proxy=choose_proxy(settings.server.rstrip("/"), settings.proxy, self._options.environ),
            tls_name=settings.tls.server_name,
        )
        self._host = server.host
        self._is_secure = server.is_secure
        self._pool = ConnectionPool(server)
        self._credentials = credentials_for(settings.auth, self._clock)
        self._contexts = TlsContexts(settings.tls, self._clock)
        self._limiter = RateLimiter(self._options.qps, self._options.burst, self._clock)
        self._in_flight = asyncio.Semaphore(self._options.in_flight)

    async def close(self) -> None:
        await self._pool.close()

    async def request(self, request: Request) -> Response:
        """Returns a response of 2xx. Anything else is raised, after the retries that are harmless."""
        deadline = self._clock.monotonic() + request.timeout
        credentials = await self._credentials.current()
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._limited_attempt(request, credentials, deadline)
            except Unauthorized as failure:
                credentials = await self._renew_credentials(credentials, failure, attempt)
            except KubeError as failure:
                await self._wait_before_retry(failure, request, attempt, deadline)
                credentials = await self._credentials.current()

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines of the response as they arrive. Never retried: the caller knows where to resume, and how long
        the stream may be silent."""
        await self._limiter.wait()
        credentials = await self._credentials.current()
        # The head of a stream has a timeout, its body has none.
        exchange = await self._send(request, credentials, _timeouts(request, request.timeout))
        try:
            if exchange.status >= 300:
                raise self._api_error(request, credentials, await self._read_response(request, exchange))
            exchange.remove_timeouts()
            async with aclosing(_lines(exchange, request, self._host)) as lines:
                yield lines
        finally:
            exchange.close()

    async def _limited_attempt(
        self, request: Request, credentials: RequestCredentials, deadline: float
    ) -> Response:
        if request.effect is Effect.ELECTION:
            response = await self._attempt(request, credentials, deadline)
        else:
            await self._limiter.wait()
            async with self._in_flight:
                response = await self._attempt(request, credentials, deadline)
        if response.status >= 300:
            raise self._api_error(request, credentials, response)
        return response

    async def _attempt(self, request: Request, credentials: RequestCredentials, deadline: float) -> Response:
        timeouts = _timeouts(request, max(deadline - self._clock.monotonic(), 0.001))
        exchange = await self._send(request, credentials, timeouts)
        try:
            return await self._read_response(request, exchange)
        finally:
            exchange.close()

    async def _send(
        self, request: Request, credentials: RequestCredentials, timeouts: Timeouts
    ) -> HttpExchange:
        """One attempt, up to the head of the response."""
        started = self._clock.monotonic()
        try:
            exchange = await self._pool.connect(self._context(credentials), timeouts)
        except FAILURES as error:
            self._report(request, "<error>", started)
            raise to_transport_error(error, request, self._host, sent=False) from error
        try:
            remaining = timeouts.reduced_by(self._clock.monotonic() - started)
            await self._exchange_head(exchange, request, credentials, remaining)
        except FAILURES as error:
            exchange.close()
            self._report(request, "<error>", started)
            raise to_transport_error(error, request, self._host, sent=True) from error
        except BaseException:
            exchange.close()
            raise
        self._report(request, str(exchange.status), started)
        self._hooks.on_date(exchange.headers.get("Date", ""))
        return exchange

    async def _exchange_head(
        self, exchange: HttpExchange, request: Request, credentials: RequestCredentials, timeouts: Timeouts
    ) -> None:
        encoded = self._encode(request, credentials)
        if request.effect is Effect.WRITE:
            self._hooks.before_write(request)
        exchange.send(encoded, timeouts)
        await exchange.read_head()

    async def _read_response(self, request: Request, exchange: HttpExchange) -> Response:
        try:
            return Response(exchange.status, exchange.headers, await exchange.read_body())
        except FAILURES as error:
            raise to_transport_error(error, request, self._host, sent=True) from error

    def _context(self, credentials: RequestCredentials) -> ssl.SSLContext | None:
        return self._contexts.current(credentials.certificate) if self._is_secure else None

    def _encode(self, request: Request, credentials: RequestCredentials) -> bytes:
        query = f"?{_encoded(tuple(request.query.items()))}" if request.query else ""
        headers = request.headers if type(request.headers) is tuple else tuple(dict(request.headers).items())
        if credentials.authorization:
            headers = (*headers, ("Authorization", credentials.authorization))
        if request.body is not None:
            headers = (*headers, ("Content-Type", request.content_type))
        extra = self._hooks.headers_for()
        return self._pool.encode_request(
            request.method,
            f"{request.path}{query}",
            (*extra.items(), *headers) if extra else headers,
            request.body,
        )

    def _report(self, request: Request, code: str, started: float) -> None:
        self._hooks.on_request(request.method, self._host, code, self._clock.monotonic() - started)

    def _api_error(self, request: Request, credentials: RequestCredentials, response: Response) -> ApiError:
        if response.status == 401:
            self._credentials.rejected(credentials)
        return api_error(
            response.status, response.headers, response.body, RequestLine(request.method, request.path)
        )

    async def _renew_credentials(
        self, rejected: RequestCredentials, failure: Unauthorized, attempt: int
    ) -> RequestCredentials:
        """Credentials other than the rejected ones, once per call. A 401 had no effect, so any call may be retried."""
        if attempt > 1:
            raise failure
        credentials = await self._credentials.current()
        if credentials == rejected:
            raise failure
        return credentials

    async def _wait_before_retry(
        self, failure: KubeError, request: Request, attempt: int, deadline: float
    ) -> None:
        """Waits before the next attempt, or raises the failure when there must be no other attempt."""
        policy = request.retry or self._options.retry
        if attempt >= policy.attempts or not may_retry(failure, request.is_idempotent):
            raise failure
        delay = retry_delay(failure, attempt, policy, self._options.random())
        if self._clock.monotonic() + delay >= deadline:
            raise failure
        await self._clock.sleep(delay)


@lru_cache(maxsize=512)
def _encoded(query: tuple[tuple[str, str], ...]) -> str:
    # The writes of a controller have the same few parameters.
    return urlencode(query)


def _timeouts(request: Request, remaining: float) -> Timeouts:
    """For one attempt with `remaining` seconds in total, at most `READ_TIMEOUT_SECONDS` of them without data.

    Each timeout is a timer. The response to a write comes in one piece, so it needs no second timer between reads.
    """
    if request.method in _WRITE_METHODS:
        return (
            _DEFAULT_TIMEOUTS
            if remaining >= READ_TIMEOUT_SECONDS
            else Timeouts(remaining, connect=min(remaining, CONNECT_SECONDS))
        )
    return Timeouts(remaining, READ_TIMEOUT_SECONDS, connect=min(remaining, CONNECT_SECONDS))


async def _lines(exchange: HttpExchange, request: Request, host: str) -> AsyncGenerator[bytes, None]:
    splitter = LineSplitter()
    try:
        while chunk := await exchange.payload.readany():
            for line in splitter.feed(chunk):
                yield line
    except FAILURES as error:
        raise stream_error(error, request, host) from error
