"""What a value is: its Go type and kind, and deep equality."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.funcs.collections.equality import deep_equal
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.values.values import Value, kind_of, type_of

table = Table()


def type_name(value: Value) -> str:
    """As %T prints it."""
    found = type_of(value)
    return "<nil>" if found is None else found.name


@table.function("typeOf(any) string")
def type_of_value(value: Value) -> str:
    return type_name(value)


@table.function("typeIs(string, any) bool")
def type_is(name: str, value: Value) -> bool:
    return type_name(value) == name


@table.function("typeIsLike(string, any) bool")
def type_is_like(name: str, value: Value) -> bool:
    return type_name(value) in (name, "*" + name)


@table.function("kindOf(any) string")
def kind_of_value(value: Value) -> str:
    return kind_of(value)


@table.function("kindIs(string, any) bool")
def kind_is(name: str, value: Value) -> bool:
    return kind_of(value) == name


@table.budgeted("deepEqual(any, any) bool")
def deep_equal_values(budget: Budget, left: Value, right: Value) -> bool:
    return deep_equal(left, right, budget)
