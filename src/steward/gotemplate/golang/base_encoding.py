"""encoding/base64 and encoding/base32 in their standard alphabets, with the byte at which Go gives up."""

from __future__ import annotations

import base64
import re

from steward.gotemplate.errors import GoError

_BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_BASE32 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
_VALID64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\Z")
_NEWLINES = b"\r\n"
_PAD = ord("=")


def encode_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def encode_base32(raw: bytes) -> str:
    return base64.b32encode(raw).decode()


def decode_base64(raw: bytes) -> bytes:
    """Line ends are skipped; anything else that is not base64 is an error."""
    plain = raw.translate(None, _NEWLINES)
    if not _VALID64.match(plain):
        raise GoError(f"illegal base64 data at input byte {_bad_base64(raw)}")
    return base64.b64decode(plain)


def _bad_base64(raw: bytes) -> int:
    """Where Go's decoder, which reads four characters at a time, stops."""
    filled = 0
    for at, byte in enumerate(raw):
        if byte in _NEWLINES:
            continue
        if byte in _BASE64:
            filled = (filled + 1) % 4
        elif byte != _PAD or filled < 2:
            return at
        else:
            return _bad_padding(raw, at + 1, filled)
    return len(raw) - filled


def _bad_padding(raw: bytes, at: int, filled: int) -> int:
    at = _past_newlines(raw, at)
    if filled == 2:
        if at == len(raw):
            return at
        if raw[at] != _PAD:
            return at - 1
        at = _past_newlines(raw, at + 1)
    return at


def _past_newlines(raw: bytes, at: int) -> int:
    while at < len(raw) and raw[at] in _NEWLINES:
        at += 1
    return at


def decode_base32(raw: bytes) -> bytes:
    plain = raw.translate(None, _NEWLINES)
    out: list[bytes] = []
    for start in range(0, len(plain), 8):
        block, ended = _base32_block(plain, start)
        out.append(block)
        if ended:
            break
    return b"".join(out)


def _base32_block(plain: bytes, start: int) -> tuple[bytes, bool]:
    for place in range(8):
        at = start + place
        if at >= len(plain):
            raise _bad_base32(at - place)
        left = len(plain) - at - 1
        if plain[at] == _PAD and place >= 2 and left < 8:
            _check_base32_padding(plain, at, place)
            return base64.b32decode(plain[start:at] + b"=" * (8 - place)), True
        if plain[at] not in _BASE32:
            raise _bad_base32(at)
    return base64.b32decode(plain[start : start + 8]), False


def _check_base32_padding(plain: bytes, at: int, place: int) -> None:
    if len(plain) - at - 1 + place < 7:
        raise _bad_base32(len(plain))
    for extra in range(7 - place):
        following = at + 1 + extra
        if following < len(plain) and plain[following] != _PAD:
            raise _bad_base32(following - 1)
    if place in (3, 6):
        raise _bad_base32(at)


def _bad_base32(at: int) -> GoError:
    return GoError(f"illegal base32 data at input byte {at}")
