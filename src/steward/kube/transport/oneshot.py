"""Sends a few requests to an API server, for short-lived commands such as `steward status`.

With aiohttp the modules of such a command take 0.31 s of processor time to import, without it 0.13 s. Here each
request, and each chunk of a stream, uses a thread and a connection of the standard library. A command reports within
seconds that it cannot connect, while an operator tries for a minute. Proxies are not supported: use
`steward.kube.client.client.connect` for them.
"""

import asyncio
import http.client
import random
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import NamedTuple, cast
from urllib.parse import urlsplit

from steward.kube.auth.credentials import RequestCredentials, credentials_for
from steward.kube.auth.tls import TlsContexts
from steward.kube.clock import SystemClock
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import ApiError, KubeError, Unauthorized, Unreachable
from steward.kube.transport.line_splitter import LineSplitter
from steward.kube.transport.network_errors import NetworkFailure, transport_error
from steward.kube.transport.oneshot_http import OneShotConnection, ServerRoute, read_chunks, run_in_thread
from steward.kube.transport.request import BeforeWrite, Effect, Request, Response, allow_write
from steward.kube.transport.retry import RetryPolicy, may_retry, retry_delay
from steward.kube.transport.status_errors import RequestLine, api_error

USER_AGENT = "steward"
MAX_IN_FLIGHT = 8
CONNECT_SECONDS = 4.0
HANDSHAKE_SECONDS = 15.0
_GZIP = 31
_FAILURES = (http.client.HTTPException, OSError)


class _Attempt(NamedTuple):
    """One attempt at a request, with its credentials and deadline."""

    request: Request
    credentials: RequestCredentials
    deadline: float


class _NoConnection(Unreachable):
    """The server's kernel did not accept the connection: another attempt would wait as long again."""


class OneShotTransport:
    def __init__(self, settings: ConnectionSettings, before_write: BeforeWrite = allow_write) -> None:
        self._before_write = before_write
        self._clock = SystemClock()
        self._server = urlsplit(settings.server.rstrip("/"))
        self._host = self._server.netloc.rpartition("@")[2]
        self._server_name = settings.tls.server_name
        self._credentials = credentials_for(settings.auth, self._clock)
        self._contexts = TlsContexts(settings.tls, self._clock)
        self._in_flight = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._idle: list[OneShotConnection] = []

    async def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    async def request(self, request: Request) -> Response:
        """Returns a response of 2xx. Anything else is raised, after the retries that are harmless."""
        number, deadline = 0, self._clock.monotonic() + request.timeout
        while True:
            number += 1
            credentials = await self._credentials.current()
            try:
                return await self._send(_Attempt(request, credentials, deadline))
            except Unauthorized as failure:
                if number > 1 or await self._credentials.current() == credentials:
                    raise failure from None
            except _NoConnection:
                raise
            except KubeError as failure:
                await self._wait_before_retry(failure, request, number, deadline)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines of the response as they arrive. Never retried: the caller knows where to resume."""
        credentials = await self._credentials.current()
        attempt = _Attempt(request, credentials, self._clock.monotonic() + request.timeout)
        connection = await self._connection(attempt)
        response = await run_in_thread(lambda: self._open_stream_blocking(connection, attempt))
        try:
            if response.status >= 300:
                raise self._api_error(attempt, await run_in_thread(lambda: _read_response(response)))
            async with aclosing(self._lines(response, request)) as lines:
                yield lines
        finally:
            await run_in_thread(lambda: connection.close_stream(response))

    async def _lines(
        self, response: http.client.HTTPResponse, request: Request
    ) -> AsyncGenerator[bytes, None]:
        splitter = LineSplitter()
        try:
            async for piece in read_chunks(response):
                for line in splitter.feed(piece):
                    yield line
        except _FAILURES as error:
            raise transport_error(NetworkFailure(error, sent=True), request, self._host) from error

    async def _send(self, attempt: _Attempt) -> Response:
        async with self._in_flight:
            connection = await self._connection(attempt)
            response = await run_in_thread(lambda: self._exchange_blocking(connection, attempt))
        if response.status >= 300:
            raise self._api_error(attempt, response)
        return response

    def _api_error(self, attempt: _Attempt, response: Response) -> ApiError:
        if response.status == 401:
            self._credentials.rejected(attempt.credentials)
        request_line = RequestLine(attempt.request.method, attempt.request.path)
        return api_error(response.status, response.headers, response.body, request_line)

    async def _wait_before_retry(
        self, failure: KubeError, request: Request, number: int, deadline: float
    ) -> None:
        """Waits before the next attempt, or raises the failure when there must be no other attempt."""
        policy = request.retry or RetryPolicy()
        delay = retry_delay(failure, number, policy, random.random())
        is_late = self._clock.monotonic() + delay >= deadline
        if number >= policy.attempts or is_late or not may_retry(failure, request.is_idempotent):
            raise failure
        await self._clock.sleep(delay)

    async def _connection(self, attempt: _Attempt) -> OneShotConnection:
        """An idle connection that was made with the current TLS context, or a new one."""
        certificate = attempt.credentials.certificate
        context = self._contexts.current(certificate) if self._server.scheme == "https" else None
        while self._idle:
            kept = self._idle.pop()
            if kept.route.context is context and kept.sock is not None:
                return kept
            kept.close()
        return await self._connected(ServerRoute(self._server, context, self._server_name), attempt)

    async def _connected(self, route: ServerRoute, attempt: _Attempt) -> OneShotConnection:
        connection = OneShotConnection(route)
        try:
            # Counted from here: a request that waited for others has the same time to connect.
            async with asyncio.timeout(CONNECT_SECONDS):
                await run_in_thread(lambda: connection.open_socket(CONNECT_SECONDS))
        except TimeoutError:
            raise _NoConnection(f"cannot reach {self._host}: no server answers at this address") from None
        except OSError as error:
            raise transport_error(NetworkFailure(error, sent=False), attempt.request, self._host) from error
        try:
            await run_in_thread(lambda: connection.start_tls(HANDSHAKE_SECONDS))
        except OSError as error:
            connection.close()
            raise transport_error(NetworkFailure(error, sent=False), attempt.request, self._host) from error
        return connection

    def _exchange_blocking(self, connection: OneShotConnection, attempt: _Attempt) -> Response:
        """In a thread of its own."""
        with self._closing_on_failure(connection, attempt.request):
            self._write_request(connection, attempt, "gzip")
            response = _read_response(connection.getresponse())
        self._idle.append(connection)
        return response

    def _open_stream_blocking(
        self, connection: OneShotConnection, attempt: _Attempt
    ) -> http.client.HTTPResponse:
        """In a thread of its own."""
        with self._closing_on_failure(connection, attempt.request):
            self._write_request(connection, attempt, "identity")
            return connection.open_stream()

    def _write_request(self, connection: OneShotConnection, attempt: _Attempt, encoding: str) -> None:
        request = attempt.request
        if request.effect is Effect.WRITE:
            self._before_write(request)
        remaining = max(attempt.deadline - self._clock.monotonic(), 0.001)
        connection.send_request(request, _headers(request, attempt.credentials, encoding), remaining)

    @contextmanager
    def _closing_on_failure(self, connection: OneShotConnection, request: Request) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            connection.close()
            if isinstance(error, _FAILURES):
                raise transport_error(NetworkFailure(error, sent=True), request, self._host) from error
            raise


def _read_response(response: http.client.HTTPResponse) -> Response:
    body = response.read()
    if response.getheader("Content-Encoding") == "gzip":
        body = zlib.decompress(body, _GZIP)
    return Response(response.status, cast(Mapping[str, str], response.headers), body)


def _headers(request: Request, credentials: RequestCredentials, encoding: str) -> list[tuple[str, str]]:
    own = request.headers.items() if isinstance(request.headers, Mapping) else request.headers
    default = [("User-Agent", USER_AGENT), ("Accept", "application/json"), ("Accept-Encoding", encoding)]
    if credentials.authorization:
        default.append(("Authorization", credentials.authorization))
    if request.body is not None:
        default.append(("Content-Type", request.content_type))
    names = {name.lower() for name, _ in own}
    return [*((name, value) for name, value in default if name.lower() not in names), *own]
