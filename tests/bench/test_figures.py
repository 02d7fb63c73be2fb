"""Ratios of pairs within a round, targets for values and ratios, percentiles."""

import math

import pytest
from bench.measuring.figures import (
    Figure,
    Target,
    at_least,
    at_least_of_floor,
    at_most,
    at_most_of_floor,
    percentile,
    with_floor,
    with_paired_floors,
)


def test_a_figure_with_a_floor_has_their_ratio():
    assert with_floor("memory", 50, "MB", 40).ratio == 1.25


def test_a_floor_of_zero_makes_an_infinite_ratio():
    assert with_floor("writes", 3, "", 0).ratio == math.inf


def test_the_ratio_of_paired_rounds_is_their_median():
    # The second round was slow for both: within it they were alike, and that is what counts.
    figure = with_paired_floors("applies", "/s", ours=[90, 40, 300], floors=[100, 40, 250])
    assert (figure.value, figure.floor, figure.ratio) == (90, 100, 1.0)


def test_pairs_with_a_missing_round_are_rejected():
    with pytest.raises(ValueError, match="shorter"):
        with_paired_floors("applies", "/s", ours=[90, 40], floors=[100])


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        (at_least(90), "met"),
        (at_least(91), "missed"),
        (at_most(90), "met"),
        (at_most(89), "missed"),
        (at_least_of_floor(0.9), "met"),
        (at_least_of_floor(0.91), "missed"),
        (at_most_of_floor(0.9), "met"),
        (at_most_of_floor(0.89), "missed"),
    ],
)
def test_a_target_applies_to_the_value_or_the_ratio(target: Target, verdict: str):
    assert with_floor("applies", 90, "/s", 100, target).verdict == verdict


def test_an_unknown_ratio_misses_its_target():
    assert Figure("applies", 90, "/s", target=at_least_of_floor(0.1)).verdict == "missed"


def test_a_figure_without_a_target_has_no_verdict():
    assert with_floor("applies", 90, "/s", 100).verdict == ""


@pytest.mark.parametrize(("share", "value"), [(0.0, 1), (0.5, 50), (0.99, 99), (1.0, 100)])
def test_a_percentile_is_a_measured_value(share: float, value: int):
    assert percentile(range(100, 0, -1), share) == value
