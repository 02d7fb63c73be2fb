"""sprig's string functions whose result can be much larger than what they are given: each asks the budget first."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoPanic
from steward.gotemplate.fmt.printing import show
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.funcs.text.strings import replaced
from steward.gotemplate.funcs.text.text import text_of, texts_of
from steward.gotemplate.golang import words
from steward.gotemplate.golang.quote import quote as quoted
from steward.gotemplate.values.values import Value, byte_length, canonical

table = Table()


@table.budgeted("repeat(int, string) string")
def repeat(budget: Budget, count: int, text: str) -> str:
    size = byte_length(text)
    if count < 0:
        raise GoPanic("strings: negative Repeat count")
    if size * count > 1 << 62:
        raise GoPanic("strings: Repeat output length overflow")
    budget.build(count * size)
    return canonical(text * count)


@table.budgeted("indent(int, string) string")
def indent(budget: Budget, spaces: int, text: str) -> str:
    if spaces < 0:
        raise GoPanic("strings: negative Repeat count")
    budget.build((text.count("\n") + 1) * spaces + len(text))
    pad = " " * spaces
    return pad + text.replace("\n", "\n" + pad)


@table.budgeted("nindent(int, string) string")
def nindent(budget: Budget, spaces: int, text: str) -> str:
    return "\n" + indent(budget, spaces, text)


@table.budgeted("replace(string, string, string) string")
def replace(budget: Budget, old: str, new: str, text: str) -> str:
    found = text.count(old) if old else len(text) + 1
    budget.build(byte_length(text) + found * byte_length(new))
    return replaced(text, old, new)


@table.budgeted("wrap(int, string) string")
def wrap(budget: Budget, width: int, text: str) -> str:
    budget.build(2 * byte_length(text))
    budget.work(_lines_at_most(text, width))
    return words.wrap(text, width, "", break_long_words=False)


@table.budgeted("wrapWith(int, string, string) string")
def wrap_with(budget: Budget, width: int, newline: str, text: str) -> str:
    size = byte_length(text)
    budget.build(size + (size // max(width, 1) + text.count(" ") + 1) * (byte_length(newline) + 1))
    budget.work(_lines_at_most(text, width) + size // max(width, 1))
    return words.wrap(text, width, newline, break_long_words=True)


def _lines_at_most(text: str, width: int) -> int:
    """Two lines in a row are longer than the width together; a blank at the start of a line is a step of its own."""
    return min(text.count(" "), 2 * len(text) // max(width, 1)) + text.count("  ")


@table.budgeted("join(string, any) string")
def join(budget: Budget, separator: str, items: Value) -> str:
    texts = texts_of(items, budget)
    budget.build(len(texts) * byte_length(separator) + sum(map(len, texts)))
    return canonical(separator.join(texts))


@table.budgeted("cat(...any) string")
def cat(budget: Budget, *values: Value) -> str:
    return _joined(budget, [show(value, budget) for value in values if value is not None])


@table.budgeted("quote(...any) string")
def quote(budget: Budget, *values: Value) -> str:
    if len(values) == 1 and type(values[0]) is str and len(values[0]) <= 64:
        return quoted(values[0])
    texts = [text_of(value, budget) for value in values if value is not None]
    for text in texts:
        if len(text) > 64:
            budget.work(len(text) // 8)
    return _joined(budget, [quoted(text) for text in texts])


@table.budgeted("squote(...any) string")
def squote(budget: Budget, *values: Value) -> str:
    return _joined(budget, [f"'{show(value, budget)}'" for value in values if value is not None])


def _joined(budget: Budget, parts: list[str]) -> str:
    budget.build(sum(map(len, parts)))
    return " ".join(parts)


@table.budgeted("toString(any) string")
def to_string(budget: Budget, value: Value) -> str:
    return text_of(value, budget)
