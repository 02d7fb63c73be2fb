"""The tenants set's int, float and bool: types beside the text."""

from __future__ import annotations

from typing import Any

import pytest

from steward.gotemplate import parse
from steward.gotemplate.funcs.typed import to_bool, to_float, to_int


def value_of(source: str, **data: Any) -> Any:
    return parse(source, functions="tenants", missingkey="defaulted").render_value(data)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("42", 42),
        (" 7 ", 7),
        ("3.9", 3),
        ("-3.9", -3),
        (3.9, 3),
        (True, 1),
        ("x", 0),
        (None, 0),
        ("1e3", 1000),
        ([], 0),
        ("9" * 30, 0),
    ],
)
def test_int_truncates_and_turns_what_is_none_into_zero(given: Any, expected: int) -> None:
    assert to_int(given) == expected


@pytest.mark.parametrize(
    ("given", "expected"), [("1.5", 1.5), (2, 2.0), (True, 1.0), ("x", 0.0), (None, 0.0)]
)
def test_float(given: Any, expected: float) -> None:
    assert to_float(given) == expected


@pytest.mark.parametrize("given", ["true", "1", "YES", "On", "t", "y", 1, 2.5, True])
def test_true_words(given: Any) -> None:
    assert to_bool(given) is True


@pytest.mark.parametrize("given", ["false", "0", "no", "off", "", "maybe", 0, 0.0, None, False])
def test_false_words(given: Any) -> None:
    assert to_bool(given) is False


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ int .n }}", 3),
        ("{{ .n | int }}", 3),
        ("{{ (int .n) }}", 3),
        ("{{ .x | default `5` | int }}", 5),
        ("{{ float .n }}", 3.0),
        ("{{ bool .n }}", False),
        ("{{ if .n }}{{ int .n }}{{ else }}{{ int 0 }}{{ end }}", 3),
        ("{{ $n := int .n }}{{ int $n }}", 3),
        ("{{ add (int .n) 1 }}", "4"),
        ("{{ range until (int .n) }}.{{ end }}", "..."),
        ("{{ int .n }}0", "30"),
        ("{{ int .n }}{{ int .n }}", "33"),
        ("{{ .n }}", "3"),
        ("{{ eq .n `3` }}", "true"),
        ("{{ 3 }}", "3"),
    ],
)
def test_only_a_lone_typed_value_has_a_type(source: str, expected: Any) -> None:
    value = value_of(source, n="3")
    assert (value, type(value)) == (expected, type(expected))


def test_text_rendering_shows_typed_values_as_text() -> None:
    assert parse("{{ int .n }}", functions="tenants").render({"n": "3"}) == "3"


def test_other_sets_have_no_types() -> None:
    assert parse("{{ int .n }}").render_value({"n": "3"}) == "3"
