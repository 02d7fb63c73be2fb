"""Go's strconv: numbers from text, with its base prefixes, underscores, ranges and error words."""

import re

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.quote import quote

MAX_INT64 = (1 << 63) - 1
MIN_INT64 = -(1 << 63)
MAX_UINT64 = (1 << 64) - 1

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_BASE_PREFIXES = {"b": 2, "o": 8, "x": 16}
_DECIMAL_FLOAT = re.compile(r"[+-]?(?:[0-9_]+\.?[0-9_]*|\.[0-9_]+)(?:[eE][+-]?[0-9][0-9_]*)?\Z")
_HEX_FLOAT = re.compile(r"[+-]?0[xX][0-9a-fA-F_]*\.?[0-9a-fA-F_]*[pP][+-]?[0-9][0-9_]*\Z")
_SPECIAL_FLOATS = {"inf": "inf", "infinity": "inf", "nan": "nan"}


class GoSyntaxError(GoError):
    """Text that is no number. Most callers take 0 for it, so the text is quoted only for those who ask."""

    def __init__(self, function: str, given: str, why: str = "invalid syntax") -> None:
        super().__init__(why)
        self._function = function
        self._given = given

    @property
    def text(self) -> str:
        return f"strconv.{self._function}: parsing {quote(self._given)}: {super().text}"


class GoRangeError(GoSyntaxError):
    """A number that does not fit; Go returns the nearest one beside the error, and some callers use it."""

    def __init__(self, function: str, given: str, nearest: float) -> None:
        super().__init__(function, given, "value out of range")
        self.nearest = nearest


def parse_uint(text: str, base: int) -> int:
    """An unsigned 64-bit number; base 0 reads the base from the prefix and allows underscores."""
    number = _magnitude(text, base)
    if number is None:
        raise GoSyntaxError("ParseUint", text)
    if number > MAX_UINT64:
        raise GoRangeError("ParseUint", text, MAX_UINT64)
    return number


def parse_int(text: str, base: int, function: str = "ParseInt") -> int:
    """A signed 64-bit number; the function names itself in the error."""
    number = _magnitude(text[1:] if text[:1] in ("+", "-") else text, base)
    if number is None:
        raise GoSyntaxError(function, text)
    if text[0] == "-":
        number = -number
    if not MIN_INT64 <= number <= MAX_INT64:
        raise GoRangeError(function, text, max(MIN_INT64, min(number, MAX_INT64)))
    return number


def atoi(text: str) -> int:
    """Decimal only, as Go's Atoi."""
    return parse_int(text, 10, "Atoi")


def _magnitude(text: str, base: int) -> int | None:
    if not text or not text.isascii():
        return None
    return _prefixed(text) if base == 0 else _digits(text, base)


def _prefixed(text: str) -> int | None:
    if "_" in text and not underscores_fit(text):
        return None
    plain = text.replace("_", "")
    if plain[:1] != "0":
        return _digits(plain, 10)
    base = _BASE_PREFIXES.get(plain[1:2].lower()) if len(plain) >= 3 else None
    if base is not None:
        return _digits(plain[2:], base)
    return _digits(plain[1:], 8) if len(plain) > 1 else 0


def underscores_fit(text: str) -> bool:
    """Whether every underscore stands between digits, or between a base prefix and a digit."""
    body = text[1:] if text[:1] in ("+", "-") else text
    digits = _DIGITS[:10]
    before = "^"
    if body[:1] == "0" and body[1:2].lower() in ("b", "o", "x"):
        digits = _DIGITS[:16] if body[1] in "xX" else digits
        before, body = "0", body[2:]
    return re.search(f"(?<![{digits}])_|_(?![{digits}])", before + body.lower()) is None


def _digits(text: str, base: int) -> int | None:
    if not text:
        return None
    number = 0
    for char in text.lower().lstrip("0"):
        digit = _DIGITS.find(char)
        if digit < 0 or digit >= base:
            return None
        number = number * base + digit
        if number > MAX_UINT64:
            # Go stops reading here too: what follows is never looked at.
            return number
    return number


def parse_float(text: str) -> float:
    """A float64: decimal, hexadecimal with a p exponent, inf and nan."""
    special = _special_float(text)
    if special is not None:
        return special
    plain = text.replace("_", "")
    if not text.isascii() or ("_" in text and not underscores_fit(text)):
        raise GoSyntaxError("ParseFloat", text)
    if _DECIMAL_FLOAT.match(plain):
        return _in_range(float(plain), text)
    if not _HEX_FLOAT.match(plain) or not re.search(
        "[0-9a-fA-F]", plain.lstrip("+-")[2:].lower().split("p")[0]
    ):
        raise GoSyntaxError("ParseFloat", text)
    return _hex_float(plain, text)


def _special_float(text: str) -> float | None:
    signed = text[:1] in ("+", "-")
    name = _SPECIAL_FLOATS.get((text[1:] if signed else text).lower()) if text.isascii() else None
    if name is None or (name == "nan" and signed):
        return None
    return float(("-" if text[0] == "-" else "") + name)


def _in_range(value: float, text: str) -> float:
    if value in (float("inf"), float("-inf")):
        raise GoRangeError("ParseFloat", text, value)
    return value


def _hex_float(plain: str, text: str) -> float:
    try:
        return float.fromhex(plain)
    except OverflowError:
        raise GoRangeError("ParseFloat", text, float("-inf" if plain[0] == "-" else "inf")) from None
