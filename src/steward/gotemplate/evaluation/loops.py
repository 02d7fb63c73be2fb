"""What `range` runs over: lists, maps in key order, integers; and what it cannot."""

from __future__ import annotations

from collections.abc import Sequence

from steward.gotemplate.budget import Budget
from steward.gotemplate.evaluation.runtime_errors import Fault
from steward.gotemplate.fmt.printing import show
from steward.gotemplate.values.values import ByteSlice, Int, Uint8, Value, sorted_keys


def elements(value: Value, budget: Budget, cost: int) -> Sequence[Value]:
    """What dot becomes in turn. The whole loop is charged before its first turn."""
    found = _elements(value, budget)
    budget.work(cost * len(found) if cost else 0)
    return found


def pairs(value: Value, budget: Budget, cost: int) -> Sequence[tuple[Value, Value]]:
    """Index or key, and element."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise Fault(f"can't use {show(value, budget)} to iterate over more than one variable")
    if isinstance(value, dict):
        budget.work(cost * len(value))
        return [(key, value[key]) for key in sorted_keys(value)]
    found = _elements(value, budget)
    budget.work(cost * len(found))
    return list(enumerate(found))


def _elements(value: Value, budget: Budget) -> Sequence[Value]:
    if isinstance(value, list):
        return value
    if value is None:
        return ()
    if isinstance(value, dict):
        return [value[key] for key in sorted_keys(value)]
    if isinstance(value, int) and not isinstance(value, bool):
        return _counted(value, budget)
    if isinstance(value, ByteSlice):
        return [Uint8(byte) for byte in value]
    raise Fault(f"range can't iterate over {show(value, budget)}")


def _counted(value: int, budget: Budget) -> Sequence[Value]:
    if isinstance(value, Int):
        budget.work(max(value, 0))
        kind = type(value)
        return [kind(number) for number in range(value)]
    # A range longer than any budget has no len() in Python.
    return range(min(value, budget.limits.steps + 1))
