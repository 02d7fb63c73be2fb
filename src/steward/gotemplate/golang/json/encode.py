"""encoding/json's Marshal: sorted keys, its number formats, its escapes and its errors.

The walk keeps its own stack: Go marshals nesting far deeper than Python may recurse.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.json.common_values import Spend, marshal_plain
from steward.gotemplate.golang.json.scalars import Style, escaped, format_float, quote_json
from steward.gotemplate.values.values import to_bytes, type_of

# Go starts to look for cycles only below this depth, and names the type it is at then.
_CYCLE_DEPTH = 1000


class _Open(NamedTuple):
    """A list or map that is being written."""

    value: Any
    items: Iterator[tuple[str, Any]]
    closing: str


def marshal(value: Any, style: Style, spend: Spend) -> str:
    """The JSON text; `spend` is called with the bytes as they are written."""
    text = marshal_plain(value, style, spend)
    return Writer(style).run(value, spend) if text is None else text


class Writer:
    """Writes any value, item by item, with its own stack."""

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
    for key, item in value.items():
        yield separator + quote_json(key, style.special) + style.colon, item
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
    return escaped(text[1:-1], style.special).join('""')
