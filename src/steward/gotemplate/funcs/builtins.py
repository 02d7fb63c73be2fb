"""The functions that Go's templates have by themselves. `and`, `or` and `not` are compiled, not called."""

from __future__ import annotations

from itertools import pairwise

from steward.gotemplate.budget import BYTES_A_STEP, Budget
from steward.gotemplate.errors import GoError, GoPanic
from steward.gotemplate.evaluation import comparison
from steward.gotemplate.evaluation.fields import NULL
from steward.gotemplate.fmt import escaping
from steward.gotemplate.fmt.printing import sprint, sprintf, sprintln
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.values.values import (
    STRING,
    ByteSlice,
    Int,
    Uint8,
    Value,
    byte_length,
    from_bytes,
    is_nil,
    to_bytes,
    type_of,
)

table = Table()

table.budgeted("eq(reflect.Value, ...reflect.Value) bool")(comparison.equal)
table.budgeted("ne(reflect.Value, reflect.Value) bool")(comparison.not_equal)
table.budgeted("lt(reflect.Value, reflect.Value) bool")(comparison.less)
table.budgeted("le(reflect.Value, reflect.Value) bool")(comparison.less_or_equal)
table.budgeted("gt(reflect.Value, reflect.Value) bool")(comparison.greater)
table.budgeted("ge(reflect.Value, reflect.Value) bool")(comparison.greater_or_equal)
table.budgeted("html(...any) string")(escaping.escape_html)
table.budgeted("js(...any) string")(escaping.escape_js)
table.budgeted("urlquery(...any) string")(escaping.escape_query)


@table.function("and(reflect.Value, ...reflect.Value) any")
def logical_and(*args: Value) -> Value:
    raise GoPanic("unreachable")


@table.function("or(reflect.Value, ...reflect.Value) any")
def logical_or(*args: Value) -> Value:
    raise GoPanic("unreachable")


@table.function("not(reflect.Value) bool")
def logical_not(value: Value) -> bool:
    return not value


@table.budgeted("print(...any) string")
def print_values(budget: Budget, *args: Value) -> str:
    return _charged(budget, sprint(args, budget))


@table.budgeted("println(...any) string")
def print_line(budget: Budget, *args: Value) -> str:
    return _charged(budget, sprintln(args, budget))


@table.budgeted("printf(string, ...any) string")
def print_format(budget: Budget, template: str, *args: Value) -> str:
    return _charged(budget, sprintf(template, args, budget))


def _charged(budget: Budget, text: str) -> str:
    if len(text) > 256:
        budget.build(len(text))
    return text


@table.budgeted("len(reflect.Value) int")
def length(budget: Budget, item: Value) -> int:
    if type(item) is str:
        budget.work(len(item) // BYTES_A_STEP)
        return byte_length(item)
    if isinstance(item, list | dict | ByteSlice):
        return len(item)
    if item is NULL:
        raise GoError("len of nil pointer")
    found = type_of(item)
    if found is None:
        raise GoPanic("reflect: call of reflect.Value.Type on zero Value")
    raise GoError(f"len of type {found.name.removeprefix('*')}")


@table.budgeted("index(reflect.Value, ...reflect.Value) any")
def index(budget: Budget, item: Value, *indexes: Value) -> Value:
    if item is None:
        raise GoError("index of untyped nil")
    for at in indexes:
        item = _index_once(budget, item, at)
    return item


def _index_once(budget: Budget, item: Value, at: Value) -> Value:
    if item is None:
        raise GoError("index of nil pointer")
    if isinstance(item, dict):
        return _map_entry(item, at)
    if isinstance(item, list):
        place = _place(at, len(item))
        if place == len(item):
            raise GoPanic("reflect: slice index out of range")
        return item[place]
    if isinstance(item, str | ByteSlice):
        return _byte_at(budget, item, at)
    found = type_of(item)
    raise GoError(f"can't index item of type {found.name.removeprefix('*') if found else 'nil'}")


def _byte_at(budget: Budget, item: str | ByteSlice, at: Value) -> Uint8:
    budget.work(len(item) // BYTES_A_STEP)
    data = to_bytes(item) if isinstance(item, str) else item
    place = _place(at, len(data))
    if place == len(data):
        raise GoPanic(f"reflect: {'string' if isinstance(item, str) else 'slice'} index out of range")
    return Uint8(data[place])


def _map_entry(entries: dict[str, Value], key: Value) -> Value:
    if type(key) is not str:
        found = type_of(key)
        if found is None:
            raise GoError("value is nil; should be of type string")
        raise GoError(f"value has type {found.name}; should be string")
    if key in entries:
        return entries[key]
    kind = type_of(entries)
    return "" if kind is not None and kind.elem is STRING else None


def _place(at: Value, size: int) -> int:
    """An index, which may be the length itself: Go lets reflection complain about that one."""
    if at is None:
        raise GoError("cannot index slice/array with nil")
    if isinstance(at, bool) or not isinstance(at, int):
        found = type_of(at)
        raise GoError(f"cannot index slice/array with type {found.name if found else 'nil'}")
    number = int(at)
    if isinstance(at, Int) and not at.signed and number > 0x7FFFFFFFFFFFFFFF:
        number -= 1 << 64
    if number < 0 or number > size:
        raise GoError(f"index out of range: {number}")
    return number


@table.function("slice(reflect.Value, ...reflect.Value) any")
def cut(item: Value, *indexes: Value) -> Value:
    """Go's own slice; sprig's, which has the same name, hides it."""
    if item is None:
        raise GoError("slice of untyped nil")
    if len(indexes) > 3:
        raise GoError(f"too many slice indexes: {len(indexes)}")
    if not isinstance(item, str | list | ByteSlice):
        found = type_of(item)
        raise GoError(f"can't slice item of type {found.name if found else 'nil'}")
    if isinstance(item, str) and len(indexes) == 3:
        raise GoError("cannot 3-index slice a string")
    return _cut(item, indexes)


def _cut(item: Value, indexes: tuple[Value, ...]) -> Value:
    data = to_bytes(item) if isinstance(item, str) else item
    bounds = [0, len(data)]
    bounds[: len(indexes)] = [_place(at, len(data)) for at in indexes]
    for low, high in pairwise(bounds):
        if low > high:
            raise GoError(f"invalid slice index: {low} > {high}")
    part = data[bounds[0] : bounds[1]]
    if isinstance(item, str):
        return from_bytes(part)
    return part if type(item) in (list, bytes) or is_nil(item) else type(item)(part)


@table.function("call(reflect.Value, ...reflect.Value) any")
def call(name: str | None, value: Value, *_args: Value) -> Value:
    """No value that a template can hold is a function. The compiler passes the operand's own text as its name."""
    if value is None:
        raise GoError("call of nil")
    found = type_of(value)
    shown = found.name if found else "nil"
    if name is None:
        name = value if type(value) is str else f"<{shown} Value>"
    raise GoError(f"non-function {name} of type {shown}")
