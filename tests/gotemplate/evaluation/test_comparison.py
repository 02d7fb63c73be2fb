"""Which kinds compare with which."""

from __future__ import annotations

from typing import Any

import pytest

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError
from steward.gotemplate.evaluation.comparison import (
    equal,
    greater,
    greater_or_equal,
    less,
    less_or_equal,
    not_equal,
)
from steward.gotemplate.values.values import Int64, NilDict, StringMap, Uint8, nil_list


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (1, 1, True),
        (1, Int64(1), True),
        (Uint8(1), 1, True),
        (-1, Uint8(255), False),
        ("a", "a", True),
        (1.5, 1.5, True),
        (True, False, False),
        (1j, 1j, True),
        (None, None, True),
        (None, "a", False),
        (1, None, False),
        (nil_list(), None, True),
        ([], None, False),
        (NilDict(), {}, False),
    ],
)
def test_equality(first: Any, second: Any, same: bool) -> None:
    assert equal(Budget(), first, second) is same
    assert not_equal(Budget(), first, second) is not same


def test_eq_is_true_if_any_operand_is_equal() -> None:
    assert equal(Budget(), 3, 1, 2, 3)
    with pytest.raises(GoError, match="missing argument for comparison"):
        equal(Budget(), 3)


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        (1, 1.0, "incompatible types for comparison: int and float64"),
        ("a", 1, "incompatible types for comparison: string and int"),
        ([1], "a", "incompatible types for comparison: []interface {} and string"),
        ([1.0], [1.0], "non-comparable type [%!s(float64=1)]: []interface {}"),
        (
            {"a": 1},
            ["b"],
            "non-comparable types map[a:%!s(int=1)]: map[string]interface {}, []interface {}: [b]",
        ),
        (StringMap(), StringMap(), "non-comparable type map[]: map[string]string"),
    ],
)
def test_what_eq_refuses(first: Any, second: Any, error: str) -> None:
    with pytest.raises(GoError) as caught:
        equal(Budget(), first, second)
    assert caught.value.text == error


@pytest.mark.parametrize(
    ("first", "second"),
    [(1, 2), (1.5, 2.5), ("a", "b"), (-1, Uint8(0)), ("\uffff", "\udcff"), ("é", "\udcff")],
)
def test_order(first: Any, second: Any) -> None:
    budget = Budget()
    assert (less(budget, first, second), less(budget, second, first)) == (True, False)
    assert (greater(budget, first, second), greater(budget, second, first)) == (False, True)
    assert (less_or_equal(budget, first, first), greater_or_equal(budget, first, first)) == (True, True)


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        (True, True, "invalid type for comparison"),
        (1j, 1j, "invalid type for comparison"),
        ([], [], "invalid type for comparison"),
        (None, 1, "invalid type for comparison"),
        (1, "a", "incompatible types for comparison: int and string"),
    ],
)
def test_what_lt_refuses(first: Any, second: Any, error: str) -> None:
    with pytest.raises(GoError) as caught:
        less(Budget(), first, second)
    assert caught.value.text == error
