"""Connections of the standard library's HTTP client, and the threads that wait for them.

The threads are daemons, unlike those of a thread pool: after Ctrl-C or a timeout the process ends without waiting for a
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
_CHUNK = 1 << 16

T = TypeVar("T")


class ServerRoute(NamedTuple):
    """The server's URL, TLS context and name in its certificate."""

    server: SplitResult
    context: SSLContext | None
    server_name: str


class OneShotConnection(http.client.HTTPConnection):
    """Uses TLS where there is a context, to a server whose certificate may have another name than its address."""

    auto_open = 0

    def __init__(self, route: ServerRoute) -> None:
        super().__init__(route.server.hostname or "", route.server.port or _PORTS[route.server.scheme])
        self.route = route

    def open_socket(self, seconds: float) -> None:
        """Opens the TCP connection, which the server's kernel accepts however busy the server is."""
        self.timeout = seconds
        self.connect()

    def start_tls(self, seconds: float) -> None:
        self.sock.settimeout(seconds)
        if self.route.context is not None:
            name = self.route.server_name or self.host
            self.sock = self.route.context.wrap_socket(self.sock, server_hostname=name)

    def send_request(self, request: Request, headers: list[tuple[str, str]], seconds: float) -> None:
        """Writes header by header: a name may occur more than once."""
        self.sock.settimeout(seconds)
        query = f"?{urlencode(request.query)}" if request.query else ""
        target = f"{self.route.server.path}{request.path}{query}"
        self.putrequest(request.method, target, skip_accept_encoding=True)
        for name, value in headers:
            self.putheader(name, value)
        if request.body is not None or request.method != "GET":
            self.putheader("Content-Length", str(len(request.body or b"")))
        self.endheaders(request.body)

    def open_stream(self) -> http.client.HTTPResponse:
        """Reads the head of a response whose body may never end."""
        # Kept before the response takes it over, which it does when the server closes the connection at the end.
        stream_socket = self.sock
        response = self.getresponse()
        stream_socket.settimeout(None)
        self._stream_socket = stream_socket
        return response

    def close_stream(self, response: http.client.HTTPResponse) -> None:
        """Ends a read in another thread. Below TLS, because a TLS shutdown would wait for that reader."""
        with suppress(OSError):
            socket.socket.shutdown(self._stream_socket, socket.SHUT_RDWR)
        response.close()
        self.close()


async def read_chunks(response: http.client.HTTPResponse) -> AsyncGenerator[bytes, None]:
    """The chunks of the body as they arrive."""
    while chunk := await run_in_thread(lambda: response.read1(_CHUNK)):
        yield chunk


async def run_in_thread(work: Callable[[], T]) -> T:
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
        # The loop may be closed by now; then no task waits for the result.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, failure)

    # Not threading.Thread, which waits until the thread has begun: that took longer than the rest of a short request.
    _thread.start_new_thread(run, ())
    return await done
