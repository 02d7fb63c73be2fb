"""The tenants set's `int`, `float` and `bool`: plain Go values that also give a rendered field its type.

The type travels beside the text (see Template.render_value), never inside it: a row value cannot pretend to be a
number, and arithmetic on `int` works as on any int.
"""

from __future__ import annotations

import math
from typing import Final

from steward.gotemplate.errors import GoError
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang.strconv import parse_float
from steward.gotemplate.values.values import Value

table = Table()
TRUE_WORDS: Final = frozenset({"true", "1", "yes", "on", "t", "y"})
_INT64_END: Final = 1 << 63


@table.function("int(any) int")
def to_int(value: Value) -> int:
    """Truncates floats; what is no number is 0."""
    if isinstance(value, str):
        value = _number(value)
    if isinstance(value, float):
        value = 0 if math.isnan(value) or math.isinf(value) else math.trunc(value)
    if not isinstance(value, int) or not -_INT64_END <= value < _INT64_END:
        return 0
    return int(value)


@table.function("float(any) float64")
def to_float(value: Value) -> float:
    if isinstance(value, str):
        value = _number(value)
    return float(value) if isinstance(value, int | float) else 0.0


@table.function("bool(any) bool")
def to_bool(value: Value) -> bool:
    """true, 1, yes, on, t and y in any case, and numbers other than 0."""
    if isinstance(value, str):
        return value.strip().lower() in TRUE_WORDS
    return bool(value) if isinstance(value, int | float) else False


def _number(text: str) -> int | float:
    text = text.strip()
    digits = text[1:] if text[:1] in ("+", "-") else text
    if digits.isascii() and digits.isdigit() and len(digits) < 20:
        return int(text)
    try:
        return parse_float(text)
    except GoError:
        return 0
