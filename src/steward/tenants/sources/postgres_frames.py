"""Validates the messages of a PostgreSQL server before asyncpg parses them.

asyncpg trusts the server: a negative length or an unknown message type makes it read outside its memory or loop
forever, and take the process down. Only valid messages are passed on to it. asyncpg offers no other hook: it creates
its protocol itself, from the class that it finds in its module. This works only with the versions that were tested.
"""

import asyncio
import logging
import struct
from typing import Any, Final

import asyncpg
import asyncpg.protocol

from steward.library_patches import replace_asyncpg_protocol

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The maximum size of one message, such as a row: even a value of one megabyte is too large for a Tenant."""
_HEAD: Final = 5
_LETTERS: Final = frozenset(b"ACDEGHIKNRSTVWZcdnstv123")
"""The types of messages that a server may send."""
_LENGTH: Final = struct.Struct(">i")


class MessageFrames:
    """Checks the headers of messages in a stream of pieces: a type, a length that includes itself, and the content."""

    def __init__(self) -> None:
        self._missing = 0
        """Bytes of the current message that have not arrived yet."""
        self._head = b""

    def are_valid_with(self, piece: bytes) -> bool:
        data = self._head + piece
        at = self._missing
        while at + _HEAD <= len(data):
            (length,) = _LENGTH.unpack_from(data, at + 1)
            if data[at] not in _LETTERS or not _LENGTH.size <= length <= MAX_MESSAGE_BYTES:
                return False
            at += 1 + length
        self._head, self._missing = data[at:], max(0, at - len(data))
        return True


class ValidatingProtocol(asyncpg.protocol.Protocol):  # type: ignore[misc]
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._frames = MessageFrames()
        self._wire: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._wire = transport
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if not self._accepts(data) and self._wire is not None:
            self._wire.abort()

    def _accepts(self, data: bytes) -> bool:
        if not self._frames.are_valid_with(data):
            return False
        try:
            super().data_received(data)
        except Exception as error:
            # The connection is closed in any case, and the pending read reports the error.
            log.debug("a message of a PostgreSQL server cannot be read: %s", error)
            return False
        return True


replace_asyncpg_protocol(ValidatingProtocol)
connect: Final = asyncpg.connect
