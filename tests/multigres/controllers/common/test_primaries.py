"""The last known primary of a shard, and when it is read again."""

import pytest

from steward.kube.objects.kinds import Key
from steward.multigres.controllers.common.primaries import (
    CHECK_SECONDS,
    UNANSWERED_SECONDS,
    Primaries,
    PrimaryObservation,
)
from steward.multigres.topology.store_records import PoolerRecord
from steward.testkit import FakeClock

SHARD = Key("shop", "s")
PRIMARY = PoolerRecord("z1", "a-0", "a-0.a.shop.svc", "db", "tg", "0", True, 2)


def test_the_primary_of_a_shard_that_was_never_checked_is_unknown() -> None:
    assert Primaries(FakeClock()).last(SHARD) is None


def test_an_observation_without_a_primary_replaces_one_with_a_primary() -> None:
    clock = FakeClock()
    primaries = Primaries(clock)
    primaries.record(SHARD, PrimaryObservation(PRIMARY, clock.monotonic()))
    without = PrimaryObservation(None, clock.monotonic())
    primaries.record(SHARD, without)
    assert primaries.last(SHARD) == without


@pytest.mark.parametrize(
    ("age", "is_answered", "is_requested"),
    [
        (CHECK_SECONDS / 2, True, False),
        (CHECK_SECONDS * 2, True, True),
        (CHECK_SECONDS * 2, False, False),
        (UNANSWERED_SECONDS * 2, False, True),
    ],
)
def test_a_check_is_requested_again_once_the_last_one_is_some_time_ago(
    age: float, is_answered: bool, is_requested: bool
) -> None:
    clock = FakeClock()
    primaries = Primaries(clock)
    requested: list[Key] = []
    primaries.check_requests.connect(lambda key, lane: requested.append(key))
    primaries.record(SHARD, PrimaryObservation(None, clock.monotonic(), is_answered=is_answered))
    clock.advance(age)
    primaries.request_check(SHARD, "mini", since=0.0)
    assert requested == [Key("shop", "mini")] * is_requested


def test_an_observation_that_began_too_early_is_requested_again_at_once() -> None:
    clock = FakeClock()
    primaries = Primaries(clock)
    requested: list[Key] = []
    primaries.check_requests.connect(lambda key, lane: requested.append(key))
    primaries.request_check(SHARD, "mini", since=clock.monotonic())
    primaries.record(SHARD, PrimaryObservation(PRIMARY, clock.monotonic()))
    primaries.request_check(SHARD, "mini", since=clock.monotonic() + 0.1)
    assert requested == [Key("shop", "mini")] * 2
