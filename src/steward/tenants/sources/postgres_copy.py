"""What PostgreSQL sends for COPY … TO STDOUT in its text format. Pure.

One row is one line, columns are apart by tabs, and whatever could be mistaken for either is written with a backslash.
"""

import re
from collections.abc import Iterator
from typing import Final

_ESCAPED: Final = re.compile(rb"\\(.)", re.DOTALL)
_LETTERS: Final = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_NULL: Final = rb"\N"


class Lines:
    """Cuts what arrives, in whatever pieces, into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def cut(self, piece: bytes) -> Iterator[bytes]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        yield from lines

    @property
    def is_whole(self) -> bool:
        """Whether the last line has ended."""
        return not self._rest


def fields_of(line: bytes) -> list[bytes | None]:
    return [_field(part) for part in line.split(b"\t")]


def _field(part: bytes) -> bytes | None:
    if b"\\" not in part:
        return part
    if part == _NULL:
        return None
    return _ESCAPED.sub(lambda found: _LETTERS.get(found[1], found[1]), part)


def count_in(status: str) -> int:
    """How many rows the server says it has sent, as in `COPY 12`; -1 where it says nothing of the kind."""
    word, _, number = status.partition(" ")
    return int(number) if word == "COPY" and number.isdecimal() else -1
