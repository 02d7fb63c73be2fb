"""Sequences of integers: until, untilStep, seq."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.values.values import IntSlice, wrap_int64

table = Table()


def steps(budget: Budget, start: int, stop: int, step: int) -> range:
    """What Go's loop visits: nothing if the step leads away from the end."""
    if (stop < start and step >= 0) or (stop >= start and step <= 0):
        return range(0)
    found = range(start, stop, step)
    budget.build(16 * len(found))
    return found


@table.budgeted("until(int) []int")
def until(budget: Budget, count: int) -> IntSlice:
    return IntSlice(steps(budget, 0, count, -1 if count < 0 else 1))


@table.budgeted("untilStep(int, int, int) []int")
def until_step(budget: Budget, start: int, stop: int, step: int) -> IntSlice:
    return IntSlice(steps(budget, start, stop, step))


@table.budgeted("seq(...int) string")
def seq(budget: Budget, *numbers: int) -> str:
    """As the shell's seq: end; start and end; start, step and end."""
    if len(numbers) == 1:
        return _through(budget, 1, numbers[0], -1 if numbers[0] < 1 else 1)
    if len(numbers) == 2:
        start, end = numbers
        return _through(budget, start, end, -1 if end < start else 1)
    if len(numbers) == 3:
        start, step, end = numbers
        return "" if end < start and step > 0 else _through(budget, start, end, step)
    return ""


def _through(budget: Budget, start: int, end: int, step: int) -> str:
    stop = wrap_int64(end + (-1 if end < start else 1))
    return " ".join(map(str, steps(budget, start, stop, step)))
