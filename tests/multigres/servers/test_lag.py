"""A lag is shown in steps, so that a figure that moves is not a status update."""

import pytest

from steward.multigres.servers.lag import SECONDS, shown_lag, with_shown_lags
from tests.multigres.support.servers import HEALTHY, PRIMARY, STANDBY, reporting


@pytest.mark.parametrize(
    ("lag", "shown", "expected"),
    [
        (None, None, None),
        (None, 30.0, None),
        (29.9, None, None),
        (30.0, None, 30.0),
        (59.0, 30.0, 30.0),
        (61.0, 30.0, 60.0),
        (20.0, 30.0, 30.0),
        (14.9, 30.0, None),
        (40.0, 60.0, 60.0),
        (29.0, 60.0, None),
        (310.0, 1800.0, 300.0),
        (1e9, None, 43200.0),
    ],
)
def test_lag_is_shown_in_steps(lag: float | None, shown: float | None, expected: float | None) -> None:
    assert shown_lag(lag, shown, SECONDS) == expected


@pytest.mark.parametrize(
    ("replayed", "lag"),
    [(1 << 30, None), ((1 << 30) - (63 << 20), None), ((1 << 30) - (64 << 20), 64 << 20), (None, None)],
)
def test_lag_is_the_wal_that_a_standby_has_yet_to_replay(replayed: int | None, lag: int | None) -> None:
    observation = reporting(pg_0=PRIMARY._replace(position=1 << 30), pg_1=STANDBY._replace(position=replayed))
    assert with_shown_lags(observation, None).reports["pg-1"].lag_bytes == lag


def test_positions_are_not_kept() -> None:
    observation = reporting(pg_0=PRIMARY._replace(position=1), pg_1=STANDBY._replace(position=1))
    assert with_shown_lags(observation, None) == HEALTHY
