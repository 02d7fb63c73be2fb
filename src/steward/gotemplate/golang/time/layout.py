"""Go's time layouts: the pieces of the reference time `Mon Jan 2 15:04:05 MST 2006` inside a text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

# Longer pieces stand before their own beginnings; a name in short form may not run on in lower case.
_CHUNK = re.compile(
    r"""
      January | Jan(?![a-z]) | Monday | Mon(?![a-z]) | MST
    | 0[1-6] | 002 | 15 | 1 | 2006 | (?<=_)2006 | _2(?!006) | __2 | 2 | 3 | 4 | 5 | PM | pm
    | -070000 | -07:00:00 | -0700 | -07:00 | -07
    | Z070000 | Z07:00:00 | Z0700 | Z07:00 | Z07
    | [.,](?:0+|9+)(?![0-9])
    """,
    re.VERBOSE,
)


class Chunk(NamedTuple):
    """Literal text, then one piece of the reference time; the last one of a layout has no piece."""

    literal: str
    piece: str


def chunks(layout: str) -> tuple[Chunk, ...]:
    """The layout in pieces; those of a usual length are kept."""
    return _kept(layout) if len(layout) <= 100 else _chunks(layout)


def _chunks(layout: str) -> tuple[Chunk, ...]:
    found: list[Chunk] = []
    at = 0
    for piece in _CHUNK.finditer(layout):
        found.append(Chunk(layout[at : piece.start()], piece.group()))
        at = piece.end()
    found.append(Chunk(layout[at:], ""))
    return tuple(found)


_kept = lru_cache(maxsize=256)(_chunks)


def is_fraction(piece: str) -> bool:
    return piece[:1] in (".", ",") and piece != ""
