"""One HTTP request and its response on a connection of aiohttp's pool. Only `aiohttp_errors` uses aiohttp besides this.

aiohttp's ClientSession repeats for each request what is the same for all of ours: it parses the URL, merges headers,
checks for cookies and redirects, and starts a task to write a body of one kilobyte. That was half of the CPU time of a
write. So requests are encoded here and sent in one piece; connection pool, TLS, proxies and the parsing of responses
are aiohttp's.
"""

import asyncio
import ssl
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

from steward.library_patches import shrink_tls_read_buffers

KEEP_ALIVE_SECONDS = 45.0
CONNECT_SECONDS = 15.0
MAX_HEADER = 1 << 16
READ_BUFFER = 1 << 18

shrink_tls_read_buffers()

HeaderPairs = tuple[tuple[str, str], ...]


class Timeouts(Struct, frozen=True):
    """In seconds."""

    total: float
    """For the whole exchange."""
    between_reads: float | None = None
    """Between two chunks of the response."""
    connect: float = CONNECT_SECONDS

    def reduced_by(self, seconds: float) -> "Timeouts":
        """The remaining timeouts; unchanged after the short time that a pooled connection takes."""
        return self if seconds < 0.01 else replace(self, total=max(self.total - seconds, 0.001))


class ServerAddress(Struct, frozen=True, kw_only=True):
    """The API server's URL, its proxy, and the name in its certificate."""

    url: str
    user_agent: str
    proxy: str = ""
    tls_name: str = ""
    """The name that the certificate must have, where it differs from the URL's host."""

    @property
    def is_secure(self) -> bool:
        return self.url.startswith("https:")

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def basic_auth(self) -> HeaderPairs:
        """The Authorization header for a URL with user and password; other credentials replace it."""
        user = urlsplit(self.url).netloc.rpartition("@")[0]
        return (("Authorization", f"Basic {b64encode(unquote(user).encode()).decode()}"),) if user else ()

    @property
    def target_prefix(self) -> str:
        """The prefix of every request target: with the host for a plain-HTTP proxy, which needs it for forwarding."""
        parts = urlsplit(self.url)
        if self.proxy and not self.is_secure:
            return f"{parts.scheme}://{self.host}{parts.path}"
        return parts.path


class HttpExchange:
    """A connection during one request and its response; afterwards it is released to the pool or closed."""

    __slots__ = ("_connection", "_protocol", "_timed_out", "_timer", "headers", "payload", "status")

    def __init__(self, connection: Connection) -> None:
        protocol = connection.protocol
        assert protocol is not None
        self._connection = connection
        self._protocol: ResponseHandler = protocol
        self._timer: asyncio.TimerHandle | None = None
        self._timed_out = False
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.payload: StreamReader

    def send(self, request: bytes, timeouts: Timeouts) -> None:
        protocol = self._protocol
        protocol.set_response_params(
            read_until_eof=True,
            read_timeout=timeouts.between_reads,
            read_bufsize=READ_BUFFER,
            max_line_size=MAX_HEADER,
            max_field_size=MAX_HEADER,
        )
        if protocol.transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.transport.write(request)
        if timeouts.between_reads is not None:
            protocol.start_timeout()
        # A timer that aborts the connection is cheaper than asyncio.timeout, which cancels the task.
        self._timer = asyncio.get_running_loop().call_later(timeouts.total, self._time_out)

    def _time_out(self) -> None:
        self._timed_out = True
        self._abort()

    async def read_head(self) -> None:
        """Waits for the status line and the headers."""
        message = await self._first_final_message()
        self.status, self.headers = message.code, message.headers

    async def _first_final_message(self) -> RawResponseMessage:
        """The first message that is not an interim response (1xx)."""
        while True:
            try:
                message, self.payload = await self._protocol.read()
            except HttpProcessingError as error:
                raise aiohttp.ClientPayloadError(f"the response is not HTTP: {error.message}") from error
            except (aiohttp.ClientError, OSError) as error:
                self._raise_if_timed_out(error)
                raise
            if message.code >= 200 or message.code == 101:
                return message

    async def read_body(self) -> bytes:
        """Reads the rest of the response and releases the connection."""
        try:
            body = self.payload.read_nowait() if self.payload.is_eof() else await self.payload.read()
        except (aiohttp.ClientError, OSError) as error:
            self._raise_if_timed_out(error)
            raise
        self._cancel_timer()
        self._connection.release()
        return body

    def remove_timeouts(self) -> None:
        """Removes all timeouts, for a stream that may be long and silent."""
        self._cancel_timer()
        self._protocol.read_timeout = None
        self._protocol.start_timeout()

    def _raise_if_timed_out(self, error: Exception) -> None:
        if self._timed_out:
            raise TimeoutError from error

    def close(self) -> None:
        """Closes the connection in any state; does nothing once it was released."""
        if self._connection.protocol is not None:
            self._cancel_timer()
            self._abort()
            self._connection.close()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _abort(self) -> None:
        # A TLS shutdown would wait for the server, which may go on sending, and would outlive this process.
        transport = self._protocol.transport
        if transport is not None:
            transport.abort()


class ConnectionPool:
    """The connections to one server."""

    def __init__(self, server: ServerAddress) -> None:
        self._server = server
        self._target = server.target_prefix
        self._request_line_end = f" HTTP/1.1\r\nHost: {server.host}\r\n"
        self._default_headers = (
            ("User-Agent", server.user_agent),
            ("Accept", "application/json"),
            *server.basic_auth,
        )
        # Unlimited: streams hold their connection for long and must not starve requests, which the transport limits.
        self._connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS)
        self._connect_request: aiohttp.ClientRequest | None = None
        self._connect_limits = aiohttp.ClientTimeout(connect=CONNECT_SECONDS, sock_connect=CONNECT_SECONDS)

    async def close(self) -> None:
        await self._connector.close()

    async def connect(self, context: ssl.SSLContext | None, timeouts: Timeouts) -> HttpExchange:
        request = self._connect_request
        if request is None or (context is not None and request.ssl is not context):
            request = self._connect_request = self._connection_request(context)
        timeout = self._connect_limits
        if timeouts.connect < CONNECT_SECONDS:
            timeout = aiohttp.ClientTimeout(connect=timeouts.connect)
        return HttpExchange(await self._connector.connect(request, [], timeout))

    def _connection_request(self, context: ssl.SSLContext | None) -> aiohttp.ClientRequest:
        """The pool's key for a connection: the same for all requests under one TLS context."""
        server = self._server
        return aiohttp.ClientRequest(
            "GET",
            URL(server.url),
            loop=asyncio.get_running_loop(),
            ssl=context if context is not None else True,
            server_hostname=server.tls_name or None if server.is_secure else None,
            proxy=URL(server.proxy) if server.proxy else None,
            # Complete from the beginning, because it is part of the pool's key.
            proxy_headers=CIMultiDict({"User-Agent": server.user_agent, "Host": server.host}),
        )

    def encode_request(self, method: str, path: str, headers: HeaderPairs, body: bytes | None) -> bytes:
        """The bytes of the request."""
        first = f"{method} {self._target}{path}{self._request_line_end}".encode()
        rest = _encode_headers(self._default_headers, self._proxy_headers(), headers)
        if body is None:
            return first + rest + (b"\r\n" if method == "GET" else b"Content-Length: 0\r\n\r\n")
        return b"%b%bContent-Length: %d\r\n\r\n%b" % (first, rest, len(body), body)

    def _proxy_headers(self) -> HeaderPairs:
        """The credentials for a plain-HTTP proxy."""
        if not self._server.proxy or self._server.is_secure or self._connect_request is None:
            return ()
        name = aiohttp.hdrs.PROXY_AUTHORIZATION
        return ((name, self._connect_request.headers[name]),) if name in self._connect_request.headers else ()


@lru_cache(maxsize=64)
def _encode_headers(default: HeaderPairs, proxy: HeaderPairs, own: HeaderPairs) -> bytes:
    """One cached block for all requests that differ in path and body only; own headers replace default ones."""
    names = {name.lower() for name, _ in own}
    pairs = (*(pair for pair in default if pair[0].lower() not in names), *proxy, *own)
    for name, value in pairs:
        if any(sign in name + value for sign in "\r\n\0"):
            raise ValueError(f"the header {name!r} holds a line break")
    lines = [*(f"{name}: {value}\r\n" for name, value in pairs), "Accept-Encoding: gzip\r\n"]
    return "".join(lines).encode()
