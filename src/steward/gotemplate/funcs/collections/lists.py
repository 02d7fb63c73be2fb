"""sprig's list functions. Each has a twin `mustX`; in a template both fail with the same words."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError, GoPanic
from steward.gotemplate.funcs.collections.equality import deep_equal
from steward.gotemplate.funcs.defaults import is_empty
from steward.gotemplate.funcs.numbers.capacity import appended, cut, exact, noted, room_of
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang.cast import to_int64
from steward.gotemplate.values.values import (
    ByteSlice,
    IntSlice,
    ListSlice,
    StringSlice,
    Uint8,
    Value,
    kind_of,
    nil_list,
)

table = Table()

_SCALARS = (str, int, float, bool)
_NIL_DEREFERENCE = "runtime error: invalid memory address or nil pointer dereference"


def items_of(value: Value, complaint: str) -> list[Value]:
    """The elements of any slice; the complaint names the type of what is none."""
    if isinstance(value, list):
        return value
    if isinstance(value, ByteSlice):
        return [Uint8(byte) for byte in value]
    if value is None:
        raise GoPanic(_NIL_DEREFERENCE)
    raise GoError(complaint.format(kind_of(value)))


@table.budgeted("list(...any) []any")
@table.budgeted("tuple(...any) []any")
def make_list(budget: Budget, *values: Value) -> list[Value]:
    return exact(budget, list(values))


@table.budgeted("append(any, any) []any")
@table.budgeted("mustAppend(any, any) []any")
@table.budgeted("push(any, any) []any")
@table.budgeted("mustPush(any, any) []any")
def append(budget: Budget, values: Value, value: Value) -> list[Value]:
    items = items_of(values, "Cannot push on type {}")
    budget.build(8 * len(items))
    return noted(budget, [*items, value], appended(len(items)))


@table.budgeted("prepend(any, any) []any")
@table.budgeted("mustPrepend(any, any) []any")
def prepend(budget: Budget, values: Value, value: Value) -> list[Value]:
    items = items_of(values, "Cannot prepend on type {}")
    budget.build(8 * len(items))
    return noted(budget, [value, *items], len(items) + 1)


@table.function("first(any) any")
@table.function("mustFirst(any) any")
def first(values: Value) -> Value:
    items = items_of(values, "Cannot find first on type {}")
    return items[0] if items else None


@table.function("last(any) any")
@table.function("mustLast(any) any")
def last(values: Value) -> Value:
    items = items_of(values, "Cannot find last on type {}")
    return items[-1] if items else None


@table.budgeted("rest(any) []any")
@table.budgeted("mustRest(any) []any")
def rest(budget: Budget, values: Value) -> list[Value]:
    items = items_of(values, "Cannot find rest on type {}")
    return exact(budget, list(items[1:])) if items else nil_list()


@table.budgeted("initial(any) []any")
@table.budgeted("mustInitial(any) []any")
def initial(budget: Budget, values: Value) -> list[Value]:
    items = items_of(values, "Cannot find initial on type {}")
    return exact(budget, list(items[:-1])) if items else nil_list()


@table.budgeted("reverse(any) []any")
@table.budgeted("mustReverse(any) []any")
def reverse(budget: Budget, values: Value) -> list[Value]:
    return exact(budget, list(reversed(items_of(values, "Cannot find reverse on type {}"))))


@table.function("compact(any) []any")
@table.function("mustCompact(any) []any")
def compact(values: Value) -> list[Value]:
    return [item for item in items_of(values, "Cannot compact on type {}") if not is_empty(item)]


@table.budgeted("uniq(any) []any")
@table.budgeted("mustUniq(any) []any")
def uniq(budget: Budget, values: Value) -> list[Value]:
    found: list[Value] = []
    scalars: set[tuple[type, Value]] = set()
    for item in items_of(values, "Cannot find uniq on type {}"):
        if type(item) not in _SCALARS:
            if not _contains(found, item, budget):
                found.append(item)
        elif (type(item), item) not in scalars or item != item:  # noqa: PLR0124 (NaN is like no other)
            scalars.add((type(item), item))
            found.append(item)
    return found


@table.budgeted("without(any, ...any) []any")
@table.budgeted("mustWithout(any, ...any) []any")
def without(budget: Budget, values: Value, *omitted: Value) -> list[Value]:
    items = items_of(values, "Cannot find without on type {}")
    return [item for item in items if not _contains(list(omitted), item, budget)]


@table.budgeted("has(any, any) bool")
@table.budgeted("mustHas(any, any) bool")
def has(budget: Budget, needle: Value, values: Value) -> bool:
    if values is None:
        return False
    return _contains(items_of(values, "Cannot find has on type {}"), needle, budget)


def _contains(items: list[Value], wanted: Value, budget: Budget) -> bool:
    kind = type(wanted)
    if kind in _SCALARS:
        budget.work(len(items) // 4)
        return any(type(item) is kind and item == wanted for item in items)
    budget.work(4 * len(items))
    return any(deep_equal(wanted, item, budget) for item in items)


@table.budgeted("slice(any, ...any) any")
@table.budgeted("mustSlice(any, ...any) any")
def slice_list(budget: Budget, values: Value, *indices: Value) -> Value:
    """Up to the capacity, not the length: see capacity.py."""
    items = items_of(values, "list should be type of slice or array but {}")
    if not items:
        return None
    start = to_int64(indices[0]) if indices else 0
    end = to_int64(indices[1]) if len(indices) > 1 else len(items)
    room = room_of(budget, items)
    if not 0 <= start <= end <= (len(items) if isinstance(values, ByteSlice) else room.capacity):
        raise GoPanic("reflect.Value.Slice: slice index out of bounds")
    if isinstance(values, ByteSlice):
        return ByteSlice(values[start:end])
    found = room.storage[room.offset + start : room.offset + end]
    zeros = [_ZEROS.get(type(values))] * (end - start - len(found))
    return cut(budget, type(values)([*found, *zeros]), room, start)


_ZEROS: dict[type, Value] = {StringSlice: "", IntSlice: 0, ListSlice: nil_list()}


@table.budgeted("concat(...any) any")
def concat(budget: Budget, *lists: Value) -> Value:
    joined: list[Value] = []
    for values in lists:
        items = items_of(values, "Cannot concat type {} as list")
        budget.build(8 * len(items))
        joined.extend(items)
    return joined or nil_list()


@table.budgeted("chunk(int, any) [][]any")
@table.budgeted("mustChunk(int, any) [][]any")
def chunk(budget: Budget, size: int, values: Value) -> ListSlice:
    items = items_of(values, "Cannot chunk type {}")
    budget.build(64 * len(items))
    count = (len(items) - 1) // size + 1 if size else -1
    if count < 0:
        raise GoPanic("runtime error: makeslice: len out of range")
    last_size = _remainder(len(items), size) or size
    if count and last_size < 0:
        raise GoPanic("runtime error: makeslice: len out of range")
    ends = [at * size + (last_size if at == count - 1 else size) for at in range(count)]
    return exact(
        budget, ListSlice([exact(budget, list(items[at * size : end])) for at, end in enumerate(ends)])
    )


def _remainder(number: int, by: int) -> int:
    return number % abs(by) if by else 0
