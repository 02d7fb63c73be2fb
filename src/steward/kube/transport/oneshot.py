"""Carries a few requests to an API server, for programs that ask and end: `steward status` and the like.

The HTTP client of the operators takes a quarter of a second to import, longer than such a program takes for all the
rest. Here each request, and each piece of a stream, has a thread and a connection of the standard library. Who waits
for a verb wants to be told within seconds that there is no server: an operator tries for a minute. Who goes through a
proxy takes `steward.kube.client.client.connect`.
"""

import asyncio
import http.client
import random
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import NamedTuple, cast
from urllib.parse import urlsplit

from steward.kube.auth.credentials import Presented, credentials_for
from steward.kube.auth.tls import TlsContexts
from steward.kube.clock import SystemClock
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import ApiError, KubeError, Unauthorized, Unreachable
from steward.kube.transport.line_splitter import LineSplitter
from steward.kube.transport.network_errors import Silence, no_answer
from steward.kube.transport.oneshot_http import PlainConnection, Way, in_thread, pieces
from steward.kube.transport.request import BeforeWrite, Effect, Request, Response, permit
from steward.kube.transport.retry import RetryPolicy, may_repeat, wait_before
from steward.kube.transport.status_errors import Asked, refusal

USER_AGENT = "steward"
AT_ONCE = 8
REACH_SECONDS = 4.0
HANDSHAKE_SECONDS = 15.0
_GZIP = 31
_FAILURES = (http.client.HTTPException, OSError)


class _Question(NamedTuple):
    """One attempt at a request: by what right, and until when."""

    request: Request
    presented: Presented
    deadline: float


class _NobodyThere(Unreachable):
    """Not even the kernel of the server has answered: whoever asks again waits as long again."""


class BriefTransport:
    def __init__(self, settings: ConnectionSettings, before_write: BeforeWrite = permit) -> None:
        self._before_write = before_write
        self._clock = SystemClock()
        self._server = urlsplit(settings.server.rstrip("/"))
        self._host = self._server.netloc.rpartition("@")[2]
        self._server_name = settings.tls.server_name
        self._credentials = credentials_for(settings.auth, self._clock)
        self._contexts = TlsContexts(settings.tls, self._clock)
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._free: list[PlainConnection] = []

    async def close(self) -> None:
        while self._free:
            self._free.pop().close()

    async def request(self, request: Request) -> Response:
        """The answer, always of 2xx; anything else is raised, after the attempts that are harmless."""
        attempt, deadline = 0, self._clock.monotonic() + request.timeout
        while True:
            attempt += 1
            presented = await self._credentials.present()
            try:
                return await self._answer(_Question(request, presented, deadline))
            except Unauthorized as failure:
                if attempt > 1 or await self._credentials.present() == presented:
                    raise failure from None
            except _NobodyThere:
                raise
            except KubeError as failure:
                await self._pause(failure, request, attempt, deadline)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        """The answer's lines as they come. Never repeated: the reader knows where to resume."""
        presented = await self._credentials.present()
        question = _Question(request, presented, self._clock.monotonic() + request.timeout)
        connection = await self._connection(question)
        answer = await in_thread(lambda: self._listened(connection, question))
        try:
            if answer.status >= 300:
                raise self._refusal(question, await in_thread(lambda: _whole(answer)))
            async with aclosing(self._lines(answer, request)) as lines:
                yield lines
        finally:
            await in_thread(lambda: connection.hang_up(answer))

    async def _lines(self, answer: http.client.HTTPResponse, request: Request) -> AsyncGenerator[bytes, None]:
        splitter = LineSplitter()
        try:
            async for piece in pieces(answer):
                for line in splitter.feed(piece):
                    yield line
        except _FAILURES as error:
            raise no_answer(Silence(error, sent=True), request, self._host) from error

    async def _answer(self, question: _Question) -> Response:
        async with self._turn:
            connection = await self._connection(question)
            answer = await in_thread(lambda: self._answered(connection, question))
        if answer.status >= 300:
            raise self._refusal(question, answer)
        return answer

    def _refusal(self, question: _Question, answer: Response) -> ApiError:
        if answer.status == 401:
            self._credentials.refused(question.presented)
        asked = Asked(question.request.method, question.request.path)
        return refusal(answer.status, answer.headers, answer.body, asked)

    async def _pause(self, failure: KubeError, request: Request, attempt: int, deadline: float) -> None:
        """Waits before the next attempt, or raises the failure when there must be none."""
        policy = request.retry or RetryPolicy()
        delay = wait_before(failure, attempt, policy, random.random())
        is_late = self._clock.monotonic() + delay >= deadline
        if attempt >= policy.attempts or is_late or not may_repeat(failure, request.is_harmless_twice):
            raise failure
        await self._clock.sleep(delay)

    async def _connection(self, question: _Question) -> PlainConnection:
        """One that is free and was made under the TLS context of this moment, or a new one."""
        certificate = question.presented.certificate
        context = self._contexts.current(certificate) if self._server.scheme == "https" else None
        while self._free:
            kept = self._free.pop()
            if kept.way.context is context and kept.sock is not None:
                return kept
            kept.close()
        return await self._connected(Way(self._server, context, self._server_name), question)

    async def _connected(self, way: Way, question: _Question) -> PlainConnection:
        connection = PlainConnection(way)
        try:
            # From here, and not from the beginning: what has waited its turn has the same time to get there.
            async with asyncio.timeout(REACH_SECONDS):
                await in_thread(lambda: connection.reach(REACH_SECONDS))
        except TimeoutError:
            raise _NobodyThere(f"cannot reach {self._host}: nobody answers there") from None
        except OSError as error:
            raise no_answer(Silence(error, sent=False), question.request, self._host) from error
        try:
            await in_thread(lambda: connection.secure(HANDSHAKE_SECONDS))
        except OSError as error:
            connection.close()
            raise no_answer(Silence(error, sent=False), question.request, self._host) from error
        return connection

    def _answered(self, connection: PlainConnection, question: _Question) -> Response:
        """In a thread of its own."""
        with self._closing_on_failure(connection, question.request):
            self._ask(connection, question, "gzip")
            answer = _whole(connection.getresponse())
        self._free.append(connection)
        return answer

    def _listened(self, connection: PlainConnection, question: _Question) -> http.client.HTTPResponse:
        """In a thread of its own."""
        with self._closing_on_failure(connection, question.request):
            self._ask(connection, question, "identity")
            return connection.listen()

    def _ask(self, connection: PlainConnection, question: _Question, encoding: str) -> None:
        request = question.request
        if request.effect is Effect.WRITE:
            self._before_write(request)
        left = max(question.deadline - self._clock.monotonic(), 0.001)
        connection.ask(request, _headers(request, question.presented, encoding), left)

    @contextmanager
    def _closing_on_failure(self, connection: PlainConnection, request: Request) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            connection.close()
            if isinstance(error, _FAILURES):
                raise no_answer(Silence(error, sent=True), request, self._host) from error
            raise


def _whole(answer: http.client.HTTPResponse) -> Response:
    body = answer.read()
    if answer.getheader("Content-Encoding") == "gzip":
        body = zlib.decompress(body, _GZIP)
    return Response(answer.status, cast(Mapping[str, str], answer.headers), body)


def _headers(request: Request, presented: Presented, encoding: str) -> list[tuple[str, str]]:
    given = request.headers.items() if isinstance(request.headers, Mapping) else request.headers
    usual = [("User-Agent", USER_AGENT), ("Accept", "application/json"), ("Accept-Encoding", encoding)]
    if presented.authorization:
        usual.append(("Authorization", presented.authorization))
    if request.body is not None:
        usual.append(("Content-Type", request.content_type))
    names = {name.lower() for name, _ in given}
    return [*((name, value) for name, value in usual if name.lower() not in names), *given]
