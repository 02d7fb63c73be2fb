"""eq, ne, lt, le, gt, ge: which kinds compare with which, and Go's refusals."""

from __future__ import annotations

from typing import Final

from steward.gotemplate.budget import BYTES_A_STEP, Budget
from steward.gotemplate.errors import GoError
from steward.gotemplate.fmt.formats import PLAIN
from steward.gotemplate.fmt.printing import Printer, show
from steward.gotemplate.values.values import INTEGER_KINDS, Value, is_nil, kind_of, to_bytes, type_of

LONG: Final = 1024
_BASIC: Final = {
    "bool": "bool",
    "string": "string",
    "float32": "float",
    "float64": "float",
    "complex128": "complex",
} | {kind: kind.rstrip("0123456789").removesuffix("ptr") for kind in INTEGER_KINDS}
_PLAIN: Final = (str, int, float, bool)
BAD_TYPE: Final = "invalid type for comparison"


def equal(budget: Budget, first: Value, *others: Value) -> bool:
    """a == b || a == c ...; stops at the first that is equal."""
    if not others:
        raise GoError("missing argument for comparison")
    if len(others) == 1:
        return _equal(budget, first, others[0])
    return any(_equal(budget, first, other) for other in others)


def not_equal(budget: Budget, first: Value, second: Value) -> bool:
    return not _equal(budget, first, second)


def _equal(budget: Budget, first: Value, second: Value) -> bool:
    kind = type(first)
    if kind is type(second) and kind in _PLAIN:
        if kind is str and len(first) > LONG:
            budget.work(len(first) // BYTES_A_STEP)
        return first == second  # type: ignore[no-any-return]
    basic, other = _BASIC.get(kind_of(first)), _BASIC.get(kind_of(second))
    if basic != other:
        return _equal_kinds(first, second, {basic, other})
    if basic is not None:
        return first == second  # type: ignore[no-any-return]
    return _equal_composites(budget, first, second)


def _equal_kinds(first: Value, second: Value, kinds: set[str | None]) -> bool:
    if kinds == {"int", "uint"}:
        return int(first) == int(second)
    if first is not None and second is not None:
        raise GoError(f"incompatible types for comparison: {_name(first)} and {_name(second)}")
    return False


def _equal_composites(budget: Budget, first: Value, second: Value) -> bool:
    if kind_of(first) != kind_of(second) and first is not None and second is not None:
        shown = Printer(PLAIN, budget).argument(first, "s")
        raise GoError(
            f"non-comparable types {shown}: {_name(first)}, {_name(second)}: {show(second, budget)}"
        )
    if is_nil(first) or is_nil(second):
        return is_nil(first) == is_nil(second)
    if kind_of(second) in ("map", "slice", "func"):
        raise GoError(f"non-comparable type {Printer(PLAIN, budget).argument(second, 's')}: {_name(second)}")
    if kind_of(second) == "ptr":
        return first is second
    return type(first) is type(second) and bool(first == second)


def _name(value: Value) -> str:
    found = type_of(value)
    return found.name if found else "<nil>"


def less(budget: Budget, first: Value, second: Value) -> bool:
    basic, other = _BASIC.get(kind_of(first)), _BASIC.get(kind_of(second))
    if basic is None or other is None:
        raise GoError(BAD_TYPE)
    if basic != other and {basic, other} != {"int", "uint"}:
        raise GoError(f"incompatible types for comparison: {_name(first)} and {_name(second)}")
    if basic in ("bool", "complex"):
        raise GoError(BAD_TYPE)
    if basic != "string":
        return first < second  # type: ignore[no-any-return]
    if len(first) > LONG:
        budget.work(len(first) // BYTES_A_STEP)
    if first.isascii() and second.isascii():
        return first < second  # type: ignore[no-any-return]
    return to_bytes(first) < to_bytes(second)


def less_or_equal(budget: Budget, first: Value, second: Value) -> bool:
    return less(budget, first, second) or _equal(budget, first, second)


def greater(budget: Budget, first: Value, second: Value) -> bool:
    return not less_or_equal(budget, first, second)


def greater_or_equal(budget: Budget, first: Value, second: Value) -> bool:
    return not less(budget, first, second)
