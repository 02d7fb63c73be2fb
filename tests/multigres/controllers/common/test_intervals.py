"""Checks of all clusters meet at the same times."""

import pytest

from steward.multigres.controllers.common.intervals import seconds_until_next


@pytest.mark.parametrize("now", [30.0, 30.1, 37.5, 44.9])
def test_all_checks_between_two_multiples_meet_at_the_next(now: float) -> None:
    assert now + seconds_until_next(now, 15.0) == pytest.approx(45.0)


def test_a_check_at_a_multiple_waits_for_a_whole_period() -> None:
    assert seconds_until_next(45.0, 15.0) == 15.0
