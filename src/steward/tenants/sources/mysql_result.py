"""Reads the results of statements packet by packet, below the cursors of the driver, with bounded memory.

The driver reads ahead without a limit and keeps a packet of any size, so that one row of a hostile server fills the
memory of the process. Here the transport is paused while enough bytes wait, no packet above a limit is kept, and a row
above it is skipped as it arrives. The driver offers no hook for that: this uses attributes of its connection that are
not public, and works only with the versions that were tested.
"""

from typing import Any, Final, NamedTuple

import asyncmy.connection
from asyncmy.constants.COMMAND import COM_QUERY
from asyncmy.errors import raise_mysql_exception

from steward.library_patches import replace_asyncmy_protocol
from steward.tenants.errors import BrokenRead
from steward.tenants.sources import mysql_packets as packets
from steward.tenants.sources.limits import ROW_BYTES

HEAD_BYTES: Final = 4
READ_AHEAD_BYTES: Final = 256 << 10
MAX_PACKET_BYTES: Final = ROW_BYTES
FULL_PACKET: Final = 0xFFFFFF
"""The size of a packet that the next one continues."""
UID_BYTES: Final = 4096
"""What is kept of a row that is too large: enough for its first column, the uid."""


class BoundedProtocol(asyncmy.connection._MySQLProtocol):  # type: ignore[misc,name-defined]
    """Receives only what is needed, and a little ahead."""

    def __init__(self, loop: Any) -> None:
        super().__init__(loop)
        self._enough = READ_AHEAD_BYTES

    def buffer_updated(self, nbytes: int) -> None:
        super().buffer_updated(nbytes)
        if self.length - self.pos >= self._enough and self.transport is not None:
            self.transport.pause_reading()

    async def wait_for_data(self, need: int) -> None:
        """ValueError for more than a packet may have."""
        if need > MAX_PACKET_BYTES:
            raise ValueError(f"the server sends a packet of {need} bytes")
        self._enough = max(need, READ_AHEAD_BYTES)
        if self.transport is not None:
            self.transport.resume_reading()
        await super().wait_for_data(need)


class SkippedRow(NamedTuple):
    """A row that is too large, of which only the beginning was kept."""

    beginning: bytes


class ResultReader:
    def __init__(self, connection: Any, max_bytes: int) -> None:
        self._connection = connection
        self._remaining = max_bytes

    async def run(self, statement: str) -> None:
        """Runs a statement that has no rows; ValueError if the server sends any, or requests a file."""
        await self._connection._execute_command(COM_QUERY, statement)
        payload = await self._packet()
        if payload[0] != packets.OK:
            raise ValueError("the server answers a statement of the session with a result")

    async def select(self, query: str, width: int) -> list[packets.ValueFormat]:
        """The formats of the columns; ValueError unless there are as many as requested. The rows are read next."""
        await self._connection._execute_command(COM_QUERY, query)
        count = packets.column_count(await self._packet())
        if count != width:
            raise ValueError(f"the response has {count} columns, and {width} were requested")
        formats = [packets.column_format(await self._packet()) for _ in range(width)]
        if not self._has_ok_at_end and not packets.ends_rows(await self._packet(), has_ok_at_end=False):
            raise ValueError("the columns do not end where they should")
        return formats

    async def next_row(self) -> bytes | SkippedRow | None:
        """The packet of the next row; None after the last."""
        size = await self._next_size()
        if size > MAX_PACKET_BYTES:
            return await self._skip_row(size)
        payload = await self._payload(size)
        if not packets.ends_rows(payload, self._has_ok_at_end):
            return payload
        if packets.has_more_results(payload, self._has_ok_at_end):
            raise ValueError("the server announces another result")
        return None

    async def _skip_row(self, size: int) -> SkippedRow:
        beginning = await self._payload(UID_BYTES)
        await self._skip(size - UID_BYTES)
        while size == FULL_PACKET:
            size = await self._next_size()
            await self._skip(size)
        return SkippedRow(beginning)

    async def _packet(self) -> bytes:
        return await self._payload(await self._next_size())

    async def _next_size(self) -> int:
        """The size of the next packet. ValueError for one out of order; BrokenRead after too many bytes."""
        head: bytes = await self._connection._read_bytes(HEAD_BYTES)
        if head[3] != self._connection._next_seq_id:
            raise ValueError("the packets of the server are out of order")
        self._connection._next_seq_id = (head[3] + 1) % 256
        size = int.from_bytes(head[:3], "little")
        self._remaining -= HEAD_BYTES + size
        if self._remaining < 0:
            raise BrokenRead(
                "the table is too large, the server sent more than a read may have: read a view of fewer columns"
            )
        return size

    async def _payload(self, size: int) -> bytes:
        """ValueError for an empty packet; the error that the server reports."""
        payload: bytes = await self._connection._read_bytes(size)
        if not payload:
            raise ValueError("the server sends an empty packet")
        if payload[0] == packets.ERROR:
            raise_mysql_exception(payload)
        return payload

    async def _skip(self, size: int) -> None:
        while size > 0:
            received = self._connection._proto
            if received.length == received.pos:
                await self._connection._fill_buffer(1)
            skipped = min(size, received.length - received.pos)
            received.pos += skipped
            size -= skipped

    @property
    def _has_ok_at_end(self) -> bool:
        """Whether the rows end with an OK packet, and no packet ends the columns."""
        return bool(self._connection._deprecate_eof)


replace_asyncmy_protocol(BoundedProtocol)
connect: Final = asyncmy.connect
