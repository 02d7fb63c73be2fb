"""merge, mergeOverwrite and deepCopy: mergo's and copystructure's rules.

What the destination lacks is put there as it is, so nested maps of the source become shared; where both have a map, the
source's entries are copied into the destination's. Empty values (0, "", false, [], {}) count as lacking.
"""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError, GoPanic, OverBudget
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.values.values import ANY, ByteSlice, StringMap, Value, is_nil, kind_of, type_of

table = Table()

Dict = dict[str, Value]


@table.budgeted("merge(map[string]any, ...map[string]any) any")
def merge(budget: Budget, into: Dict, *sources: Dict) -> Value:
    try:
        return must_merge(budget, into, *sources)
    except GoError as error:
        return _swallowed(error)


@table.budgeted("mergeOverwrite(map[string]any, ...map[string]any) any")
def merge_overwrite(budget: Budget, into: Dict, *sources: Dict) -> Value:
    try:
        return must_merge_overwrite(budget, into, *sources)
    except GoError as error:
        return _swallowed(error)


def _swallowed(error: GoError) -> str:
    if isinstance(error, GoPanic):
        raise error
    return ""


@table.budgeted("mustMerge(map[string]any, ...map[string]any) any")
def must_merge(budget: Budget, into: Dict, *sources: Dict) -> Dict:
    return _merged(budget, into, sources, overwrite=False)


@table.budgeted("mustMergeOverwrite(map[string]any, ...map[string]any) any")
def must_merge_overwrite(budget: Budget, into: Dict, *sources: Dict) -> Dict:
    return _merged(budget, into, sources, overwrite=True)


def _merged(budget: Budget, into: Dict, sources: tuple[Dict, ...], *, overwrite: bool) -> Dict:
    for source in sources:
        if is_nil(into) and not is_nil(source):
            into = {}
        pending = [(into, source)]
        while pending:
            target, addition = pending.pop()
            budget.work(5 + len(addition))
            pending.extend(_merge_level(target, addition, overwrite))
    return into


def _merge_level(into: Dict, source: Dict, overwrite: bool) -> list[tuple[Dict, Dict]]:
    """One map into another; gives the pairs of nested maps that are still to be merged."""
    deeper: list[tuple[Dict, Dict]] = []
    for key, value in source.items():
        current: Value = into.get(key)
        lacking = key not in into or is_empty_value(current)
        both_maps = isinstance(value, dict) and isinstance(current, dict) and not is_nil(current)
        if value is None:
            if overwrite:
                _set_entry(into, source, key, None)
        elif both_maps and (value or current):
            # Also where the destination's map is empty: it is filled, not replaced by the source's.
            deeper.append((current, value))
        elif lacking or overwrite:
            _set_entry(into, source, key, value)
        elif kind_of(current) == "ptr" and kind_of(value) in ("map", "struct"):
            raise GoError("src and dst must be of same type")
    return deeper


def _set_entry(into: Dict, source: Dict, key: str, value: Value) -> None:
    if isinstance(into, StringMap) and not isinstance(source, StringMap):
        found = type_of(value) if isinstance(value, list | ByteSlice) else ANY
        name = found.name if found else ""
        raise GoPanic(f"reflect.Value.SetMapIndex: value of type {name} is not assignable to type string")
    into[key] = value


def is_empty_value(value: Value) -> bool:
    """mergo's emptiness: zeros, and whatever has no elements."""
    if isinstance(value, complex):
        return False
    return value is None or (isinstance(value, str | list | dict | int | float | bytes) and not value)


@table.budgeted("deepCopy(any) any")
@table.budgeted("mustDeepCopy(any) any")
def deep_copy(budget: Budget, value: Value) -> Value:
    if value is None:
        raise GoPanic("reflect: call of reflect.Value.Type on zero Value")
    return _copy(value, budget, 0)


def _copy(value: Value, budget: Budget, depth: int) -> Value:
    if isinstance(value, dict | list):
        budget.build(64 + 16 * len(value))
        budget.work(3 + len(value) // 2)
        return value if is_nil(value) else _copy_container(value, budget, depth + 1)
    emptied = getattr(value, "emptied_copy", None)
    # A pointer's struct is made anew, and its unexported fields are not copied: they are zero.
    return value if emptied is None else emptied()


def _copy_container(value: Value, budget: Budget, depth: int) -> Value:
    if depth > _MAX_DEPTH:
        raise OverBudget(f"copies a value nested deeper than {_MAX_DEPTH} levels")
    if isinstance(value, list):
        return type(value)([_copy(item, budget, depth) for item in value])
    copied = type(value)()
    for key, item in value.items():
        copied[key] = _copy(item, budget, depth)
    return copied


_MAX_DEPTH = 200
