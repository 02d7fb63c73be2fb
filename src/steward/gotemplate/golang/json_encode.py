"""encoding/json's Marshal: sorted keys, its number formats, its escapes and its errors.

The walk keeps its own stack: Go marshals nesting far deeper than Python may recurse.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from math import isfinite, isnan
from typing import Any, NamedTuple

from steward.gotemplate.errors import GoError
from steward.gotemplate.values import StringSlice, to_bytes, type_of

Spend = Callable[[int], None]
Scalars = dict[type, Callable[[Any], str]]

_ESCAPES = {
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
_PLAIN = re.compile('["\\\\\x00-\x1f\u2028\u2029\udc80-\udcff]')
_HTML = re.compile('["\\\\\x00-\x1f\u2028\u2029\udc80-\udcff<>&]')
# Go starts to look for cycles only below this depth, and names the type it is at then.
_CYCLE_DEPTH = 1000
_PLAIN_DEPTH = 40


class Style(NamedTuple):
    """How to write: which characters are escaped, the indent ("" for none), and pointers around the value."""

    special: re.Pattern[str] = _HTML
    indent: str = ""
    pointers: int = 0


COMPACT = Style()
PRETTY = Style(indent="  ")
RAW = Style(special=_PLAIN, pointers=1)


class _Open(NamedTuple):
    """A list or map that is being written."""

    value: Any
    items: Iterator[tuple[str, Any]]
    closing: str


def marshal(value: Any, style: Style, spend: Spend) -> str:
    """The JSON text; `spend` is told of the bytes as they come."""
    text = _Plain(_SCALARS[style.special], style.indent, spend).write(value, 0)
    return _Writer(style).run(value, spend) if text is None else text


class _Plain:
    """What most values are (plain types, not deep) in one go; None for anything else, which the writer then takes."""

    __slots__ = ("colon", "indent", "scalars", "spend")

    def __init__(self, scalars: Scalars, indent: str, spend: Spend) -> None:
        self.scalars = scalars
        self.indent = indent
        self.colon = ": " if indent else ":"
        self.spend = spend

    def write(self, value: Any, depth: int) -> str | None:
        kind = type(value)
        if kind is str and value.isidentifier():
            return f'"{value}"'
        write = self.scalars.get(kind)
        if write is not None:
            if kind is str and len(value) > 256:
                # Escapes are slow: what may need them is paid for before.
                self.spend(4 * len(value))
            return write(value)
        if kind is dict and depth < _PLAIN_DEPTH:
            return self.object(value, depth + 1)
        if (kind is list or (kind is StringSlice and not value.is_nil)) and depth < _PLAIN_DEPTH:
            return self.array(value, depth + 1)
        return None

    def object(self, value: dict[str, Any], depth: int) -> str | None:
        self.spend(2 + len(value))
        write, scalars, colon = self.write, self.scalars, self.colon
        parts: list[str] = []
        for key in sorted(value) if "".join(value).isascii() else sorted(value, key=to_bytes):
            item = value[key]
            kind = type(item)
            # The most frequent kinds are written here: a call for each would take longer than the writing.
            if kind is str and item.isidentifier():
                text: str | None = f'"{item}"'
            elif kind is float or kind is bool:
                text = scalars[kind](item)
            else:
                text = write(item, depth)
                if text is None:
                    return None
            parts.append(
                f'"{key}"{colon}{text}' if key.isidentifier() else f"{scalars[str](key)}{colon}{text}"
            )
        return self.bracketed("{", parts, "}", depth) if self.indent else f"{{{','.join(parts)}}}"

    def array(self, value: list[Any], depth: int) -> str | None:
        self.spend(2 + len(value))
        write = self.write
        parts = [
            f'"{item}"' if type(item) is str and item.isidentifier() else write(item, depth) for item in value
        ]
        if None in parts:
            return None
        return self.bracketed("[", parts, "]", depth) if self.indent else f"[{','.join(parts)}]"  # type: ignore[arg-type]

    def bracketed(self, opening: str, parts: list[str], closing: str, depth: int) -> str:
        if not parts:
            return f"{opening}{closing}"
        line = "\n" + self.indent * depth
        return f"{opening}{line}{f',{line}'.join(parts)}{line[: -len(self.indent)]}{closing}"


class _Writer:
    def __init__(self, style: Style) -> None:
        self.style = style
        self.out: list[str] = []
        self.stack: list[_Open] = []
        self.places: dict[int, int] = {}
        self.spend: Spend = lambda _: None

    def run(self, value: Any, spend: Spend) -> str:
        self.spend = spend
        self.write(value)
        while self.stack:
            self.advance()
            spend(len(self.out[-1]) + len(self.out[-2]) if len(self.out) > 1 else 1)
        return "".join(self.out)

    def advance(self) -> None:
        """Writes the next item of what is open, or closes it."""
        top = self.stack[-1]
        item = next(top.items, None)
        if item is not None:
            prefix, value = item
            self.out.append(prefix[0] + self.line() + prefix[1:])
            self.write(value)
            return
        self.stack.pop()
        del self.places[id(top.value)]
        self.out.append(self.line() + top.closing)

    def line(self) -> str:
        return "\n" + self.style.indent * len(self.stack) if self.style.indent else ""

    def write(self, value: Any) -> None:
        """Writes a scalar whole; opens a list or map, unless it is nil or empty."""
        opened = _opened(value, self.style)
        if isinstance(value, str) and len(value) > 256:
            # Escapes are slow: what may need them is paid for before.
            self.spend(4 * len(value))
        if opened is None:
            self.out.append(_scalar(value, self.style))
        elif getattr(value, "is_nil", False):
            self.out.append("null")
        elif isinstance(value, dict | list) and not value:
            self.out.append("{}" if opened.closing == "}" else "[]")
        else:
            self.open(opened)

    def open(self, opened: _Open) -> None:
        place = self.places.setdefault(id(opened.value), len(self.stack))
        if place < len(self.stack):
            raise self.cycle(place)
        self.stack.append(opened)

    def cycle(self, start: int) -> GoError:
        seen_at = start + (_CYCLE_DEPTH - self.style.pointers - start) % (len(self.stack) - start)
        found = type_of(self.stack[seen_at].value)
        return GoError(f"json: unsupported value: encountered a cycle via {found.name if found else ''}")


def _opened(value: Any, style: Style) -> _Open | None:
    if isinstance(value, dict):
        return _Open(value, _map_items(value, style), "}")
    if isinstance(value, list):
        return _Open(value, _list_items(value), "]")
    if hasattr(value, "go_fields") and not hasattr(value, "marshal_json"):
        exported = {name: field for name, field in value.go_fields().items() if name[0].isupper()}
        return _Open(value, _fields(exported, style), "}")
    return None


def _map_items(value: dict[str, Any], style: Style) -> Iterator[tuple[str, Any]]:
    return _fields({key: value[key] for key in sorted(value, key=to_bytes)}, style)


def _fields(value: dict[str, Any], style: Style) -> Iterator[tuple[str, Any]]:
    separator = "{"
    colon = ": " if style.indent else ":"
    for key, item in value.items():
        yield separator + quote_json(key, style.special) + colon, item
        separator = ","


def _list_items(value: list[Any]) -> Iterator[tuple[str, Any]]:
    separator = "["
    for item in value:
        yield separator, item
        separator = ","


def _scalar(value: Any, style: Style) -> str:
    if isinstance(value, str):
        return quote_json(value, style.special)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return format_float(value)
    if isinstance(value, bytes):
        return f'"{b64encode(value).decode()}"'
    marshaler = getattr(value, "marshal_json", None)
    if marshaler is None:
        found = type_of(value)
        raise GoError(f"json: unsupported type: {found.name if found else 'nil'}")
    return _marshaled(value, marshaler, style)


def _marshaled(value: Any, marshaler: Callable[[], str], style: Style) -> str:
    try:
        text = marshaler()
    except GoError as error:
        found = type_of(value)
        name = found.name if found else ""
        raise GoError(f"json: error calling MarshalJSON for type {name}: {error.text}") from None
    return style.special.sub(lambda found: _escape(found.group()), text[1:-1]).join('""')


def quote_json(text: str, special: re.Pattern[str]) -> str:
    """A JSON string; a byte that is not UTF-8 becomes the escape of U+FFFD."""
    if text.isidentifier() or special.search(text) is None:
        return f'"{text}"'
    return '"' + special.sub(lambda found: _escape(found.group()), text) + '"'


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


def _scalar_writers(special: re.Pattern[str]) -> Scalars:
    def quoted(text: str) -> str:
        # Letters and digits alone are by far the most frequent, and quicker seen than searched.
        return f'"{text}"' if text.isalnum() or special.search(text) is None else quote_json(text, special)

    return {
        str: quoted,
        float: format_float,
        int: str,
        bool: lambda value: "true" if value else "false",
        type(None): lambda _: "null",
    }


_SCALARS = {special: _scalar_writers(special) for special in (_HTML, _PLAIN)}
