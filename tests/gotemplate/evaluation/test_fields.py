"""Field access under the missing-key modes, and Go's two nils."""

from __future__ import annotations

from typing import Any

import pytest

from steward.gotemplate.evaluation.fields import NULL, Fields, MissingKey
from steward.gotemplate.evaluation.runtime_errors import Fault, FieldFault
from steward.gotemplate.values.values import NilDict, StringMap

STRICT = Fields(MissingKey.ERROR)
LENIENT = Fields(MissingKey.DEFAULT)
ZERO = Fields(MissingKey.ZERO)


def test_a_path_is_walked_through_maps() -> None:
    assert STRICT.walk({"a": {"b": 1}}, "a", "b") == 1
    assert STRICT.field({"a": 1}, "a") == 1
    assert STRICT.view(StringMap({"a": "x"}))["a"] == "x"


@pytest.mark.parametrize(
    ("value", "names", "error"),
    [
        ({}, ["a"], 'map has no entry for key "a"'),
        (StringMap(), ["a"], 'map has no entry for key "a"'),
        (None, ["a"], 'nil data; no entry for key "a"'),
        ({"a": None}, ["a", "b"], "nil pointer evaluating interface {}.b"),
        ({"a": "s"}, ["a", "b"], "can't evaluate field b in type interface {}"),
        (StringMap({"a": "s"}), ["a", "b"], "can't evaluate field b in type string"),
        (3, ["a"], "can't evaluate field a in type int"),
    ],
)
def test_what_strict_access_refuses(value: Any, names: list[str], error: str) -> None:
    with pytest.raises(Fault) as caught:
        STRICT.walk(value, *names)
    assert caught.value.text == error


def test_a_missing_key_is_no_value_or_a_zero() -> None:
    assert LENIENT.walk({}, "a", "b") is None
    assert ZERO.field(StringMap(), "a") == ""
    assert ZERO.field({}, "a") is None
    assert LENIENT.field(NilDict(), "a") is None


def test_a_null_in_data_differs_from_a_missing_key() -> None:
    assert LENIENT.marked({"a": None}, "a") is NULL
    assert LENIENT.marked({}, "a") is None
    assert ZERO.marked({}, "a") is NULL
    assert LENIENT.marked_held({"a": 1}, "a") == 1


def test_an_element_of_a_list_knows_both_of_its_types() -> None:
    with pytest.raises(FieldFault) as caught:
        STRICT.field_held("s", "x")
    assert (caught.value.text, caught.value.concrete) == (
        "can't evaluate field x in type interface {}",
        "can't evaluate field x in type string",
    )
