"""Carries a few requests to an API server, for programs that ask and end: `steward status` and the like.

The HTTP client of the operators takes a quarter of a second to import, longer than such a program takes for all the
rest. Here each request has a thread and a connection of the standard library. The threads are daemons, which a pool's
are not: nobody who presses Ctrl-C waits for a server that does not answer. Streams are left to the operators' client,
which is loaded for the first of them; who goes through a proxy takes `steward.kube.client.connect`.
"""

import asyncio
import http.client
import random
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from ssl import SSLContext
from typing import NamedTuple, cast
from urllib.parse import SplitResult, urlencode, urlsplit

from steward.kube.clock import SystemClock
from steward.kube.connection import ConnectionSettings
from steward.kube.credentials import Presented, credentials_for
from steward.kube.errors import KubeError, Unauthorized
from steward.kube.no_answer import Silence, no_answer
from steward.kube.request import Messenger, Request, Response
from steward.kube.retry import RetryPolicy, may_repeat, wait_before
from steward.kube.status import Asked, refusal
from steward.kube.tls import TlsContexts

USER_AGENT = "steward"
AT_ONCE = 8
CONNECT_SECONDS = 15.0
_GZIP = 31
_PORTS = {"https": 443, "http": 80}


class BriefTransport:
    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings
        self._patient: Messenger | None = None
        self._clock = SystemClock()
        self._server = urlsplit(settings.server.rstrip("/"))
        self._server_name = settings.tls.server_name
        self._credentials = credentials_for(settings.auth, self._clock)
        self._contexts = TlsContexts(settings.tls, self._clock)
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._free: list[_Connection] = []

    async def close(self) -> None:
        while self._free:
            self._free.pop().close()
        if self._patient is not None:
            await self._patient.close()

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        if self._patient is None:
            from steward.kube.transport import Transport

            self._patient = Transport(self._settings)
        return self._patient.stream(request)

    async def request(self, request: Request) -> Response:
        """The answer, always of 2xx; anything else is raised, after the attempts that are harmless."""
        deadline = self._clock.monotonic() + request.timeout
        attempt = 0
        while True:
            attempt += 1
            presented = await self._credentials.present()
            try:
                return await self._ask(request, presented, deadline)
            except Unauthorized as failure:
                if attempt > 1 or await self._credentials.present() == presented:
                    raise failure from None
            except KubeError as failure:
                await self._pause(failure, request, attempt, deadline)

    async def _ask(self, request: Request, presented: Presented, deadline: float) -> Response:
        context = self._contexts.current(presented.certificate) if self._server.scheme == "https" else None
        left = max(deadline - self._clock.monotonic(), 0.001)
        way = _Way(self._server, context, self._server_name, left)
        async with self._turn:
            answer = await _in_thread(lambda: self._send(request, presented, way))
        if answer.status < 300:
            return answer
        if answer.status == 401:
            self._credentials.refused(presented)
        raise refusal(answer.status, answer.headers, answer.body, Asked(request.method, request.path))

    async def _pause(self, failure: KubeError, request: Request, attempt: int, deadline: float) -> None:
        """Waits before the next attempt, or raises the failure when there must be none."""
        policy = request.retry or RetryPolicy()
        delay = wait_before(failure, attempt, policy, random.random())
        is_late = self._clock.monotonic() + delay >= deadline
        if attempt >= policy.attempts or is_late or not may_repeat(failure, request.is_harmless_twice):
            raise failure
        await self._clock.sleep(delay)

    def _send(self, request: Request, presented: Presented, way: "_Way") -> Response:
        """In a thread of its own."""
        connection, sent = self._connection(way), False
        try:
            connection.reach(way.seconds)
            sent = True
            _put(connection, request, self._headers(request, presented))
            answer = connection.getresponse()
            body = answer.read()
        except (http.client.HTTPException, OSError) as error:
            connection.close()
            raise no_answer(Silence(error, sent), request, self._server.netloc.rpartition("@")[2]) from error
        self._free.append(connection)
        if answer.getheader("Content-Encoding") == "gzip":
            body = zlib.decompress(body, _GZIP)
        return Response(answer.status, cast(Mapping[str, str], answer.headers), body)

    def _connection(self, way: "_Way") -> "_Connection":
        """One that is free and was made under the TLS context of this moment, or a new one."""
        while self._free:
            kept = self._free.pop()
            if kept.way.context is way.context:
                return kept
            kept.close()
        return _Connection(way)

    def _headers(self, request: Request, presented: Presented) -> list[tuple[str, str]]:
        given = request.headers.items() if isinstance(request.headers, Mapping) else request.headers
        usual = [("User-Agent", USER_AGENT), ("Accept", "application/json"), ("Accept-Encoding", "gzip")]
        if presented.authorization:
            usual.append(("Authorization", presented.authorization))
        if request.body is not None:
            usual.append(("Content-Type", request.content_type))
        names = {name.lower() for name, _ in given}
        return [*((name, value) for name, value in usual if name.lower() not in names), *given]


class _Way(NamedTuple):
    """How to get to the server, and how long that may take."""

    server: SplitResult
    context: SSLContext | None
    server_name: str
    seconds: float


class _Connection(http.client.HTTPConnection):
    """Speaks TLS where there is a context, to a server that may have another name than its address."""

    def __init__(self, way: _Way) -> None:
        super().__init__(way.server.hostname or "", way.server.port or _PORTS[way.server.scheme])
        self.way = way

    def reach(self, seconds: float) -> None:
        self.timeout = min(seconds, CONNECT_SECONDS)
        if self.sock is None:
            self.connect()
        self.sock.settimeout(seconds)

    def connect(self) -> None:
        super().connect()
        context = self.way.context
        if context is not None:
            self.sock = context.wrap_socket(self.sock, server_hostname=self.way.server_name or self.host)


async def _in_thread(work: Callable[[], Response]) -> Response:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Response] = loop.create_future()

    def settle(answer: Response | None, failure: Exception | None) -> None:
        if done.cancelled():
            return
        if answer is not None:
            done.set_result(answer)
        elif failure is not None:
            done.set_exception(failure)

    def run() -> None:
        answer, failure = None, None
        try:
            answer = work()
        except Exception as error:
            failure = error
        # Nobody waits any more when the loop is closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, answer, failure)

    threading.Thread(target=run, daemon=True).start()
    return await done


def _put(connection: _Connection, request: Request, headers: list[tuple[str, str]]) -> None:
    """Header by header: a name may come more than once."""
    query = f"?{urlencode(request.query)}" if request.query else ""
    target = f"{connection.way.server.path}{request.path}{query}"
    connection.putrequest(request.method, target, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    if request.body is not None or request.method != "GET":
        connection.putheader("Content-Length", str(len(request.body or b"")))
    connection.endheaders(request.body)
