"""An HTTP server whose clients cannot hold more than its limits allow.

It accepts connections itself, because a connection counts from its first byte: asyncio's own server reports one only
after the TLS handshake, and aiohttp has a timeout only for idle connections. HTTP itself is aiohttp's.

    server = BoundedServer(handler, ServerLimits(), tls=context)
    await server.listen(None, 9443)
"""

import asyncio
import errno
import logging
import socket
import ssl
from asyncio.trsock import TransportSocket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple

from aiohttp import web

from steward.serving.bounded_protocol import LINGERING_SECONDS, BoundedProtocol
from steward.serving.connections import Connection, ConnectionTable
from steward.serving.limits import ServerLimits

Handler = Callable[[web.BaseRequest, Connection], Awaitable[web.StreamResponse]]

BACKLOG = 512
ACCEPT_RETRY_SECONDS = 1.0
SWEEP_SECONDS = 0.5
TLS_SHUTDOWN_SECONDS = 2.0
UNREAD_BODY_SECONDS = 2 * LINGERING_SECONDS
CLOSE_CHECKS = 50
CLOSE_CHECK_SECONDS = 0.005

log = logging.getLogger(__name__)


class BoundedServer:
    """Serves one address between `listen` and `stop`."""

    def __init__(self, handler: Handler, limits: ServerLimits, tls: ssl.SSLContext | None = None) -> None:
        self._handler = handler
        self._limits = limits
        self._tls = tls
        self._table = ConnectionTable(limits.connections)
        self._http: web.Server | None = None
        self._listeners: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        assert self._listeners, "the server does not listen"
        return int(self._listeners[0].getsockname()[1])

    @property
    def connections(self) -> int:
        """How many are open, those in their TLS handshake included."""
        return len(self._table)

    async def listen(self, host: str | None, port: int) -> None:
        """Listen on an address, on all of them without `host`; raises OSError if that is impossible."""
        self._listeners = await listening_sockets(host, port)
        # A client that closes its connection ends its request: nothing is held for it any longer.
        self._http = web.Server(self._serve, handler_cancellation=True)
        for listener in self._listeners:
            self._start(self._accept(listener))
        self._start(self._close_expired())

    async def stop(self, seconds: float) -> None:
        """Accept no more connections, let running requests finish for some seconds, close."""
        if self._http is None:
            return
        await asyncio.sleep(0)
        await self._cancel_tasks()
        for listener in self._listeners:
            listener.close()
        connections = _open_connections(self._http)
        self._http.pre_shutdown()
        await self._http.shutdown(seconds)
        await _close_connections(connections)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _cancel_tasks(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                accepted, peer = await asyncio.get_running_loop().sock_accept(listener)
            except OSError as error:
                # The client has closed it already, or there are no more file descriptors.
                if error.errno != errno.ECONNABORTED:
                    log.warning("cannot accept a connection: %s", error.strerror)
                    await asyncio.sleep(ACCEPT_RETRY_SECONDS)
                continue
            self._admit(accepted, str(peer[0]).removeprefix("::ffff:"))
            # With connections in the backlog, sock_accept returns at once and would keep all other tasks waiting.
            await asyncio.sleep(0)

    def _admit(self, accepted: socket.socket, address: str) -> None:
        deadline = asyncio.get_running_loop().time() + self._limits.opening_seconds
        connection = Connection(address, accepted.close, deadline)
        if not self._table.add(connection):
            accepted.close()
            return
        opening = self._start(self._open(accepted, connection))
        # A task that is cancelled before its first step closes nothing.
        opening.add_done_callback(lambda task: accepted.close() if task.cancelled() else None)
        connection.close = opening.cancel

    async def _open(self, accepted: socket.socket, connection: Connection) -> None:
        """Do the TLS handshake; from then on the protocol serves requests."""
        assert self._http is not None
        protocol = BoundedProtocol(self._http, connection, self._limits, self._table.remove)
        try:
            transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol, accepted, **self._tls_options()
            )
            connection.close = transport.abort
        except BaseException as error:
            self._table.remove(connection)
            # A handshake that fails or takes too long is the client's affair.
            if not isinstance(error, OSError):
                raise

    def _tls_options(self) -> dict[str, Any]:
        if self._tls is None:
            return {}
        return {
            "ssl": self._tls,
            "ssl_handshake_timeout": self._limits.handshake_seconds,
            "ssl_shutdown_timeout": TLS_SHUTDOWN_SECONDS,
        }

    async def _close_expired(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            for connection in self._table.expired(asyncio.get_running_loop().time()):
                connection.close()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        protocol = request.protocol
        assert isinstance(protocol, BoundedProtocol)
        loop, connection = asyncio.get_running_loop(), protocol.connection
        connection.begin(loop.time() + self._limits.request_seconds)
        response = await self._respond(request, connection)
        if request.content.is_eof():
            connection.finish(loop.time() + self._limits.idle_seconds)
        else:
            # The client still sends a body that is not read: it gets the response, and a moment to read that.
            response.force_close()
            connection.begin(loop.time() + UNREAD_BODY_SECONDS)
        return response

    async def _respond(self, request: web.BaseRequest, connection: Connection) -> web.StreamResponse:
        try:
            return await self._handler(request, connection)
        except ConnectionError:
            raise
        except Exception:
            log.exception("a request failed", extra={"path": request.path})
            return web.Response(status=500, text="an unexpected error; see the log of the operator\n")


async def listening_sockets(host: str | None, port: int) -> list[socket.socket]:
    """One for each address of the host; without a host one for all addresses of IPv4 and, where it exists, IPv6."""
    if not host:
        both = socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        return [_listen(("", port), family, both)]
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys((family, address[:2]) for family, _, _, _, address in found)
    listeners: list[socket.socket] = []
    try:
        for family, address in addresses:
            listeners.append(_listen(address, family))
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def _listen(address: Any, family: int, dualstack_ipv6: bool = False) -> socket.socket:
    listener = socket.create_server(address, family=family, backlog=BACKLOG, dualstack_ipv6=dualstack_ipv6)
    listener.setblocking(False)
    return listener


class _OpenConnection(NamedTuple):
    transport: asyncio.Transport
    socket: TransportSocket

    @property
    def is_open(self) -> bool:
        return self.socket.fileno() >= 0


def _open_connections(protocols: web.Server) -> list[_OpenConnection]:
    """Call it before the shutdown, which drops them."""
    transports = [protocol.transport for protocol in protocols.connections if protocol.transport]
    return [_OpenConnection(transport, transport.get_extra_info("socket")) for transport in transports]


async def _close_connections(connections: list[_OpenConnection]) -> None:
    """Waits briefly for both sides to close, then aborts the rest.

    asyncio waits for the peer's TLS close_notify. An API server with an idle connection may take its time for that, and
    a stopping process has little.
    """
    for _ in range(CLOSE_CHECKS):
        if not any(connection.is_open for connection in connections):
            return
        await asyncio.sleep(CLOSE_CHECK_SECONDS)
    for connection in connections:
        if connection.is_open:
            connection.transport.abort()
    await asyncio.sleep(0)
