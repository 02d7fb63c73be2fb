"""encoding/pem: the first block in a text, and a block as text."""

from __future__ import annotations

import re
from typing import NamedTuple

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.base_encoding import decode_base64, encode_base64

_BLOCK = re.compile(r"(?:^|\n)-----BEGIN ([^\n]*?)-----[ \t\r]*\n(.*?)-----END \1-----", re.DOTALL)
_HEADERS = re.compile(r"(?:[^\n:]*:[^\n]*\n)+\n?")


class Block(NamedTuple):
    kind: str
    content: bytes


def decode(text: str) -> Block | None:
    """The first block that is whole; None if there is none."""
    for found in _BLOCK.finditer(text):
        body = _HEADERS.sub("", found.group(2), count=1)
        try:
            return Block(
                found.group(1), decode_base64("".join(body.split()).encode("utf-8", "surrogateescape"))
            )
        except GoError:
            continue
    return None


def encode(kind: str, content: bytes) -> str:
    body = encode_base64(content)
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])
