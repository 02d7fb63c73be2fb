"""What range runs over."""

from __future__ import annotations

from typing import Any

import pytest

from steward.gotemplate.budget import Budget, Limits, Profile, budget_of
from steward.gotemplate.errors import OverBudget
from steward.gotemplate.evaluation.loops import elements, pairs
from steward.gotemplate.evaluation.runtime_errors import Fault
from steward.gotemplate.values.values import ByteSlice, Int64, StringMap, Uint8


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([1, 2], [1, 2]),
        ({"b": 2, "a": 1}, [1, 2]),
        (3, [0, 1, 2]),
        (Int64(2), [Int64(0), Int64(1)]),
        (-1, []),
        (None, []),
        (ByteSlice(b"a"), [Uint8(97)]),
    ],
)
def test_elements(value: Any, found: list[Any]) -> None:
    made = list(elements(value, Budget(), 1))
    assert made == found
    assert [type(item) for item in made] == [type(item) for item in found]


def test_pairs() -> None:
    assert list(pairs(["a"], Budget(), 1)) == [(0, "a")]
    assert list(pairs(StringMap({"_2": "b", "_10": "a"}), Budget(), 1)) == [("_10", "a"), ("_2", "b")]


@pytest.mark.parametrize("value", ["text", 1.5, True])
def test_what_cannot_be_ranged_over(value: Any) -> None:
    with pytest.raises(Fault, match="range can't iterate over"):
        elements(value, Budget(), 1)


def test_a_number_has_no_second_variable() -> None:
    with pytest.raises(Fault, match="can't use 3 to iterate over more than one variable"):
        pairs(3, Budget(), 1)


def test_all_turns_are_charged_before_the_first() -> None:
    with pytest.raises(OverBudget):
        elements(10**18, budget_of(Limits(steps=10), Profile.HERMETIC), 1)
