"""Connections of the standard library's HTTP client, and the threads that wait for them.

The threads are daemons, which a pool's are not: nobody who presses Ctrl-C, or has waited long enough, waits for a
server that does not answer.
"""

import _thread
import asyncio
import http.client
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from ssl import SSLContext
from typing import NamedTuple, TypeVar
from urllib.parse import SplitResult, urlencode

from steward.kube.transport.request import Request

_PORTS = {"https": 443, "http": 80}
_PIECE = 1 << 16

T = TypeVar("T")


class Way(NamedTuple):
    """How to get to the server."""

    server: SplitResult
    context: SSLContext | None
    server_name: str


class PlainConnection(http.client.HTTPConnection):
    """Speaks TLS where there is a context, to a server that may have another name than its address."""

    auto_open = 0

    def __init__(self, way: Way) -> None:
        super().__init__(way.server.hostname or "", way.server.port or _PORTS[way.server.scheme])
        self.way = way

    def reach(self, seconds: float) -> None:
        """Up to somebody who listens there: however busy the server is, its kernel answers for it."""
        self.timeout = seconds
        self.connect()

    def secure(self, seconds: float) -> None:
        self.sock.settimeout(seconds)
        if self.way.context is not None:
            name = self.way.server_name or self.host
            self.sock = self.way.context.wrap_socket(self.sock, server_hostname=name)

    def ask(self, request: Request, headers: list[tuple[str, str]], seconds: float) -> None:
        """Header by header: a name may come more than once."""
        self.sock.settimeout(seconds)
        query = f"?{urlencode(request.query)}" if request.query else ""
        target = f"{self.way.server.path}{request.path}{query}"
        self.putrequest(request.method, target, skip_accept_encoding=True)
        for name, value in headers:
            self.putheader(name, value)
        if request.body is not None or request.method != "GET":
            self.putheader("Content-Length", str(len(request.body or b"")))
        self.endheaders(request.body)

    def listen(self) -> http.client.HTTPResponse:
        """Up to the head of an answer that may go on for ever."""
        line = self.sock  # which belongs to the answer from then on, where the server wants no other question
        answer = self.getresponse()
        line.settimeout(None)
        self._line = line
        return answer

    def hang_up(self, answer: http.client.HTTPResponse) -> None:
        """Whoever still reads gets the end. Below TLS, whose own farewell would wait for that reader."""
        with suppress(OSError):
            socket.socket.shutdown(self._line, socket.SHUT_RDWR)
        answer.close()
        self.close()


async def pieces(answer: http.client.HTTPResponse) -> AsyncGenerator[bytes, None]:
    """What comes, when it comes, for as long as it comes."""
    while piece := await in_thread(lambda: answer.read1(_PIECE)):
        yield piece


async def in_thread(work: Callable[[], T]) -> T:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, failure: Exception | None) -> None:
        if done.cancelled():
            return
        if failure is not None:
            done.set_exception(failure)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except Exception as error:
            failure = error
        # Nobody waits any more when the loop is closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, failure)

    # Not threading.Thread, which waits until the thread has begun: that took longer than the rest of a short question.
    _thread.start_new_thread(run, ())
    return await done
