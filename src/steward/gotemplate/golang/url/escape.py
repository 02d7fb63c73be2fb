"""Percent-encoding as net/url does it: which bytes may stand depends on the part of the URL."""

from __future__ import annotations

import functools
import re

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.quote import quote
from steward.gotemplate.values.values import from_bytes, to_bytes

_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~"

PATH = frozenset(_UNRESERVED + b"$&+,/:;=@")
USER = frozenset(_UNRESERVED + b"$&+,;=")
QUERY = frozenset(_UNRESERVED)
FRAGMENT = frozenset(_UNRESERVED + b"$&+,/:;=?@!()*")
HOST = frozenset(_UNRESERVED + b"!$&'()*+,;=:[]<>\"")
# A zone's bytes are a host's; the set differs by identity, since its escapes follow another rule.
ZONE = frozenset([*HOST, 0x100])

_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})?")


def escape(text: str, allowed: frozenset[int]) -> str:
    """Percent-encodes what is not allowed; in a query a blank is a plus."""
    raw = to_bytes(text)
    if allowed.issuperset(raw):
        return text
    return "".join(map(_escapes(allowed).__getitem__, raw))


@functools.cache
def _escapes(allowed: frozenset[int]) -> list[str]:
    """What each byte becomes."""
    texts = [chr(byte) if byte in allowed else f"%{byte:02X}" for byte in range(256)]
    if allowed is QUERY:
        texts[ord(" ")] = "+"
    return texts


def unescape(text: str, allowed: frozenset[int]) -> str:
    """Decodes; malformed escapes, and bytes that no host may hold, are errors."""
    if allowed in (HOST, ZONE):
        _check_host(text, allowed)
    else:
        _check_escapes(text)
    if allowed is QUERY:
        text = text.replace("+", " ")
    if "%" not in text:
        return text
    parts = to_bytes(text).split(b"%")
    return from_bytes(parts[0] + b"".join(bytes([int(part[:2], 16)]) + part[2:] for part in parts[1:]))


def _check_escapes(text: str) -> None:
    for found in _ESCAPE.finditer(text):
        if found.group(1) is None:
            raise _bad_escape(text, found.start())


def _bad_escape(text: str, at: int) -> GoError:
    return GoError(f"invalid URL escape {quote(from_bytes(to_bytes(text[at:])[:3]))}")


def _check_host(text: str, allowed: frozenset[int]) -> None:
    at = 0
    while at < len(text):
        char = text[at]
        if char == "%":
            found = _ESCAPE.match(text, at)
            if found is None or found.group(1) is None or not _host_escape_fits(found.group(1), allowed):
                raise _bad_escape(text, at)
            at += 2
        elif char < "\x80" and ord(char) not in allowed:
            raise GoError(f"invalid character {quote(char)} in host name")
        at += 1


def _host_escape_fits(digits: str, allowed: frozenset[int]) -> bool:
    byte = int(digits, 16)
    if digits == "25":
        return True
    return byte >= 0x80 if allowed is HOST else byte == 0x20 or byte in HOST


def valid_encoded(text: str, allowed: frozenset[int]) -> bool:
    """Whether an encoded text needs no further encoding."""
    return allowed.union(b"!$&'()*+,;=:@[]%").issuperset(to_bytes(text))
