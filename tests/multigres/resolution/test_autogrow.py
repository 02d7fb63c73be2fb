"""Sizes of volumes that grow."""

from fractions import Fraction
from typing import Any

import msgspec
import pytest

from steward.multigres.api.compute import Autogrow, PoolStorage
from steward.multigres.resolution.autogrow import fills_up, grown_size, growth_problem

GIBIBYTE = 1024**3


def rule(**fields: Any) -> Autogrow:
    return msgspec.convert({"max": "100Gi", **fields}, Autogrow)


@pytest.mark.parametrize(
    ("size", "fields", "expected"),
    [
        ("10Gi", {}, "12Gi"),
        ("11Gi", {}, "14Gi"),
        ("10Gi", {"by": "100%"}, "20Gi"),
        ("1Gi", {}, "1229Mi"),
        ("95Gi", {}, "100Gi"),
        ("95Gi", {"max": "96500Mi"}, None),
        ("100Gi", {}, None),
        ("120Gi", {}, None),
        ("10G", {}, "12Gi"),
    ],
)
def test_volumes_grow_in_whole_units_up_to_the_maximum(size: str, fields: Any, expected: str | None) -> None:
    assert grown_size(rule(**fields), size) == expected


@pytest.mark.parametrize(("used", "expected"), [(7, False), (8, True), (11, True)])
def test_a_volume_fills_up_from_its_threshold_on(used: int, expected: bool) -> None:
    assert fills_up(rule(), used * GIBIBYTE, Fraction(10 * GIBIBYTE)) is expected


def test_a_volume_of_unknown_capacity_does_not_fill_up() -> None:
    assert not fills_up(rule(), GIBIBYTE, Fraction(0))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"max": "100Gi"}, ""),
        ({"max": "5Gi"}, "below the size 10Gi"),
        ({"max": "100Gi", "at": "96%"}, "95% or less"),
    ],
    ids=["valid", "maximum-below-size", "threshold-too-high"],
)
def test_a_rule_that_cannot_work_is_a_problem(fields: Any, problem: str) -> None:
    found = growth_problem(msgspec.convert({"size": "10Gi", "autogrow": fields}, PoolStorage))
    assert problem in found if problem else found == ""
