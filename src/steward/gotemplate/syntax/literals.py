"""Go's literals: quoted strings, characters, and numbers with all their readings at once."""

from __future__ import annotations

import re
from typing import Final

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.quote import quote
from steward.gotemplate.golang.strconv import parse_float, parse_int, parse_uint
from steward.gotemplate.syntax.lexer import CHAR_CONSTANT, COMPLEX
from steward.gotemplate.syntax.nodes import Number
from steward.gotemplate.values.values import canonical

INVALID: Final = "invalid syntax"
_SIMPLE_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
}
_HEX_LENGTHS: Final = {"x": 2, "u": 4, "U": 8}
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_OCTAL: Final = frozenset("01234567")


def unquote(quoted: str) -> str:
    """strconv.Unquote of what the lexer took for a string."""
    body = quoted[1:-1]
    if quoted[0] == "`":
        return body.replace("\r", "") if "\r" in body else body
    if "\\" not in body:
        return body
    pieces = []
    pos = 0
    while pos < len(body):
        char, pos, _ = read_character(body, pos, '"')
        pieces.append(char)
    return canonical("".join(pieces))


def read_character(text: str, pos: int, mark: str) -> tuple[str, int, int]:
    """One character or escape: the string it stands for, the position after it, and its code.

    `\\x` and octal escapes are bytes: above 0x7f they are held as such until their string is put together.
    """
    char = text[pos : pos + 1]
    if char in ("", "\n", mark):
        raise GoError(INVALID)
    if char != "\\":
        code = 0xFFFD if "\udc80" <= char <= "\udcff" else ord(char)
        return char, pos + 1, code
    return _escape(text, pos + 1, mark)


def _escape(text: str, pos: int, mark: str) -> tuple[str, int, int]:
    letter = text[pos : pos + 1]
    if letter in _HEX_LENGTHS:
        return _hex_escape(text, pos + 1, letter)
    if letter in _OCTAL:
        return _octal_escape(text, pos)
    if letter not in _SIMPLE_ESCAPES or (letter in ("'", '"') and letter != mark):
        raise GoError(INVALID)
    char = _SIMPLE_ESCAPES[letter]
    return char, pos + 1, ord(char)


def _hex_escape(text: str, pos: int, letter: str) -> tuple[str, int, int]:
    end = pos + _HEX_LENGTHS[letter]
    digits = text[pos:end]
    if len(digits) < end - pos or not _HEX.issuperset(digits):
        raise GoError(INVALID)
    code = int(digits, 16)
    if letter == "x":
        return _byte(code), end, code
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise GoError(INVALID)
    return chr(code), end, code


def _octal_escape(text: str, pos: int) -> tuple[str, int, int]:
    digits = text[pos : pos + 3]
    if len(digits) < 3 or not _OCTAL.issuperset(digits):
        raise GoError(INVALID)
    code = int(digits, 8)
    if code > 0xFF:
        raise GoError(INVALID)
    return _byte(code), pos + 3, code


def _byte(code: int) -> str:
    return chr(code) if code < 0x80 else chr(0xDC00 + code)


def number(pos: int, text: str, kind: str) -> Number:
    """A number literal, with every type it may serve as."""
    made = Number(pos, text)
    if text.isdigit() and text.isascii() and text[0] != "0" and len(text) < 18:
        made.as_int = made.as_uint = int(text)
        made.as_float = float(text)
    elif kind == CHAR_CONSTANT:
        _read_rune(made)
    elif kind == COMPLEX:
        _set_complex(made, _read_complex(text))
    elif not _read_imaginary(made):
        _read_real(made)
    return made


def _read_rune(made: Number) -> None:
    text = made.text
    _, end, code = read_character(text, 1, "'")
    if text[end:] != "'":
        raise GoError(f"malformed character constant: {text}")
    made.as_int = made.as_uint = code
    made.as_float = float(code)


_DIGITS: Final = (
    r"(?:0[xX][0-9a-fA-F_]*|0[oO][0-7_]*|0[bB][01_]*|[0-9_]*)(?:\.[0-9a-fA-F_]*)?(?:[eEpP][+-]?[0-9_]*)?"
)


def _read_complex(text: str) -> complex:
    parts = re.match(rf"([+-]?{_DIGITS})([+-]{_DIGITS})i", text)
    if parts is None:
        raise GoError("syntax error scanning complex number")
    return complex(parse_float(parts[1]), parse_float(parts[2]))


def _read_imaginary(made: Number) -> bool:
    if not made.text.endswith("i"):
        return False
    try:
        _set_complex(made, complex(0, parse_float(made.text[:-1])))
    except GoError:
        return False
    return True


def _set_complex(made: Number, value: complex) -> None:
    made.as_complex = value
    if value.imag == 0:
        made.as_float = value.real
        _set_integers(made, value.real)


def _set_integers(made: Number, value: float) -> None:
    if value.is_integer():
        if -(2.0**63) <= value < 2.0**63:
            made.as_int = int(value)
        if 0 <= value < 2.0**64:
            made.as_uint = int(value)


def _read_real(made: Number) -> None:
    text = made.text
    made.as_uint = _attempt(parse_uint, text)
    made.as_int = _attempt(parse_int, text)
    if made.as_int == 0 and made.as_uint is None:
        made.as_uint = 0
    if made.as_int is not None:
        made.as_float = float(made.as_int)
    elif made.as_uint is not None:
        made.as_float = float(made.as_uint)
    else:
        _read_float(made)


def _attempt(read: object, text: str) -> int | None:
    try:
        return read(text, 0)  # type: ignore[operator, no-any-return]
    except GoError:
        return None


def _read_float(made: Number) -> None:
    text = made.text
    try:
        value = parse_float(text)
    except GoError:
        raise GoError(f"illegal number syntax: {quote(text)}") from None
    if not any(mark in text for mark in ".eEpP"):
        raise GoError(f"integer overflow: {quote(text)}")
    made.as_float = value
    _set_integers(made, value)
