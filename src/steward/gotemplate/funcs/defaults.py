"""Emptiness and choice: default, empty, coalesce, all, any, ternary, compact's test."""

from __future__ import annotations

from steward.gotemplate.errors import GoError
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.values.values import Value

table = Table()


def is_empty(value: Value) -> bool:
    """The zero of its type: nil, false, 0, and what has no elements. Structs and pointers never are."""
    if value is None:
        return True
    if isinstance(value, str | list | dict | int | float | bytes | complex):
        return not value
    return False


@table.function("empty(any) bool")
def empty(value: Value) -> bool:
    return is_empty(value)


@table.function("default(any, ...any) any")
def default(fallback: Value, *given: Value) -> Value:
    return fallback if not given or is_empty(given[0]) else given[0]


@table.function("coalesce(...any) any")
def coalesce(*values: Value) -> Value:
    return next((value for value in values if not is_empty(value)), None)


@table.function("all(...any) bool")
def every(*values: Value) -> bool:
    return not any(map(is_empty, values))


@table.function("any(...any) bool")
def some(*values: Value) -> bool:
    return not all(map(is_empty, values))


@table.function("ternary(any, any, bool) any")
def ternary(when_true: Value, when_false: Value, condition: bool) -> Value:
    return when_true if condition else when_false


@table.function("fail(string) string")
def fail(message: str) -> str:
    raise GoError(message)
