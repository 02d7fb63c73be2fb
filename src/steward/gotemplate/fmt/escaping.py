"""html, js and urlquery: the text of their operands, escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from steward.gotemplate.budget import Budget
from steward.gotemplate.fmt.printing import show, sprint
from steward.gotemplate.values.escapes import Escapes
from steward.gotemplate.values.utf8 import repaired
from steward.gotemplate.values.values import Int64, Value, byte_length

# In this order: what comes first is part of what comes later.
_HTML: Final = {"&": "&amp;", "\0": "�", '"': "&#34;", "'": "&#39;", "<": "&lt;", ">": "&gt;"}
_JS: Final = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "<": "\\u003C",
    ">": "\\u003E",
    "&": "\\u0026",
    "=": "\\u003D",
}


_PLAIN_KINDS: Final = frozenset({str, int, float, bool, dict, list})


def printed(value: Value, budget: Budget) -> str:
    """What an action prints of a value: pointers are followed, and nil is `<no value>`."""
    kind = type(value)
    if kind is Int64:
        return int.__repr__(value)
    if value is None:
        return "<no value>"
    text = show(value, budget)
    if kind in _PLAIN_KINDS or not text.startswith("&{"):
        return text
    return text[1:] if value.go_type.kind == "ptr" else text


def _text(args: Sequence[Value], budget: Budget) -> str:
    if len(args) == 1 and type(args[0]) is str:
        return args[0]
    return sprint(["<no value>" if arg is None else arg for arg in args], budget)


def escape_html(budget: Budget, *args: Value) -> str:
    text = _text(args, budget)
    budget.build(len(text))
    return _replaced(text, _HTML)


def _replaced(text: str, escapes: Mapping[str, str]) -> str:
    for char, escaped in escapes.items():
        text = text.replace(char, escaped)
    return text


def escape_js(budget: Budget, *args: Value) -> str:
    text = _text(args, budget)
    if text.isalnum() and text.isascii():
        return text
    budget.build(2 * len(text))
    budget.work(len(text) // 16)
    if repaired(text).isprintable():
        return _replaced(text, _JS)
    return text.translate(_JS_ESCAPES)


def _js_character(char: str) -> str:
    known = _JS.get(char)
    if known is not None:
        return known
    if char < " ":
        return f"\\u00{ord(char):02X}"
    # A byte that is no UTF-8 reads as U+FFFD, which prints, and so the byte itself goes out.
    if char.isprintable() or char == "\x7f" or "\udc80" <= char <= "\udcff":
        return char
    return f"\\u{ord(char):04X}"


_JS_ESCAPES: Final = Escapes(_js_character)


def escape_query(budget: Budget, *args: Value) -> str:
    from steward.gotemplate.golang.url.escape import QUERY, escape

    text = _text(args, budget)
    budget.build(3 * byte_length(text))
    return escape(text, QUERY)
