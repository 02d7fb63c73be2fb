"""Whether a value or a literal fits a parameter."""

from __future__ import annotations

from typing import Any

import pytest

from steward.gotemplate.budget import Budget, Limits, Profile, budget_of
from steward.gotemplate.errors import GoError, OverBudget
from steward.gotemplate.evaluation.arguments import constant, nil_of, want, want_held, want_string
from steward.gotemplate.evaluation.fields import NULL
from steward.gotemplate.evaluation.runtime_errors import Fault
from steward.gotemplate.syntax.lexer import CHAR_CONSTANT, NUMBER
from steward.gotemplate.syntax.literals import number
from steward.gotemplate.syntax.nodes import Bool, String
from steward.gotemplate.values.values import (
    ANY,
    BOOL,
    DICT,
    FLOAT64,
    INT,
    INT64,
    LIST,
    STRING,
    STRINGS,
    GoType,
    Int64,
    StringSlice,
    go_type,
    type_of,
)


@pytest.mark.parametrize(
    ("value", "wanted"), [("a", STRING), (1, INT), ({}, DICT), ([], LIST), (1, ANY), (Int64(1), INT64)]
)
def test_a_value_of_the_type_fits(value: Any, wanted: GoType) -> None:
    assert want(value, wanted) is value


@pytest.mark.parametrize(
    ("value", "wanted", "error"),
    [
        (1, STRING, "wrong type for value; expected string; got int"),
        (Int64(1), INT, "wrong type for value; expected int; got int64"),
        (StringSlice(), LIST, "wrong type for value; expected []interface {}; got []string"),
        (None, STRING, "invalid value; expected string"),
        (NULL, STRING, "wrong type for value; expected string; got interface {}"),
        (NULL, DICT, "wrong type for value; expected map[string]interface {}; got interface {}"),
    ],
)
def test_a_value_of_another_type_does_not(value: Any, wanted: GoType, error: str) -> None:
    with pytest.raises(Fault) as caught:
        want(value, wanted)
    assert caught.value.text == error


def test_no_value_is_the_nil_of_a_type_that_has_one() -> None:
    for wanted in (DICT, LIST, STRINGS, go_type("map[string]string")):
        made = want(None, wanted)
        assert type_of(made) is wanted
        assert made.is_nil
    assert want(None, ANY) is None
    assert nil_of(go_type("*semver.Version")) is None
    with pytest.raises(Fault):
        want_held(None, LIST)


def test_long_strings_cost_steps_where_they_are_passed() -> None:
    assert want_string("a" * 2000, Budget()) == "a" * 2000
    with pytest.raises(OverBudget):
        want_string("a" * 100_000, budget_of(Limits(steps=100), Profile.HERMETIC))


@pytest.mark.parametrize(
    ("node", "wanted", "value"),
    [
        (String(0, '"a"', "a"), STRING, "a"),
        (number(0, "3.0", NUMBER), INT, 3),
        (number(0, "3", NUMBER), FLOAT64, 3.0),
        (number(0, "3", NUMBER), INT64, Int64(3)),
        (number(0, "1e3", NUMBER), ANY, 1000.0),
        (number(0, "0x1F", NUMBER), ANY, 31),
        (number(0, "'e'", CHAR_CONSTANT), ANY, 101),
        (Bool(0, True), BOOL, True),
    ],
)
def test_a_literal_takes_the_type_of_its_parameter(node: Any, wanted: GoType, value: Any) -> None:
    made = constant(node, wanted)
    assert (made, type(made)) == (value, type(value))


@pytest.mark.parametrize(
    ("node", "wanted", "error"),
    [
        (number(0, "1.5", NUMBER), INT, "expected integer; found 1.5"),
        (number(0, "-1", NUMBER), go_type("uint32"), "expected unsigned integer; found -1"),
        (String(0, '"a"', "a"), INT, 'expected integer; found "a"'),
        (number(0, "1", NUMBER), STRING, "expected string; found 1"),
        (number(0, "1", NUMBER), BOOL, "expected bool; found 1"),
        (Bool(0, True), FLOAT64, "expected float; found true"),
        (number(0, "1", NUMBER), LIST, "can't handle 1 for arg of type []interface {}"),
        (number(0, "18446744073709551615", NUMBER), ANY, "18446744073709551615 overflows int"),
    ],
)
def test_a_literal_that_cannot_be_one_is_refused(node: Any, wanted: GoType, error: str) -> None:
    with pytest.raises(GoError) as caught:
        constant(node, wanted)
    assert caught.value.text == error
