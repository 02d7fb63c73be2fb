"""Whoever asks for the same round, whenever, is given the same moment."""

import pytest

from steward.multigres.controllers.topology.rounds import until_next_round


@pytest.mark.parametrize("now", [30.0, 30.1, 37.5, 44.9])
def test_all_who_ask_between_two_rounds_meet_in_the_next(now: float) -> None:
    assert now + until_next_round(now, 15.0) == pytest.approx(45.0)


def test_who_asks_in_a_round_waits_for_a_whole_one() -> None:
    assert until_next_round(45.0, 15.0) == 15.0
