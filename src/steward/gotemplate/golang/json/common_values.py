"""JSON of the most common values: shallow maps and lists of plain types. The exact writer handles all others.

Charging the budget for every map took a quarter of the time, so a small value is paid for when it is written. What is
unpaid stays small: past the first pieces every map and list is paid for before its items are looked at, because one
map held twice, sixty deep, has 2**60 items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from steward.gotemplate.golang.json.scalars import Style, escaped, format_float, quote_json
from steward.gotemplate.values.values import StringSlice

Spend = Callable[[int], None]

_DEPTH: Final = 40
_UNPAID: Final = 256
_LONG: Final = 64
# What a piece of text costs in bytes; it also costs time, a step for every sixteen of them.
_PIECE: Final = 16


class _Text:
    """The pieces of the text so far, how to write them, and the budget to charge."""

    __slots__ = ("pieces", "spend", "style")

    def __init__(self, style: Style, spend: Spend) -> None:
        self.pieces: list[str] = []
        self.style = style
        self.spend = spend


def marshal_plain(value: Any, style: Style, spend: Spend) -> str | None:
    """The JSON text, or None if something in the value is not plain or too deep."""
    out = _Text(style, spend)
    write = _WRITERS.get(type(value))
    if write is None or not write(value, out, 1):
        return None
    text = "".join(out.pieces)
    spend(_PIECE * min(len(out.pieces), _UNPAID))
    return text


def _write_object(value: dict[str, Any], out: _Text, depth: int) -> bool:
    pieces, style = out.pieces, out.style
    if not value:
        pieces.append("{}")
        return True
    if len(pieces) + len(value) > _UNPAID:
        # Keys are sorted and quoted, which takes as long as writing.
        out.spend(2 * _PIECE * len(value))
    line = "\n" + style.indent * depth if style.indent else ""
    before = "{" + line
    for key, name in style.keys(tuple(value)):
        item = value[key]
        kind = type(item)
        # The most frequent kinds are written here: a call for each would take longer than the writing.
        if kind is str and item.isidentifier() and len(item) < _LONG:
            pieces.append(f'{before}{name}"{item}"')
        elif kind is float and (digits := repr(item))[-2:] == ".0":
            pieces.append(f"{before}{name}{digits[:-2]}")
        else:
            pieces.append(before + name)
            write = _WRITERS.get(kind)
            if write is None or depth == _DEPTH or not write(item, out, depth + 1):
                return False
        before = "," + line
    pieces.append(line[: -len(style.indent)] + "}")
    return True


def _write_array(value: list[Any], out: _Text, depth: int) -> bool:
    pieces, indent = out.pieces, out.style.indent
    if not value:
        pieces.append("[]")
        return True
    if len(pieces) + len(value) > _UNPAID:
        out.spend(_PIECE * len(value))
    line = "\n" + indent * depth if indent else ""
    before = "[" + line
    for item in value:
        kind = type(item)
        if kind is str and item.isidentifier() and len(item) < _LONG:
            pieces.append(f'{before}"{item}"')
        elif kind is float and (digits := repr(item))[-2:] == ".0":
            pieces.append(before + digits[:-2])
        else:
            pieces.append(before)
            write = _WRITERS.get(kind)
            if write is None or depth == _DEPTH or not write(item, out, depth + 1):
                return False
        before = "," + line
    pieces.append(line[: -len(indent)] + "]")
    return True


def _write_strings(value: StringSlice, out: _Text, depth: int) -> bool:
    if value.is_nil:
        out.pieces.append("null")
        return True
    return _write_array(value, out, depth)


def _write_string(value: str, out: _Text, _depth: int) -> bool:
    special = out.style.special
    if len(value) < _LONG:
        out.pieces.append(quote_json(value, special))
        return True
    out.spend(len(value))
    if special.search(value) is None:
        out.pieces.append(f'"{value}"')
        return True
    # Escapes are slow: they are paid for before.
    out.spend(4 * len(value))
    out.pieces.append(f'"{escaped(value, special)}"')
    return True


def _write_float(value: float, out: _Text, _depth: int) -> bool:
    out.pieces.append(format_float(value))
    return True


def _write_int(value: int, out: _Text, _depth: int) -> bool:
    out.pieces.append(str(value))
    return True


def _write_bool(value: bool, out: _Text, _depth: int) -> bool:
    out.pieces.append("true" if value else "false")
    return True


def _write_null(_value: None, out: _Text, _depth: int) -> bool:
    out.pieces.append("null")
    return True


_WRITERS: Final[dict[type, Callable[[Any, _Text, int], bool]]] = {
    str: _write_string,
    float: _write_float,
    int: _write_int,
    bool: _write_bool,
    type(None): _write_null,
    dict: _write_object,
    list: _write_array,
    StringSlice: _write_strings,
}
