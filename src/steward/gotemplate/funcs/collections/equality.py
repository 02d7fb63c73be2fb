"""reflect.DeepEqual: strict in type, so 1 is not 1.0, and a nil list is not an empty one."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.values.values import Value, is_nil, type_of


def deep_equal(left: Value, right: Value, budget: Budget) -> bool:
    """Walks both with its own stack; a pair of containers is compared once, so that cycles end."""
    pending: list[tuple[Value, Value]] = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while pending:
        one, other = pending.pop()
        if type_of(one) is not type_of(other):
            return False
        if not isinstance(one, list | dict):
            if not _same(one, other):
                return False
        elif (id(one), id(other)) not in seen and one is not other:
            seen.add((id(one), id(other)))
            if is_nil(one) != is_nil(other) or len(one) != len(other):
                return False
            budget.work(8 + 2 * len(one))
            if not _queue_items(one, other, pending):
                return False
    return True


def _queue_items(one: Value, other: Value, pending: list[tuple[Value, Value]]) -> bool:
    if isinstance(one, list):
        pending.extend(zip(one, other, strict=True))
        return True
    if one.keys() != other.keys():
        return False
    pending.extend((item, other[key]) for key, item in one.items())
    return True


def _same(one: Value, other: Value) -> bool:
    fields = getattr(one, "deep_fields", None)
    if fields is not None:
        # What a pointer or a struct holds is compared, not where it is.
        return bool(fields() == other.deep_fields())
    return bool(one == other)
