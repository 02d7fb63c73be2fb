"""Carries requests to one API server, as often as it takes and is harmless.

Every attempt takes the credentials of this moment, the TLS context of this moment and a token of the limiter.
`before_write` is asked when the connection is there and nothing has been written to it yet: a check made
earlier would be stale after the wait for a connection. The same place knows whether a failed attempt can have
had an effect.
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

from steward.kube.auth.credentials import Presented, credentials_for
from steward.kube.auth.tls import TlsContexts
from steward.kube.clock import Clock, Random, SystemClock
from steward.kube.config.proxy import choose_proxy
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import ApiError, KubeError, Unauthorized
from steward.kube.transport.aiohttp_errors import FAILURES, cut_stream, failure_of
from steward.kube.transport.aiohttp_exchange import CONNECT_SECONDS, Exchange, Limits, Server, Wire
from steward.kube.transport.line_splitter import LineSplitter
from steward.kube.transport.rate_limiter import Limiter
from steward.kube.transport.request import BeforeWrite, Effect, Request, Response, permit
from steward.kube.transport.retry import RetryPolicy, may_repeat, wait_before
from steward.kube.transport.status_errors import Asked, refusal

USER_AGENT = "steward"
SILENCE_SECONDS = 35.0

_IN_ONE_PIECE = frozenset(("PATCH", "POST", "PUT"))
_UNHURRIED = Limits(whole=SILENCE_SECONDS)

OnRequest = Callable[[str, str, str, float], None]


def _ignore(method: str, host: str, code: str, seconds: float) -> None: ...


def _no_headers() -> Mapping[str, str]:
    return {}


class Hooks(Struct, frozen=True, kw_only=True):
    before_write: BeforeWrite = permit
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


class Transport:
    def __init__(self, settings: ConnectionSettings, options: TransportOptions | None = None) -> None:
        self._options = options or TransportOptions()
        self._clock = self._options.clock
        self._hooks = self._options.hooks
        server = Server(
            url=settings.server.rstrip("/"),
            user_agent=self._options.user_agent,
            proxy=choose_proxy(settings.server.rstrip("/"), settings.proxy, self._options.environ),
            name=settings.tls.server_name,
        )
        self._host = server.host
        self._is_secure = server.is_secure
        self._wire = Wire(server)
        self._credentials = credentials_for(settings.auth, self._clock)
        self._contexts = TlsContexts(settings.tls, self._clock)
        self._limiter = Limiter(self._options.qps, self._options.burst, self._clock)
        self._turn = asyncio.Semaphore(self._options.in_flight)

    async def close(self) -> None:
        await self._wire.close()

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
        # A stream's head has a limit although its body has none.
        exchange = await self._send(request, presented, _limits(request, request.timeout))
        try:
            if exchange.status >= 300:
                raise self._refusal(request, presented, await self._whole(request, exchange))
            exchange.take_your_time()
            async with aclosing(_lines(exchange, request, self._host)) as lines:
                yield lines
        finally:
            exchange.hang_up()

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
        exchange = await self._send(request, presented, limits)
        try:
            return await self._whole(request, exchange)
        finally:
            exchange.hang_up()

    async def _send(self, request: Request, presented: Presented, limits: Limits) -> Exchange:
        """One attempt, up to the head of its answer."""
        started = self._clock.monotonic()
        try:
            exchange = await self._wire.connect(self._context(presented), limits)
        except FAILURES as error:
            self._report(request, "<error>", started)
            raise failure_of(error, request, self._host, sent=False) from error
        try:
            left = limits.after(self._clock.monotonic() - started)
            await self._ask_on(exchange, request, presented, left)
        except FAILURES as error:
            exchange.hang_up()
            self._report(request, "<error>", started)
            raise failure_of(error, request, self._host, sent=True) from error
        except BaseException:
            exchange.hang_up()
            raise
        self._report(request, str(exchange.status), started)
        return exchange

    async def _ask_on(
        self, exchange: Exchange, request: Request, presented: Presented, limits: Limits
    ) -> None:
        question = self._spelt(request, presented)
        if request.effect is Effect.WRITE:
            self._hooks.before_write(request)
        exchange.send(question, limits)
        await exchange.head()

    async def _whole(self, request: Request, exchange: Exchange) -> Response:
        try:
            return Response(exchange.status, exchange.headers, await exchange.body())
        except FAILURES as error:
            raise failure_of(error, request, self._host, sent=True) from error

    def _context(self, presented: Presented) -> ssl.SSLContext | None:
        return self._contexts.current(presented.certificate) if self._is_secure else None

    def _spelt(self, request: Request, presented: Presented) -> bytes:
        query = f"?{_encoded(tuple(request.query.items()))}" if request.query else ""
        headers = request.headers if type(request.headers) is tuple else tuple(dict(request.headers).items())
        if presented.authorization:
            headers = (*headers, ("Authorization", presented.authorization))
        if request.body is not None:
            headers = (*headers, ("Content-Type", request.content_type))
        more = self._hooks.headers_for()
        return self._wire.spelt(
            request.method,
            f"{request.path}{query}",
            (*more.items(), *headers) if more else headers,
            request.body,
        )

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


def _limits(request: Request, left: float) -> Limits:
    """For one attempt that may last as long as `left`, and may be silent for `SILENCE_SECONDS` of it.

    Each limit is a timer: an answer that comes in one piece needs no second one to tell silence from slowness.
    """
    if request.method in _IN_ONE_PIECE:
        return _UNHURRIED if left >= SILENCE_SECONDS else Limits(left, connect=min(left, CONNECT_SECONDS))
    return Limits(left, SILENCE_SECONDS, connect=min(left, CONNECT_SECONDS))


async def _lines(exchange: Exchange, request: Request, host: str) -> AsyncGenerator[bytes, None]:
    splitter = LineSplitter()
    try:
        while chunk := await exchange.payload.readany():
            for line in splitter.feed(chunk):
                yield line
    except FAILURES as error:
        raise cut_stream(error, request, host) from error
