"""encoding/base64 and encoding/base32 in their standard alphabets, with the byte at which Go gives up."""

from __future__ import annotations

import base64
import re

from steward.gotemplate.errors import GoError

_VALID64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\Z")
_RUN64 = re.compile(rb"[A-Za-z0-9+/\r\n]*")
_RUN32 = re.compile(rb"[A-Z2-7]*")
_ALPHABET32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_SINGLE32 = frozenset(bytes([letter]) for letter in _ALPHABET32)
_LETTERS = _ALPHABET32.ljust(256, b"=")
_VALUES = bytes(max(_ALPHABET32.find(letter), 0) for letter in range(256))
# Forty bits lie in eight bytes; each step parts every group in two, by the mask of its right half and the way the left
# half goes: 40 → 20 → 10 → 5 bits.
_HALVES = (
    ((0xFFFFF).to_bytes(8, "big"), 12),
    ((0x3FF_0000_03FF).to_bytes(8, "big"), 6),
    ((0x1F_001F_001F_001F).to_bytes(8, "big"), 3),
)
_NEWLINES = b"\r\n"
_PAD = ord("=")


def encode_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def encode_base32(raw: bytes) -> str:
    """All five-bit groups at once: the standard library's loop takes a tenth of a second for a megabyte."""
    count = -(-len(raw) // 5)
    lanes = bytearray(8 * count)
    padded = raw.ljust(5 * count, b"\0")
    for place in range(5):
        lanes[3 + place :: 8] = padded[place::5]
    groups = int.from_bytes(lanes, "big")
    for low, shift in _HALVES:
        right = groups & int.from_bytes(low * count, "big")
        groups = (groups ^ right) << shift | right
    letters = groups.to_bytes(8 * count, "big").translate(_LETTERS).decode()
    used = -(-8 * len(raw) // 5)
    return letters[:used].ljust(8 * count, "=")


def decode_base64(raw: bytes) -> bytes:
    """Line ends are skipped; anything else that is not base64 is an error."""
    plain = raw.translate(None, _NEWLINES)
    if not _VALID64.match(plain):
        raise GoError(f"illegal base64 data at input byte {_bad_base64(raw)}")
    return base64.b64decode(plain)


def _bad_base64(raw: bytes) -> int:
    """Where Go's decoder, which reads four characters at a time, stops."""
    run = _RUN64.match(raw)
    at = run.end() if run else 0
    filled = len(raw[:at].translate(None, _NEWLINES)) % 4
    if at == len(raw):
        return len(raw) - filled
    if raw[at] != _PAD or filled < 2:
        return at
    return _bad_padding(raw, at + 1, filled)


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
    """All whole groups of eight letters at once; in the group after them is the padding, or what is no base32."""
    plain = raw.translate(None, _NEWLINES)
    run = _RUN32.match(plain)
    whole = run.end() // 8 * 8 if run else 0
    joined = _joined_base32(plain[:whole])
    return joined if whole == len(plain) else joined + _base32_end(plain, whole)


def _joined_base32(letters: bytes) -> bytes:
    """The reverse of what encode_base32 does: groups of five bits closed up to forty."""
    count = len(letters) // 8
    groups = int.from_bytes(letters.translate(_VALUES), "big")
    for low, shift in reversed(_HALVES):
        right = groups & int.from_bytes(low * count, "big")
        groups = (groups ^ right) >> shift | right
    lanes = groups.to_bytes(8 * count, "big")
    joined = bytearray(5 * count)
    for place in range(5):
        joined[place::5] = lanes[3 + place :: 8]
    return bytes(joined)


def _base32_end(plain: bytes, start: int) -> bytes:
    """The last group, which has padding or is broken."""
    place = next(place for place in range(8) if plain[start + place : start + place + 1] not in _SINGLE32)
    at = start + place
    if at >= len(plain):
        raise _bad_base32(start)
    if plain[at] != _PAD or place < 2 or len(plain) - at - 1 >= 8:
        raise _bad_base32(at)
    _check_base32_padding(plain, at, place)
    return base64.b32decode(plain[start:at] + b"=" * (8 - place))


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
