"""Whole numbers: sprig casts everything to int64, and int64 wraps."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError, GoPanic
from steward.gotemplate.fmt.printing import show
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang.cast import to_float64, to_int64
from steward.gotemplate.golang.strconv import GoRangeError, parse_int
from steward.gotemplate.golang.strconv import atoi as go_atoi
from steward.gotemplate.values.values import Int64, Value, wrap_int64

table = Table()

_BY_ZERO = "runtime error: integer divide by zero"


@table.function("int64(any) int64")
def int64(value: Value) -> Int64:
    return Int64(to_int64(value))


@table.function("int(any) int")
def integer(value: Value) -> int:
    return int(to_int64(value))


@table.function("float64(any) float64")
def float64(value: Value) -> float:
    return to_float64(value)


@table.function("atoi(string) int")
def atoi(text: str) -> int:
    """Decimal; 0 for what is no number, the nearest for what does not fit."""
    try:
        return go_atoi(text)
    except GoRangeError as error:
        return int(error.nearest)
    except GoError:
        return 0


@table.budgeted("toDecimal(any) int64")
def to_decimal(budget: Budget, value: Value) -> Int64:
    """Reads the digits as octal, as in file modes."""
    try:
        return Int64(parse_int(show(value, budget), 8))
    except GoError:
        return Int64(0)


@table.function("add(...any) int64")
def add(*values: Value) -> Int64:
    return Int64.wrap(sum(map(to_int64, values)))


@table.function("add1(any) int64")
def add1(value: Value) -> Int64:
    return Int64.wrap(to_int64(value) + 1)


@table.function("sub(any, any) int64")
def sub(left: Value, right: Value) -> Int64:
    return Int64.wrap(to_int64(left) - to_int64(right))


@table.function("mul(any, ...any) int64")
def mul(first: Value, *others: Value) -> Int64:
    product = to_int64(first)
    for other in others:
        product = wrap_int64(product * to_int64(other))
    return Int64(product)


@table.function("div(any, any) int64")
def div(left: Value, right: Value) -> Int64:
    quotient, _ = _divided(to_int64(left), to_int64(right))
    return Int64.wrap(quotient)


@table.function("mod(any, any) int64")
def mod(left: Value, right: Value) -> Int64:
    _, remainder = _divided(to_int64(left), to_int64(right))
    return Int64(remainder)


def _divided(left: int, right: int) -> tuple[int, int]:
    """Toward zero, the remainder with the sign of the left."""
    if right == 0:
        raise GoPanic(_BY_ZERO)
    quotient, remainder = divmod(abs(left), abs(right))
    return quotient if (left < 0) == (right < 0) else -quotient, -remainder if left < 0 else remainder


@table.function("max(any, ...any) int64")
@table.function("biggest(any, ...any) int64")
def largest(first: Value, *others: Value) -> Int64:
    return Int64(max(map(to_int64, (first, *others))))


@table.function("min(any, ...any) int64")
def smallest(first: Value, *others: Value) -> Int64:
    return Int64(min(map(to_int64, (first, *others))))
