"""sprig's dictionary functions. Maps are shared, not copied: set, unset and merge change what they are given.

Go walks a map in random order; `keys` and `values` here go by key, so that a rendering repeats.
"""

from __future__ import annotations

from itertools import zip_longest

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoPanic
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.funcs.text.text import text_of
from steward.gotemplate.values.values import StringSlice, Value, is_nil, sorted_keys, type_of

table = Table()

Dict = dict[str, Value]


@table.budgeted("dict(...any) map[string]any")
def make_dict(budget: Budget, *pairs: Value) -> Dict:
    """The last key has no value if their number is odd: it gets an empty string."""
    keys = [key if type(key) is str else text_of(key, budget) for key in pairs[::2]]
    return dict(zip_longest(keys, pairs[1::2], fillvalue=""))


@table.function("get(map[string]any, string) any")
def get(values: Dict, key: str) -> Value:
    return values.get(key, "")


@table.function("set(map[string]any, string, any) map[string]any")
def set_key(values: Dict, key: str, value: Value) -> Dict:
    if is_nil(values):
        raise GoPanic("assignment to entry in nil map")
    values[key] = value
    return values


@table.function("unset(map[string]any, string) map[string]any")
def unset(values: Dict, key: str) -> Dict:
    values.pop(key, None)
    return values


@table.function("hasKey(map[string]any, string) bool")
def has_key(values: Dict, key: str) -> bool:
    return key in values


@table.function("pluck(string, ...map[string]any) []any")
def pluck(key: str, *dicts: Dict) -> list[Value]:
    return [values[key] for values in dicts if key in values]


@table.function("keys(...map[string]any) []string")
def keys(*dicts: Dict) -> StringSlice:
    return StringSlice([key for values in dicts for key in sorted_keys(values)])


@table.function("values(map[string]any) []any")
def values_by_key(values: Dict) -> list[Value]:
    return [values[key] for key in sorted_keys(values)]


@table.function("pick(map[string]any, ...string) map[string]any")
def pick(values: Dict, *wanted: str) -> Dict:
    return {key: values[key] for key in wanted if key in values}


@table.function("omit(map[string]any, ...string) map[string]any")
def omit(values: Dict, *unwanted: str) -> Dict:
    return {key: value for key, value in values.items() if key not in unwanted}


@table.function("dig(...any) any")
def dig(*arguments: Value) -> Value:
    """`dig "a" "b" default map`: an explicit nil is found; a step that is no map is a panic."""
    if len(arguments) < 3:
        raise GoPanic("dig needs at least three arguments")
    *path, fallback, values = arguments
    current = _as_dict(values)
    names = [_as_string(name) for name in path]
    for name in names[:-1]:
        if name not in current:
            return fallback
        current = _as_dict(current[name])
    return current.get(names[-1], fallback)


def _as_dict(value: Value) -> Dict:
    found = type_of(value)
    if found is None or found.name != "map[string]interface {}":
        raise _conversion(value, "map[string]interface {}")
    known: Dict = value
    return known


def _as_string(value: Value) -> str:
    if not isinstance(value, str):
        raise _conversion(value, "string")
    return value


def _conversion(value: Value, wanted: str) -> GoPanic:
    found = type_of(value)
    name = "nil" if found is None else found.name
    return GoPanic(f"interface conversion: interface {{}} is {name}, not {wanted}")
