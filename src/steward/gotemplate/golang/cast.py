"""spf13/cast 1.7: any value as a number; what cannot be one is 0."""

from __future__ import annotations

from math import isnan
from typing import Any

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.strconv import MAX_INT64, MIN_INT64, parse_float, parse_int
from steward.gotemplate.values.values import Int, type_of, wrap_int64

# Named integer types (time.Duration) are not looked through, but months and weekdays are.
_INTEGER_NAMES = frozenset(
    (
        *("int", "int8", "int16", "int32", "int64"),
        *("uint", "uint8", "uint16", "uint32", "uint64"),
        *("time.Month", "time.Weekday"),
    )
)


def to_int64(value: Any) -> int:
    """As cast.ToInt64; cast.ToInt is the same on 64 bits."""
    kind = type(value)
    if kind is int or kind is bool:
        return int(value)
    if kind is float:
        return float_to_int(value)
    if kind is str:
        return _parsed_int(value)
    if isinstance(value, Int):
        return wrap_int64(int(value)) if _is_plain_integer(value) else 0
    return float_to_int(value) if isinstance(value, float) else 0


def to_float64(value: Any) -> float:
    """As cast.ToFloat64."""
    kind = type(value)
    if kind is float or kind is int or kind is bool:
        return float(value)
    if kind is str:
        return _parsed_float(value)
    if isinstance(value, Int):
        return float(value) if _is_plain_integer(value) else 0.0
    return float(value) if isinstance(value, float) else 0.0


def _is_plain_integer(value: Int) -> bool:
    found = type_of(value)
    return found is not None and found.name in _INTEGER_NAMES


def float_to_int(value: float) -> int:
    """Go's conversion on amd64: what does not fit becomes the smallest int64."""
    if isnan(value) or not MIN_INT64 <= value < MAX_INT64 + 1:
        return MIN_INT64
    return int(value)


def _parsed_int(text: str) -> int:
    try:
        return parse_int(_without_zero_decimals(text), 0)
    except GoError:
        return 0


def _without_zero_decimals(text: str) -> str:
    """`1.00` is 1; `1.` and `1.5` stay as they are."""
    stripped = text.rstrip("0")
    return stripped[:-1] if stripped.endswith(".") and stripped != text else text


def _parsed_float(text: str) -> float:
    try:
        return parse_float(text)
    except GoError:
        return 0.0
