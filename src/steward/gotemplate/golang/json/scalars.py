"""How encoding/json writes a string and a number, and the three ways in which sprig asks for JSON."""

from __future__ import annotations

import re
from math import isfinite, isnan
from typing import Final

from steward.gotemplate.errors import GoError
from steward.gotemplate.values.values import to_bytes

_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
_PLAIN: Final = re.compile('["\\\\\x00-\x1f\u2028\u2029\udc80-\udcff]')
_HTML: Final = re.compile('["\\\\\x00-\x1f\u2028\u2029\udc80-\udcff<>&]')

# What is remembered of the maps that were written: few of them, and none with many or long keys.
_SHAPES: Final = 256
_SHAPE_KEYS: Final = 16
_SHAPE_CHARACTERS: Final = 512

Keys = tuple[tuple[str, str], ...]
"""The keys of a map in the order of their bytes, each with what stands before its value."""


class Style:
    """How to write: which characters are escaped, the indent ("" for none), and pointers around the value."""

    __slots__ = ("_shapes", "colon", "indent", "pointers", "special")

    def __init__(self, special: re.Pattern[str] = _HTML, indent: str = "", pointers: int = 0) -> None:
        self.special = special
        self.indent = indent
        self.pointers = pointers
        self.colon = ": " if indent else ":"
        self._shapes: dict[tuple[str, ...], Keys] = {}

    def keys(self, names: tuple[str, ...]) -> Keys:
        """A row's maps have the same keys as the next row's: to sort and quote them again would take longest of all."""
        known = self._shapes.get(names)
        return self._learned(names) if known is None else known

    def _learned(self, names: tuple[str, ...]) -> Keys:
        ordered = sorted(names) if "".join(names).isascii() else sorted(names, key=to_bytes)
        made = tuple([(name, quote_json(name, self.special) + self.colon) for name in ordered])
        if len(names) <= _SHAPE_KEYS and sum(map(len, names)) <= _SHAPE_CHARACTERS:
            if len(self._shapes) >= _SHAPES:
                self._shapes.clear()
            self._shapes[names] = made
        return made


COMPACT: Final = Style()
PRETTY: Final = Style(indent="  ")
RAW: Final = Style(special=_PLAIN, pointers=1)


def quote_json(text: str, special: re.Pattern[str]) -> str:
    """A JSON string; a byte that is not UTF-8 becomes the escape of U+FFFD."""
    # Letters and digits alone are by far the most frequent, and quicker seen than searched.
    if text.isidentifier() or special.search(text) is None:
        return f'"{text}"'
    return f'"{escaped(text, special)}"'


def escaped(text: str, special: re.Pattern[str]) -> str:
    return special.sub(lambda found: _escape(found.group()), text)


def _escape(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return "\\ufffd"
    return _ESCAPES.get(char) or f"\\u{ord(char):04x}"


def format_float(value: float) -> str:
    """Shortest digits; exponent form only below 1e-6 and from 1e21."""
    text = repr(value)
    if text.endswith(".0"):
        return text[:-2]
    if "e" not in text and "n" not in text:
        return text
    if not isfinite(value):
        shown = "NaN" if isnan(value) else "+Inf" if value > 0 else "-Inf"
        raise GoError(f"json: unsupported value: {shown}")
    return _far_from_one(value)


def _far_from_one(value: float) -> str:
    """Numbers for which Python chooses the exponent form."""
    digits, exponent = _shortest(abs(value))
    sign = "-" if value < 0 else ""
    size = abs(value)
    if size < 1e-6 or size >= 1e21:
        mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}".replace("e-0", "e-")
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    digits = digits.ljust(exponent + 1, "0")
    return (
        sign + digits[: exponent + 1] + ("." + digits[exponent + 1 :] if len(digits) > exponent + 1 else "")
    )


def _shortest(size: float) -> tuple[str, int]:
    """The shortest digits that read back as the number, and the exponent of the first."""
    mantissa, _, exponent = f"{size!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    return digits.rstrip("0") or "0", int(exponent or 0) + len(whole) - 1 - leading
