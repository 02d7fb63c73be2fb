"""Compares a value with a schema: unknown fields, types, allowed values, bounds. Pure.

All problems are reported, in words of our own: the decoder of the operators stops at the first and speaks of `str`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from steward.cli.lint.builtin_kinds import Schema, resolve_schema

_TYPES: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "string": ((str,), "text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
    "array": ((list,), "a list"),
    "object": ((dict,), "a map"),
}
_FUNCTIONS: Final = {"integer": "int", "number": "float", "boolean": "bool"}
"""The template functions whose result is not text."""
_FEW_FIELDS: Final = 8
_QUANTITY: Final = r"^[+-]?([0-9]+"
_PATTERNS: Final = {
    r"^[a-z0-9]([-_a-z0-9]*[a-z0-9])?$": "lower-case letters, digits, - and _, with a letter or digit at both ends",
    r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$": "lower-case letters, digits, - and ., with a letter or digit at both ends",
    r"^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$": "letters, digits, -, . and _, with a letter or digit at both ends",
    r"^[-._a-zA-Z0-9]+$": "letters, digits, -, . and _",
    r"^https?://": "an address that begins with http:// or https://",
    r"^[0-9a-fA-F.:]+$": "an IP address",
    r"^[0-9]+(s|m|h)$": "a duration such as 30s, 5m or 1h",
    r"^([0-9]+(s|m|h))+$": "a duration such as 30s, 5m or 1h30m",
    r"^([0-9]+(ms|s|m|h))+$": "a duration such as 500ms, 30s or 1h30m",
}


class SchemaProblem(NamedTuple):
    field: str
    message: str
    is_about_name: bool = False
    """Whether the name of the field is wrong, not its value."""


def schema_problems(value: Any, schema: Schema, field: str) -> Iterator[SchemaProblem]:
    """Nothing for null: the API server drops it."""
    schema = resolve_schema(schema)
    if value is None:
        return
    if message := _value_problem(value, schema):
        yield SchemaProblem(field, message)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from schema_problems(item, schema.get("items") or {}, f"{field}[{index}]")
    elif isinstance(value, dict):
        yield from _field_problems(value, schema, field)


def _field_problems(value: dict[str, Any], schema: Schema, field: str) -> Iterator[SchemaProblem]:
    properties = schema.get("properties")
    additional = schema.get("additionalProperties")
    for name in schema.get("required", ()):
        if value.get(name) is None and not _has_default(properties, name):
            yield SchemaProblem(f"{field}.{name}", "is missing")
    for name, item in value.items():
        if isinstance(properties, dict) and name in properties:
            yield from schema_problems(item, properties[name], f"{field}.{name}")
        elif isinstance(additional, dict):
            yield from schema_problems(item, additional, f"{field}.{name}")
        elif isinstance(properties, dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield SchemaProblem(
                f"{field}.{name}", _unknown_field_message(str(name), properties), is_about_name=True
            )


def _has_default(properties: Any, name: str) -> bool:
    """Whether the API server fills the field in."""
    return isinstance(properties, dict) and "default" in (properties.get(name) or {})


def _unknown_field_message(name: str, properties: Mapping[str, Any]) -> str:
    if similar := get_close_matches(name, properties, 1):
        return f"there is no such field; did you mean {similar[0]}?"
    if 0 < len(properties) <= _FEW_FIELDS:
        return f"there is no such field; here are: {', '.join(properties)}"
    return "there is no such field"


def _value_problem(value: Any, schema: Schema) -> str:
    """The problem of the value itself, without that of its parts; empty if there is none."""
    if message := _type_problem(value, schema):
        return message
    if isinstance(value, str) and "{{" in value:
        return ""
    return _enum_problem(value, schema) or _bound_problem(value, schema) or _pattern_problem(value, schema)


def _type_problem(value: Any, schema: Schema) -> str:
    if schema.get("x-kubernetes-int-or-string"):
        return _mixed_problem(value, schema)
    expected = _TYPES.get(schema.get("type", ""))
    if expected is None:
        return ""
    types, words = expected
    if isinstance(value, types) and isinstance(value, bool) == (types == (bool,)):
        return ""
    if isinstance(value, str) and "{{" in value:
        return _template_problem(value, schema["type"], words)
    return f"must be {words}, and is {describe_value(value)}{_type_cure(value, schema['type'])}"


def _mixed_problem(value: Any, schema: Schema) -> str:
    fits = isinstance(value, str | int) or (isinstance(value, float) and schema.get("x-quantity"))
    if fits and not isinstance(value, bool):
        return ""
    return f"must be a number or text, and is {describe_value(value)}"


def _template_problem(text: str, expected: str, words: str) -> str:
    """A template gives text, unless its function makes a number or a boolean of it; which it does is not known here."""
    function = _FUNCTIONS.get(expected)
    if function is None:
        return f"must be {words}, and a template gives text"
    if any(name in text for name in _FUNCTIONS.values()):
        return ""
    return f"must be {words}, and this template gives text: write {{{{ {function} ... }}}}"


def _type_cure(value: Any, expected: str) -> str:
    if expected == "string" and isinstance(value, bool | int | float):
        return ": put it in quotes"
    if expected in _FUNCTIONS and isinstance(value, str) and _is_quoted(value, expected):
        return ": remove the quotes"
    return ""


def _is_quoted(value: str, expected: str) -> bool:
    pattern = {"integer": r"-?[0-9]+", "number": r"-?[0-9]+(\.[0-9]+)?", "boolean": "true|false"}[expected]
    return re.fullmatch(pattern, value) is not None


def describe_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value}"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "a map"


def _enum_problem(value: Any, schema: Schema) -> str:
    allowed = schema.get("enum")
    if not allowed or value in allowed:
        return ""
    words = [str(each) for each in allowed]
    near = [each for each in words if each.lower() == str(value).lower()]
    near = near or get_close_matches(str(value), words, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"is {str(value)[:40]!r}, and must be one of: {', '.join(words)}{hint}"


def _bound_problem(value: Any, schema: Schema) -> str:
    if isinstance(value, str | list | dict):
        return _size_problem(len(value), schema)
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and value < least:
        return f"is {value}, and must be at least {least}"
    return f"is {value}, and may be {most} at most" if most is not None and value > most else ""


def _size_problem(size: int, schema: Schema) -> str:
    for noun, unit in (("Length", "character"), ("Items", "entries"), ("Properties", "entries")):
        least, most = schema.get(f"min{noun}"), schema.get(f"max{noun}")
        if least is not None and size < least:
            return "is empty: fill it in" if size == 0 else f"has {size} {unit}s, and needs {least}"
        if most is not None and size > most:
            return f"has {size} {unit.removesuffix('s')}s, and may have {most}"
    return ""


def _pattern_problem(value: Any, schema: Schema) -> str:
    pattern = schema.get("pattern")
    if not isinstance(pattern, str) or not isinstance(value, str) or re.search(pattern, value):
        return ""
    if pattern.startswith(_QUANTITY):
        return f"is {value[:40]!r}, and must be a quantity such as 500m, 2 or 10Gi"
    return f"is {value[:40]!r}, and must be {_PATTERNS.get(pattern, f'of the form {pattern}')}"
