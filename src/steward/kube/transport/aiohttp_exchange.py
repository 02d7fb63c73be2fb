"""One question and its answer, on a connection of the HTTP client's pool: only `failures` knows that client too.

The HTTP client's own way from a URL to an answer does for each call what is the same for all of ours: it takes the URL
apart, merges headers, looks for cookies and redirects, and starts a task to write a body of one kilobyte. That was half
of what a write cost this process. So a question is spelt here, and leaves in one piece; the pool, TLS and proxies, and
the reading of answers are the HTTP client's, as they are.
"""

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import unquote, urlsplit

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader
from msgspec import Struct
from msgspec.structs import replace
from multidict import CIMultiDict
from yarl import URL

KEEP_ALIVE_SECONDS = 45.0
CONNECT_SECONDS = 15.0
LONGEST_HEADER = 1 << 16
READ_BUFFER = 1 << 18

# asyncio gives every TLS connection a buffer of 256 KiB for good, and a process with forty watches has forty. A TLS
# record has 16 KiB and its frame at most: more than one of them at once is no faster to take apart.
SSLProtocol.max_size = 18 << 10

Pairs = tuple[tuple[str, str], ...]


class Limits(Struct, frozen=True):
    """Seconds."""

    whole: float
    """For all of it."""
    silence: float | None = None
    """Between two pieces of the answer."""
    connect: float = CONNECT_SECONDS

    def after(self, seconds: float) -> "Limits":
        """What is left once so much was spent; a connection of the pool costs next to nothing."""
        return self if seconds < 0.01 else replace(self, whole=max(self.whole - seconds, 0.001))


class Server(Struct, frozen=True, kw_only=True):
    """Who is asked, and how to get there."""

    url: str
    user_agent: str
    proxy: str = ""
    name: str = ""
    """Which the certificate must hold, where it is not that of the URL."""

    @property
    def is_secure(self) -> bool:
        return self.url.startswith("https:")

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def password(self) -> Pairs:
        """Of a URL that holds one: it speaks for us where nothing else does."""
        user = urlsplit(self.url).netloc.rpartition("@")[0]
        return (("Authorization", f"Basic {b64encode(unquote(user).encode()).decode()}"),) if user else ()

    @property
    def target(self) -> str:
        """What stands before every path: a proxy that sees the question itself is told where it goes."""
        parts = urlsplit(self.url)
        if self.proxy and not self.is_secure:
            return f"{parts.scheme}://{self.host}{parts.path}"
        return parts.path


class Exchange:
    """A connection while it carries one question and its answer; afterwards it is given back, or closed."""

    __slots__ = ("_connection", "_is_late", "_protocol", "_stopper", "headers", "payload", "status")

    def __init__(self, connection: Connection) -> None:
        protocol = connection.protocol
        assert protocol is not None
        self._connection = connection
        self._protocol: ResponseHandler = protocol
        self._stopper: asyncio.TimerHandle | None = None
        self._is_late = False
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.payload: StreamReader

    def send(self, question: bytes, limits: Limits) -> None:
        protocol = self._protocol
        protocol.set_response_params(
            read_until_eof=True,
            read_timeout=limits.silence,
            read_bufsize=READ_BUFFER,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
        )
        if protocol.transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.transport.write(question)
        if limits.silence is not None:
            protocol.start_timeout()
        # A timer that ends the connection needs no task to be cancelled, and no frame around the call.
        self._stopper = asyncio.get_running_loop().call_later(limits.whole, self._stop)

    def _stop(self) -> None:
        self._is_late = True
        self._abort()

    async def head(self) -> None:
        """Waits for the status and the headers."""
        message = await self._first()
        self.status, self.headers = message.code, message.headers

    async def _first(self) -> RawResponseMessage:
        """The first message that is more than a sign of life."""
        while True:
            try:
                message, self.payload = await self._protocol.read()
            except HttpProcessingError as error:
                raise aiohttp.ClientPayloadError(f"the answer is no HTTP: {error.message}") from error
            except (aiohttp.ClientError, OSError) as error:
                self._look_at_clock(error)
                raise
            if message.code >= 200 or message.code == 101:
                return message

    async def body(self) -> bytes:
        """The rest of the answer; the connection is free for others then."""
        try:
            body = self.payload.read_nowait() if self.payload.is_eof() else await self.payload.read()
        except (aiohttp.ClientError, OSError) as error:
            self._look_at_clock(error)
            raise
        self._end()
        self._connection.release()
        return body

    def take_your_time(self) -> None:
        """No limit from now on, neither for the whole nor for silence."""
        self._end()
        self._protocol.read_timeout = None
        self._protocol.start_timeout()

    def _look_at_clock(self, error: Exception) -> None:
        if self._is_late:
            raise TimeoutError from error

    def hang_up(self) -> None:
        """Ends the connection, whatever it is at; nothing happens once it was given back."""
        if self._connection.protocol is not None:
            self._end()
            self._abort()
            self._connection.close()

    def _end(self) -> None:
        if self._stopper is not None:
            self._stopper.cancel()

    def _abort(self) -> None:
        # A farewell in TLS would wait for the server, which may go on talking, and outlive us.
        transport = self._protocol.transport
        if transport is not None:
            transport.abort()


class Wire:
    """All connections to one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._target = server.target
        self._opening = f" HTTP/1.1\r\nHost: {server.host}\r\n"
        self._usual = (("User-Agent", server.user_agent), ("Accept", "application/json"), *server.password)
        # No limit here: streams hold their connection for long and must not starve requests, which have their own.
        self._connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS)
        self._way: aiohttp.ClientRequest | None = None
        self._connect_limits = aiohttp.ClientTimeout(connect=CONNECT_SECONDS, sock_connect=CONNECT_SECONDS)

    async def close(self) -> None:
        await self._connector.close()

    async def connect(self, context: ssl.SSLContext | None, limits: Limits) -> Exchange:
        way = self._way
        if way is None or (context is not None and way.ssl is not context):
            way = self._way = self._towards(context)
        timeout = self._connect_limits
        if limits.connect < CONNECT_SECONDS:
            timeout = aiohttp.ClientTimeout(connect=limits.connect)
        return Exchange(await self._connector.connect(way, [], timeout))

    def _towards(self, context: ssl.SSLContext | None) -> aiohttp.ClientRequest:
        """What the pool wants to know of a question: the same for all that are asked under one TLS context."""
        server = self._server
        return aiohttp.ClientRequest(
            "GET",
            URL(server.url),
            loop=asyncio.get_running_loop(),
            ssl=context if context is not None else True,
            server_hostname=server.name or None if server.is_secure else None,
            proxy=URL(server.proxy) if server.proxy else None,
            # Whole from the beginning: connections are told apart by it too.
            proxy_headers=CIMultiDict({"User-Agent": server.user_agent, "Host": server.host}),
        )

    def spelt(self, method: str, path: str, headers: Pairs, body: bytes | None) -> bytes:
        """The question as it goes over the wire."""
        first = f"{method} {self._target}{path}{self._opening}".encode()
        rest = _spelt_headers(self._usual, self._of_proxy(), headers)
        if body is None:
            return first + rest + (b"\r\n" if method == "GET" else b"Content-Length: 0\r\n\r\n")
        return b"%b%bContent-Length: %d\r\n\r\n%b" % (first, rest, len(body), body)

    def _of_proxy(self) -> Pairs:
        """What a proxy that sees the question itself wants to know."""
        if not self._server.proxy or self._server.is_secure or self._way is None:
            return ()
        name = aiohttp.hdrs.PROXY_AUTHORIZATION
        return ((name, self._way.headers[name]),) if name in self._way.headers else ()


@lru_cache(maxsize=64)
def _spelt_headers(usual: Pairs, proxy: Pairs, given: Pairs) -> bytes:
    """One block for all questions that differ in path and body alone; what is given stands instead of what is usual."""
    names = {name.lower() for name, _ in given}
    pairs = (*(pair for pair in usual if pair[0].lower() not in names), *proxy, *given)
    for name, value in pairs:
        if any(sign in name + value for sign in "\r\n\0"):
            raise ValueError(f"the header {name!r} holds a line break")
    lines = [*(f"{name}: {value}\r\n" for name, value in pairs), "Accept-Encoding: gzip\r\n"]
    return "".join(lines).encode()
