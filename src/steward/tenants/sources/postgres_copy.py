"""Parses the text format of COPY … TO STDOUT. Pure.

A row is a line, columns are separated by tabs, and special characters are escaped with a backslash.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from steward.tenants.sources.limits import ROW_BYTES

BEGINNING_BYTES: Final = 4096
"""What is kept of a line that is too long: enough for its first column, the uid."""
_ESCAPED: Final = re.compile(rb"\\(.)", re.DOTALL)
_LETTERS: Final = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_NULL: Final = rb"\N"


class LongLine(NamedTuple):
    """A line that is too long, of which only the beginning was kept."""

    beginning: bytes


class CopyLines:
    """Splits a stream, received in pieces of any size, into lines. Keeps no more of a line than a row may have."""

    def __init__(self, max_bytes: int = ROW_BYTES) -> None:
        self._max_bytes = max_bytes
        self._line = bytearray()
        """What has arrived of the current line."""
        self._size = 0

    def split(self, piece: bytes) -> Iterator[bytes | LongLine]:
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._add(line)
            yield self._take()
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        self._line += piece
        if self._size > self._max_bytes:
            del self._line[BEGINNING_BYTES:]

    def _take(self) -> bytes | LongLine:
        line = bytes(self._line)
        is_long = self._size > self._max_bytes
        self._line.clear()
        self._size = 0
        return LongLine(line) if is_long else line

    @property
    def is_complete(self) -> bool:
        """Whether the last line is complete."""
        return not self._size


def copy_fields(line: bytes) -> list[bytes | None]:
    return [_field(part) for part in line.split(b"\t")]


def _field(part: bytes) -> bytes | None:
    if b"\\" not in part:
        return part
    if part == _NULL:
        return None
    return _ESCAPED.sub(lambda found: _LETTERS.get(found[1], found[1]), part)


def copied_rows(status: str) -> int:
    """The number of rows that the server reports, as in `COPY 12`; -1 for any other status."""
    word, _, number = status.partition(" ")
    return int(number) if word == "COPY" and number.isdecimal() and len(number) < 20 else -1
