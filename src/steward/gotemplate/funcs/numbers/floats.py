"""Floating numbers: arithmetic goes through decimals, so 0.1 + 0.2 is 0.3; rounding does not."""

from __future__ import annotations

import math
from collections.abc import Callable

from steward.gotemplate.budget import Budget
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang import decimals
from steward.gotemplate.golang.cast import to_float64
from steward.gotemplate.values.values import Value

table = Table()

_Operation = Callable[[decimals.Decimal, decimals.Decimal], decimals.Decimal]


def _folded(budget: Budget, first: Value, others: tuple[Value, ...], operation: _Operation) -> float:
    budget.work(2 + 2 * len(others))
    return decimals.fold(to_float64(first), [to_float64(other) for other in others], operation)


@table.budgeted("addf(...any) float64")
def addf(budget: Budget, *values: Value) -> float:
    return _folded(budget, 0.0, values, decimals.add)


@table.budgeted("add1f(any) float64")
def add1f(budget: Budget, value: Value) -> float:
    return _folded(budget, value, (1,), decimals.add)


@table.budgeted("subf(any, ...any) float64")
def subf(budget: Budget, first: Value, *others: Value) -> float:
    return _folded(budget, first, others, decimals.subtract)


@table.budgeted("mulf(any, ...any) float64")
def mulf(budget: Budget, first: Value, *others: Value) -> float:
    return _folded(budget, first, others, decimals.multiply)


@table.budgeted("divf(any, ...any) float64")
def divf(budget: Budget, first: Value, *others: Value) -> float:
    return _folded(budget, first, others, decimals.divide)


@table.function("maxf(any, ...any) float64")
def maxf(first: Value, *others: Value) -> float:
    return _extreme((first, *others), max, math.inf)


@table.function("minf(any, ...any) float64")
def minf(first: Value, *others: Value) -> float:
    return _extreme((first, *others), min, -math.inf)


def _extreme(values: tuple[Value, ...], choose: Callable[..., float], end: float) -> float:
    # An infinity that decides wins over NaN, and NaN over all else, as in Go's math.Max and math.Min.
    numbers = [to_float64(value) for value in values]
    if len(numbers) > 1 and end in numbers:
        return end
    nan = next((number for number in numbers if math.isnan(number)), None)
    return choose(numbers, key=_with_sign) if nan is None else nan


def _with_sign(number: float) -> tuple[float, float]:
    """Orders -0 below 0."""
    return number, math.copysign(1.0, number)


@table.function("floor(any) float64")
def floor(value: Value) -> float:
    number = to_float64(value)
    return _signed(math.floor(number), number) if math.isfinite(number) else number


@table.function("ceil(any) float64")
def ceil(value: Value) -> float:
    number = to_float64(value)
    return _signed(math.ceil(number), number) if math.isfinite(number) else number


def _signed(whole: int, like: float) -> float:
    """A zero keeps the sign of what was rounded to it."""
    return float(whole) if whole else math.copysign(0.0, like)


@table.function("round(any, int, ...float64) float64")
def round_half(value: Value, places: int, *round_on: float) -> float:
    """Up if the fraction reaches `round_on` (0.5), else down: so halves of negative numbers go down."""
    number = to_float64(value)
    power = _power_of_ten(places)
    shifted = power * number
    if not math.isfinite(shifted):
        return _quotient(shifted, power)
    limit = round_on[0] if round_on else 0.5
    whole = math.ceil(shifted) if math.modf(shifted)[0] >= limit else math.floor(shifted)
    return _quotient(_signed(whole, shifted), power)


def _power_of_ten(places: int) -> float:
    try:
        return 10.0**places
    except OverflowError:
        return math.inf


def _quotient(number: float, power: float) -> float:
    if power == 0:
        return math.nan if number == 0 or math.isnan(number) else math.copysign(math.inf, number)
    return number / power
