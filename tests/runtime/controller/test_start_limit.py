"""A saturated API server gets a few new objects at a time, and no object waits for ever."""

import pytest

from steward.kube.objects.kinds import Key
from steward.runtime.controller.start_limit import (
    AT_ONCE,
    COUNTED_SECONDS,
    GROWTH_SECONDS,
    MAX_COUNTED_SECONDS,
    StartLimit,
)
from steward.runtime.plan.write_slots import SATURATED
from steward.testkit.clock import FakeClock

COUNTED = COUNTED_SECONDS * SATURATED
KEYS = [Key("shop", str(number)) for number in range(10)]


class Starts:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.slowdown = SATURATED
        self.woken: list[Key] = []
        self.limit = StartLimit(self.clock, lambda: self.slowdown, self.woken.append)

    def start_all(self) -> list[Key]:
        return [key for key in KEYS if self.limit.start(key)]

    def start_after(self, seconds: float) -> list[Key]:
        """All that are started, now or before."""
        self.clock.advance(seconds)
        return self.start_all()


@pytest.fixture
def starts() -> Starts:
    return Starts()


def test_a_few_objects_start_at_once_while_the_server_is_saturated(starts: Starts) -> None:
    assert starts.start_all() == KEYS[:AT_ONCE]


def test_more_and_more_objects_start_while_the_server_has_room(starts: Starts) -> None:
    starts.slowdown = 1.0
    assert [len(starts.start_after(GROWTH_SECONDS)) for _ in range(4)] == [2, 3, 5, 9]


def test_the_limit_stops_growing_when_the_server_is_saturated(starts: Starts) -> None:
    starts.slowdown = 1.0
    assert [len(starts.start_after(GROWTH_SECONDS)) for _ in range(2)] == [2, 3]
    starts.slowdown = SATURATED
    assert [len(starts.start_after(GROWTH_SECONDS)) for _ in range(3)] == [3, 3, 3]


def test_objects_that_start_later_are_few_at_once_again(starts: Starts) -> None:
    starts.slowdown = 1.0
    for _ in range(4):
        starts.start_after(GROWTH_SECONDS)
    for key in KEYS:
        starts.limit.finish(key)
    assert len(starts.start_after(0)) == AT_ONCE


def test_the_limit_stays_while_objects_wait_although_all_started_ones_are_finished(starts: Starts) -> None:
    starts.slowdown = 1.0
    assert [len(starts.start_after(GROWTH_SECONDS)) for _ in range(2)] == [2, 3]
    for key in KEYS[:3]:
        starts.limit.finish(key)
    assert [key for key in KEYS[3:] if starts.limit.start(key)] == KEYS[3:6]


def test_a_finished_object_is_no_longer_started(starts: Starts) -> None:
    starts.start_all()
    starts.limit.finish(KEYS[0])
    assert [starts.limit.is_started(key) for key in KEYS[:3]] == [False, True, False]


def test_a_finished_object_wakes_the_one_that_has_waited_longest(starts: Starts) -> None:
    starts.start_all()
    starts.limit.finish(KEYS[1])
    assert starts.woken == [KEYS[AT_ONCE]]
    assert starts.limit.start(KEYS[AT_ONCE])
    assert not starts.limit.start(KEYS[AT_ONCE + 1])


def test_an_object_that_never_finishes_delays_others_for_a_while(starts: Starts) -> None:
    starts.start_all()
    starts.clock.advance(COUNTED - 1)
    assert starts.limit.is_closed(KEYS[AT_ONCE])
    starts.clock.advance(1)
    assert not starts.limit.is_closed(KEYS[AT_ONCE])


def test_every_object_starts_although_none_finishes(starts: Starts) -> None:
    started: set[Key] = set()
    for _ in range(len(KEYS)):
        started |= set(starts.start_all())
        starts.clock.advance(COUNTED)
    assert started == set(KEYS)


def test_a_started_object_is_not_stopped_again(starts: Starts) -> None:
    starts.start_all()
    assert starts.limit.start(KEYS[0])


def test_a_deleted_object_that_waited_is_not_woken(starts: Starts) -> None:
    starts.start_all()
    starts.limit.finish(KEYS[AT_ONCE])
    starts.limit.finish(KEYS[0])
    assert starts.woken == [KEYS[AT_ONCE + 1]]


def test_an_object_that_was_ready_before_wakes_none(starts: Starts) -> None:
    starts.start_all()
    starts.limit.finish(Key("shop", "old"))
    assert starts.woken == []


def test_a_started_object_counts_longer_on_a_slower_server(starts: Starts) -> None:
    starts.start_all()
    starts.slowdown = 2 * SATURATED
    starts.clock.advance(2 * COUNTED - 1)
    assert starts.limit.is_closed(KEYS[AT_ONCE])
    starts.slowdown = 1000.0
    starts.clock.advance(MAX_COUNTED_SECONDS)
    assert not starts.limit.is_closed(KEYS[AT_ONCE])
