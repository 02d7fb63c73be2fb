"""aiohttp's HTTP protocol for one connection, with limits on what the client may send and when."""

import asyncio
import logging
from collections.abc import Callable

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from steward.serving.connections import Connection
from steward.serving.limits import ServerLimits

LINGERING_SECONDS = 2.0

# aiohttp logs a traceback for each malformed request. Any client can send those, so they are shown at debug level only.
protocol_log = logging.getLogger(__name__)
protocol_log.addFilter(lambda record: protocol_log.isEnabledFor(logging.DEBUG))


class BoundedProtocol(RequestHandler):
    __slots__ = ("_header_limit", "_on_lost", "connection")

    def __init__(
        self,
        server: web.Server,
        connection: Connection,
        limits: ServerLimits,
        on_lost: Callable[[Connection], None],
    ) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # aiohttp documents None
            logger=protocol_log,
            keepalive_timeout=limits.idle_seconds,
            lingering_time=LINGERING_SECONDS,
            max_line_size=limits.header_field_bytes,
            max_field_size=limits.header_field_bytes,
            max_headers=limits.header_fields,
            read_bufsize=limits.read_buffer_bytes,
            # A small compressed body can be a large one.
            auto_decompress=False,
        )
        self.connection = connection
        self._header_limit = limits.header_bytes
        self._on_lost = on_lost

    def data_received(self, data: bytes) -> None:
        # aiohttp calls this with no data to parse what it has kept back.
        if data and not self.connection.may_receive(len(data), self._header_limit):
            self.connection.close()
            return
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._on_lost(self.connection)
