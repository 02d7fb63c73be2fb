"""Parses the text format of COPY … TO STDOUT. Pure.

A row is a line, columns are separated by tabs, and special characters are escaped with a backslash.
"""

import re
from collections.abc import Iterator
from typing import Final

_ESCAPED: Final = re.compile(rb"\\(.)", re.DOTALL)
_LETTERS: Final = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_NULL: Final = rb"\N"


class CopyLines:
    """Splits a stream, received in pieces of any size, into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def split(self, piece: bytes) -> Iterator[bytes]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        yield from lines

    @property
    def is_complete(self) -> bool:
        """Whether the last line is complete."""
        return not self._rest


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
    return int(number) if word == "COPY" and number.isdecimal() else -1
