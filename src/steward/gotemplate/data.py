"""Data for templates from JSON, as Go's decoder gives it: every number a float64, every string valid UTF-8."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from steward.gotemplate.values.values import Value

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def from_json(text: str | bytes) -> Value:
    """ValueError if the text is no JSON. Half a surrogate pair is U+FFFD, as in Go."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_int=_finite, parse_float=_finite, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None
    return _repaired(value) if _may_have_surrogates(text) else value


def _may_have_surrogates(text: str) -> bool:
    """An escaped backslash before `ud800` also counts: repairing what needs no repair is only slower."""
    return bool(_SURROGATE.search(text) or ("\\u" in text and _ESCAPED_SURROGATE.search(text)))


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"JSON number {digits} is out of range")
    return number


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _repaired(value: Any) -> Value:
    if isinstance(value, str):
        return _SURROGATE.sub("�", value)
    if isinstance(value, list):
        return [_repaired(item) for item in value]
    if isinstance(value, dict):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    return value
