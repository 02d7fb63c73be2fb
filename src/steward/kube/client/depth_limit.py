"""Cuts values out of objects that are nested deeper than the decoder can read. Pure.

The API server accepts ten thousand levels, msgspec less than a thousand, and one such object must not make its whole
list or watch unreadable. A value that is too deep is replaced by a string. A view that reads it expects another type
and fails to decode: the object is then left out of the cache with a warning, and never cached with less than it holds.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_DEPTH: Final = 200
EVENT_MEMBER_DEPTH: Final = 2
"""The depth of an object's members in a watch event, `{"type": …, "object": {…}}`."""
LIST_MEMBER_DEPTH: Final = 3
"""Their depth in a list, `{"items": [{…}]}`."""
CUT_VALUE: Final = b'"nested too deeply"'
_OPENS: Final = b"{["
# Possessive quantifiers: a string of a megabyte takes one step, not one for each character.
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[][{}]', re.DOTALL)
_METADATA: Final = b'"metadata":'


class _Span(NamedTuple):
    start: int
    end: int


def cut_deep_values(body: bytes, members_at: int) -> bytes:
    """Replaces each member of an object that is too deep; of metadata, which every view reads, only its members."""
    pieces, kept = [], 0
    for span in _deep_spans(body, members_at):
        pieces += [body[kept : span.start], CUT_VALUE]
        kept = span.end
    return b"".join((*pieces, body[kept:]))


def _deep_spans(body: bytes, members_at: int) -> Iterator[_Span]:
    depth = deepest = start = 0
    cut_at = members_at + 1
    for found in _TOKEN.finditer(body):
        token = found[0]
        if token[0] in _OPENS:
            depth += 1
            deepest = max(deepest, depth)
            if depth == members_at + 1:
                cut_at = depth + body.endswith(_METADATA, 0, found.start())
            if depth == cut_at:
                start, deepest = found.start(), depth
        elif token in (b"}", b"]"):
            if depth == cut_at and deepest - depth > MAX_DEPTH:
                yield _Span(start, found.end())
            depth -= 1
