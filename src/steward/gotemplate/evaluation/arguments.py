"""Whether a value may be passed where a function wants a type, with Go's words when it may not."""

from __future__ import annotations

import functools
from typing import Any, Final

from steward.gotemplate.budget import BYTES_A_STEP, Budget
from steward.gotemplate.errors import GoError
from steward.gotemplate.evaluation.fields import NULL
from steward.gotemplate.evaluation.runtime_errors import Fault
from steward.gotemplate.syntax.nodes import Bool, Node, Number, String
from steward.gotemplate.values.values import (
    ANY,
    DICT,
    INT,
    REFLECT_VALUE,
    STRING,
    GoType,
    Int,
    Map,
    NilDict,
    NilList,
    Slice,
    Value,
    type_of,
)

LARGE: Final = 64 << 10
"""A function may take a string apart, which needs more room than the string itself."""

_SIGNED: Final = frozenset({"int", "int8", "int16", "int32", "int64"})
_UNSIGNED: Final = frozenset({"uint", "uint8", "uint16", "uint32", "uint64", "uintptr"})


def want_string(value: Value, budget: Budget) -> str:
    """What is no short string: long ones cost steps wherever they are passed, others do not fit."""
    if type(value) is str:
        budget.work(len(value) // BYTES_A_STEP)
        if len(value) > LARGE:
            budget.build(len(value))
        return value
    return want(value, STRING)  # type: ignore[no-any-return]


def want_held_string(value: Value, budget: Budget) -> str:
    return want_string(NULL if value is None else value, budget)


def want_held(value: Value, wanted: GoType) -> Value:
    """As `want`, for a value of static type interface{}."""
    return want(NULL if value is None else value, wanted)


def want(value: Value, wanted: GoType) -> Value:
    """The value as a parameter of that type takes it; a Fault if it does not."""
    if value is NULL:
        if wanted is ANY or wanted is REFLECT_VALUE:
            return None
        raise Fault(f"wrong type for value; expected {wanted.name}; got interface {{}}")
    if value is None:
        return zero_of(wanted)
    found = type_of(value)
    if found is wanted or wanted is ANY or wanted is REFLECT_VALUE:
        return value
    raise Fault(f"wrong type for value; expected {wanted.name}; got {found.name if found else 'nil'}")


def zero_of(wanted: GoType) -> Value:
    """What no value becomes: a nil of the type, if it has one."""
    if not wanted.nilable:
        raise Fault(f"invalid value; expected {wanted.name}")
    return nil_of(wanted)


def nil_of(wanted: GoType) -> Value:
    if wanted is DICT:
        return NilDict()
    if wanted.kind == "map":
        return _class_of(Map, wanted).nil()
    if wanted.kind == "slice":
        return NilList() if wanted.elem is ANY else _class_of(Slice, wanted).nil()
    return None


@functools.lru_cache(maxsize=64)
def _class_of(base: Any, wanted: GoType) -> Any:
    """The Python class of a Go type, among the subclasses of `base`; `base` if there is none."""
    for known in base.__subclasses__():
        if getattr(known, "go_type", None) is wanted and known not in (NilList, NilDict):
            return known
        found = _class_of(known, wanted)
        if found is not known:
            return found
    return base


def constant(node: Node, wanted: GoType) -> Value:
    """A literal where a parameter of that type is; GoError with Go's words if it cannot be one."""
    if wanted is ANY or wanted is REFLECT_VALUE:
        return ideal(node)
    kind = wanted.kind
    if kind == "string":
        return _expect(node.text if isinstance(node, String) else None, "string", node)
    if kind == "bool":
        return _expect(node.value if isinstance(node, Bool) else None, "bool", node)
    if kind in _SIGNED or kind in _UNSIGNED:
        return _integer(node, wanted)
    if kind == "float64":
        return _expect(node.as_float if isinstance(node, Number) else None, "float", node)
    if kind == "complex128":
        return _expect(node.as_complex if isinstance(node, Number) else None, "complex", node)
    raise GoError(f"can't handle {node} for arg of type {wanted.name}")


def _expect(value: Value, name: str, node: Node) -> Value:
    if value is None:
        raise GoError(f"expected {name}; found {node}")
    return value


def _integer(node: Node, wanted: GoType) -> int:
    signed = wanted.kind in _SIGNED
    number = None
    if isinstance(node, Number):
        number = node.as_int if signed else node.as_uint
    number = _expect(number, "integer" if signed else "unsigned integer", node)
    if wanted is INT:
        return number  # type: ignore[no-any-return]
    return _class_of(Int, wanted)(number)  # type: ignore[no-any-return]


def ideal(node: Node) -> Value:
    """A literal where anything may stand: the form of a number decides its type."""
    if isinstance(node, String):
        return node.text
    if isinstance(node, Bool):
        return node.value
    if not isinstance(node, Number):
        raise GoError(f"can't handle assignment of {node} to empty interface argument")
    return _ideal_number(node)


def _ideal_number(node: Number) -> Value:
    text = node.text
    if node.as_complex is not None:
        return node.as_complex
    if node.as_float is not None and text[0] != "'" and not _is_hex(text) and any(c in text for c in ".eEpP"):
        return node.as_float
    if node.as_int is None:
        raise GoError(f"{text} overflows int")
    return node.as_int


def _is_hex(text: str) -> bool:
    return len(text) > 2 and text[:2] in ("0x", "0X") and not any(c in text for c in "pP")
