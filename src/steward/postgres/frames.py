"""Validates and bounds the messages of a PostgreSQL server before asyncpg parses them.

asyncpg trusts the server: a negative length or an unknown message type makes it read outside its memory or loop
forever, and take the process down. It also keeps a message until it is complete, and hashes the password as often as
the server demands, while nothing else in the process runs. Only valid messages are passed on to it, and the rows of a
COPY in pieces as they arrive, so that a row of any size takes no memory here. asyncpg offers no other hook: it creates
its protocol itself, from the class that it finds in its module. This works only with the versions that were tested.
"""

import asyncio
import logging
import re
import struct
from typing import Any, Final

import asyncpg
import asyncpg.protocol

from steward.library_patches import replace_asyncpg_protocol

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES: Final = 1 << 20
"""The maximum size of a message that is no row, such as an error."""
MAX_OTHER_BYTES: Final = 4 << 20
"""The maximum size of all messages of a connection that are no rows. asyncpg keeps the settings that a server sends."""
MAX_LOGIN_BYTES: Final = 16 << 10
MAX_HASHES: Final = 600_000
"""How often a server may have the password hashed: that takes a few tenths of a second. PostgreSQL demands 4,096."""
_HEAD: Final = 5
_ROW: Final = ord("d")
_LOGIN: Final = ord("R")
_LETTERS: Final = frozenset(b"ACDEGHIKNRSTVWZcdnstv123")
"""The types of messages that a server may send."""
_LENGTH: Final = struct.Struct(">i")
_HASHES: Final = re.compile(rb",i=(\d+)", re.ASCII)


class InvalidMessage(ValueError):
    pass


class MessageFrames:
    """Checks the messages in a stream of pieces: a type, a length that includes itself, and the content."""

    def __init__(self) -> None:
        self._missing = 0
        """Bytes of the current message that have not arrived yet."""
        self._letter = 0
        self._head = b""
        self._login = b""
        """A message about the login is held back until it is complete."""
        self._other_bytes = 0

    def pass_on(self, piece: bytes) -> bytes:
        """What the driver may parse now; InvalidMessage if the connection has to be closed."""
        data, self._head = self._head + piece, b""
        passed: list[bytes] = []
        at = 0
        while at < len(data):
            if self._missing:
                part = data[at : at + self._missing]
                self._missing -= len(part)
                at += len(part)
                passed.append(self._content(part))
            elif at + _HEAD <= len(data):
                passed.append(self._start(data[at : at + _HEAD]))
                at += _HEAD
            else:
                self._head, at = data[at:], len(data)
        return b"".join(passed)

    def _start(self, head: bytes) -> bytes:
        letter, (length,) = head[0], _LENGTH.unpack_from(head, 1)
        # A part of a row is never empty: no limit of bytes would end a stream of empty ones.
        shortest = _LENGTH.size + (letter == _ROW)
        if letter not in _LETTERS or length < shortest:
            raise InvalidMessage("the server sends invalid messages")
        self._letter, self._missing = letter, length - _LENGTH.size
        if letter == _ROW:
            return b""
        self._count_other(1 + length)
        if letter != _LOGIN:
            return head
        self._login = head
        return self._content(b"")

    def _count_other(self, size: int) -> None:
        self._other_bytes += size
        largest = MAX_LOGIN_BYTES if self._letter == _LOGIN else MAX_MESSAGE_BYTES
        if size > largest or self._other_bytes > MAX_OTHER_BYTES:
            raise InvalidMessage("the server sends messages that are too large")

    def _content(self, part: bytes) -> bytes:
        if self._letter == _ROW:
            return bytes((_ROW,)) + _LENGTH.pack(_LENGTH.size + len(part)) + part
        if self._letter != _LOGIN:
            return part
        self._login += part
        if self._missing:
            return b""
        _check_hashes(self._login)
        return self._login


def _check_hashes(login: bytes) -> None:
    found = _HASHES.search(login)
    if found and (len(found[1]) > len(str(MAX_HASHES)) or int(found[1]) > MAX_HASHES):
        raise InvalidMessage(
            f"the server demands that the password is hashed more than {MAX_HASHES} times: lower scram_iterations"
        )


class ValidatingProtocol(asyncpg.protocol.Protocol):  # type: ignore[misc]
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._frames = MessageFrames()
        self._wire: asyncio.Transport | None = None
        self._problem: InvalidMessage | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._wire = transport
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if not self._accepts(data) and self._wire is not None:
            self._wire.abort()

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error or self._problem)

    def _accepts(self, data: bytes) -> bool:
        if self._problem is not None:
            return False
        try:
            super().data_received(self._frames.pass_on(data))
        except InvalidMessage as error:
            self._problem = error
            return False
        except Exception as error:
            # The connection is closed in any case, and the pending read reports the error.
            log.debug("a message of a PostgreSQL server cannot be read: %s", type(error).__name__)
            return False
        return True


replace_asyncpg_protocol(ValidatingProtocol)
connect: Final = asyncpg.connect
