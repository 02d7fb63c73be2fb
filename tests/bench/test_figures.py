"""The arithmetic of ratios: pairs within a round, targets on the value or on the ratio, percentiles."""

import math

import pytest
from bench.measuring.figures import (
    Figure,
    Target,
    at_least,
    at_least_of_floor,
    at_most,
    at_most_of_floor,
    beside,
    paired,
    percentile,
)


def test_a_figure_beside_its_floor_has_their_ratio():
    assert beside("memory", 50, "MB", 40).ratio == 1.25


def test_a_floor_of_zero_makes_an_infinite_ratio():
    assert beside("writes", 3, "", 0).ratio == math.inf


def test_the_ratio_of_a_contest_is_the_median_of_its_rounds():
    # The second round was slow for both: within it they were alike, and that is what counts.
    figure = paired("applies", "/s", ours=[90, 40, 300], floors=[100, 40, 250])
    assert (figure.value, figure.floor, figure.ratio) == (90, 100, 1.0)


def test_a_contest_in_which_one_side_lacks_a_round_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        paired("applies", "/s", ours=[90, 40], floors=[100])


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
def test_a_target_is_held_against_the_value_or_the_ratio(target: Target, verdict: str):
    assert beside("applies", 90, "/s", 100, target).verdict == verdict


def test_a_ratio_that_is_not_known_misses_its_target():
    assert Figure("applies", 90, "/s", target=at_least_of_floor(0.1)).verdict == "missed"


def test_a_figure_without_a_target_has_no_verdict():
    assert beside("applies", 90, "/s", 100).verdict == ""


@pytest.mark.parametrize(("share", "value"), [(0.0, 1), (0.5, 50), (0.99, 99), (1.0, 100)])
def test_a_percentile_is_a_value_that_was_measured(share: float, value: int):
    assert percentile(range(100, 0, -1), share) == value
