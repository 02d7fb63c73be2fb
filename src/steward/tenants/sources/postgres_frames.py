"""Stands before asyncpg, which believes whatever a server tells it: with a negative length, or a message of no kind, it
reads outside its memory or never comes to an end, and the whole process with it.

So no message reaches it that cannot be one. There is no other place for this: asyncpg makes its protocol itself, from
the class that it finds under this name. It is bound to versions in which that was seen to be so.
"""

import asyncio
import logging
import struct
from typing import Any, Final

import asyncpg
import asyncpg.protocol

log = logging.getLogger(__name__)

LONGEST: Final = 64 * 1024 * 1024
"""What one message, as a row is one, may hold: a value of a megabyte is more than a Tenant can."""
_HEAD: Final = 5
_LETTERS: Final = frozenset(b"ACDEGHIKNRSTVWZcdnstv123")
"""What a server's message may begin with."""
_LENGTH: Final = struct.Struct(">i")


class Frames:
    """Counts messages off, in whatever pieces they come: a letter, the length of what follows with itself, the rest."""

    def __init__(self) -> None:
        self._ahead = 0
        """Bytes of the present message that are still to come."""
        self._head = b""

    def are_sound_with(self, piece: bytes) -> bool:
        data = self._head + piece
        at = self._ahead
        while at + _HEAD <= len(data):
            (length,) = _LENGTH.unpack_from(data, at + 1)
            if data[at] not in _LETTERS or not _LENGTH.size <= length <= LONGEST:
                return False
            at += 1 + length
        self._head, self._ahead = data[at:], max(0, at - len(data))
        return True


class FramedProtocol(asyncpg.protocol.Protocol):  # type: ignore[misc]
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._frames = Frames()
        self._wire: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._wire = transport
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if not self._takes(data) and self._wire is not None:
            self._wire.abort()

    def _takes(self, data: bytes) -> bool:
        if not self._frames.are_sound_with(data):
            return False
        try:
            super().data_received(data)
        except Exception as error:
            # What it cannot read ends the connection in any case, and is told by the read that waits for it.
            log.debug("a message of a PostgreSQL server cannot be read: %s", error)
            return False
        return True


asyncpg.protocol.Protocol = FramedProtocol
connect: Final = asyncpg.connect
