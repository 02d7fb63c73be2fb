"""Objects that are nested deeper than the decoder goes, cut down to what can be read of them. Pure.

A server takes ten thousand levels, the decoder gives up at less than a thousand, and one such object must not hide all
others of its list or stream. What is too deep becomes a text where any view that reads it expects something else: the
object is then left out of the cache by its name, and never taken for one that has less in it than it has.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

DEEPEST: Final = 200
IN_EVENT: Final = 2
"""How deep the members of an object stand in a line of a watch, `{"type": …, "object": {…}}`."""
IN_LIST: Final = 3
"""And in a list, `{"items": [{…}]}`."""
CUT: Final = b'"nested too deeply"'
_OPENS: Final = b"{["
# Quantifiers that never go back: a text of a megabyte costs one step, not one for each letter.
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[][{}]', re.DOTALL)
_METADATA: Final = b'"metadata":'


class _Span(NamedTuple):
    start: int
    end: int


def shallow(body: bytes, members_at: int) -> bytes:
    """With every member of an object that is too deep as a text. Of metadata, which all of us read, only its parts."""
    pieces, kept = [], 0
    for span in _too_deep(body, members_at):
        pieces += [body[kept : span.start], CUT]
        kept = span.end
    return b"".join((*pieces, body[kept:]))


def _too_deep(body: bytes, members_at: int) -> Iterator[_Span]:
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
            if depth == cut_at and deepest - depth > DEEPEST:
                yield _Span(start, found.end())
            depth -= 1
