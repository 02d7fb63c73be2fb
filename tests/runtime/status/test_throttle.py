"""An initial status soon, another when progress stops or takes long, and no delay for unchanged content."""

from typing import Any

import pytest

from steward.kube.objects.kinds import Key, Kind, Ref
from steward.runtime.status.throttle import (
    BLOCKED_SECONDS,
    INITIAL_DELAY_SECONDS,
    MAX_INTERVAL_SECONDS,
    UNCHANGED_SECONDS,
    StatusThrottle,
    StatusUpdate,
    content_hash,
)
from steward.testkit import FakeClock

REF = Ref(Kind("example.com/v1", "Thing"), Key("shop", "x"))


def update(message: str, since: str = "t", /, *, is_blocked: bool = False) -> StatusUpdate:
    conditions = [{"type": "Ready", "lastTransitionTime": since}]
    status: dict[str, Any] = {"message": message, "conditions": conditions}
    return StatusUpdate(content_hash(status), is_blocked)


class Throttling:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.throttle = StatusThrottle(self.clock)

    def wait(self, message: str, since: str = "t", /, *, is_blocked: bool = False) -> float:
        return self.throttle.seconds_to_wait(REF, update(message, since, is_blocked=is_blocked))

    def record(self, message: str, *, is_blocked: bool = False) -> None:
        self.throttle.record(REF, update(message, is_blocked=is_blocked))


@pytest.fixture
def throttling() -> Throttling:
    return Throttling()


def test_the_initial_status_is_written_soon_however_fast_progress_is(throttling: Throttling) -> None:
    assert throttling.wait("0 of 3") == INITIAL_DELAY_SECONDS
    throttling.clock.advance(INITIAL_DELAY_SECONDS - 1)
    assert throttling.wait("1 of 3") == 1.0
    throttling.clock.advance(1)
    assert throttling.wait("2 of 3") == 0.0


def test_an_update_with_the_written_content_is_not_delayed(throttling: Throttling) -> None:
    throttling.record("0 of 3")
    assert throttling.wait("0 of 3") == 0.0


def test_a_transition_time_alone_is_no_change(throttling: Throttling) -> None:
    throttling.record("0 of 3")
    assert throttling.wait("0 of 3", "later") == 0.0


def test_progress_is_written_once_it_has_stopped(throttling: Throttling) -> None:
    throttling.record("0 of 3")
    assert throttling.wait("1 of 3") == UNCHANGED_SECONDS
    throttling.clock.advance(UNCHANGED_SECONDS - 1)
    assert throttling.wait("1 of 3") == 1.0
    throttling.clock.advance(1)
    assert throttling.wait("1 of 3") == 0.0


def test_the_slower_progress_is_the_longer_it_must_be_unchanged_to_count_as_stopped(
    throttling: Throttling,
) -> None:
    throttling.record("0 of 3")
    throttling.clock.advance(20)
    assert throttling.wait("1 of 3") == 20.0
    throttling.clock.advance(10)
    assert throttling.wait("2 of 3") == 30.0


def test_the_time_before_the_first_reconcile_counts_too(throttling: Throttling) -> None:
    old = update("0 of 3")._replace(age=40.0)
    assert throttling.throttle.seconds_to_wait(REF, old) == 0.0
    throttling.throttle.record(REF, old)
    assert throttling.wait("1 of 3") == 40.0


def test_a_slow_start_with_even_progress_is_written_twice_in_all(throttling: Throttling) -> None:
    """The initial status, and then readiness, which is written without the throttle."""
    throttling.record("0 of 10")
    for number in range(1, 10):
        throttling.clock.advance(6)
        assert throttling.wait(f"{number} of 10") > 0.0


def test_progress_that_never_stops_is_written_after_the_max_interval(throttling: Throttling) -> None:
    throttling.record("0")
    waited = 0.0
    while wait := throttling.wait(f"{waited}"):
        throttling.clock.advance(min(1.0, wait))
        waited += min(1.0, wait)
    assert waited == MAX_INTERVAL_SECONDS


def test_a_shorter_max_interval_is_respected(throttling: Throttling) -> None:
    throttling.record("0 of 9")
    throttling.clock.advance(25)
    assert throttling.throttle.seconds_to_wait(REF, update("1 of 9")._replace(max_interval=30.0)) == 5.0


def test_alternating_causes_are_written_after_the_max_interval(throttling: Throttling) -> None:
    throttling.record("no node for a", is_blocked=True)
    throttling.clock.advance(MAX_INTERVAL_SECONDS - 1)
    assert throttling.wait("no node for b", is_blocked=True) == 1.0


def test_returning_to_the_written_content_ends_the_delay(throttling: Throttling) -> None:
    throttling.record("0 of 3")
    throttling.wait("1 of 3")
    assert throttling.wait("0 of 3") == 0.0


def test_a_blocking_cause_is_written_almost_at_once(throttling: Throttling) -> None:
    throttling.record("0 of 3")
    throttling.clock.advance(60)
    assert throttling.wait("0 of 3: no node", is_blocked=True) == BLOCKED_SECONDS
    throttling.clock.advance(BLOCKED_SECONDS)
    assert throttling.wait("0 of 3: no node", is_blocked=True) == 0.0


def test_a_blocking_cause_is_not_delayed_by_changes_of_its_message(throttling: Throttling) -> None:
    throttling.record("0 of 3")
    throttling.wait("0 of 3: no node for a", is_blocked=True)
    throttling.clock.advance(BLOCKED_SECONDS)
    assert throttling.wait("0 of 3: no node for b", is_blocked=True) == 0.0


def test_a_blocking_cause_that_ends_at_once_is_not_written(throttling: Throttling) -> None:
    throttling.record("0 of 3")
    throttling.wait("0 of 3: no node", is_blocked=True)
    throttling.clock.advance(BLOCKED_SECONDS)
    assert throttling.wait("1 of 3") == UNCHANGED_SECONDS


@pytest.mark.parametrize("is_blocked", [True, False], ids=["another cause", "none"])
def test_the_end_of_a_blocking_cause_is_written_after_some_seconds(
    throttling: Throttling, is_blocked: bool
) -> None:
    throttling.record("0 of 3")
    throttling.clock.advance(30)
    throttling.record("0 of 3: no node", is_blocked=True)
    throttling.clock.advance(30)
    assert throttling.wait("1 of 3", is_blocked=is_blocked) == UNCHANGED_SECONDS


def test_a_forgotten_object_starts_again(throttling: Throttling) -> None:
    throttling.record("0 of 3")
    throttling.throttle.forget(REF)
    assert throttling.wait("0 of 3") == INITIAL_DELAY_SECONDS


def test_an_object_whose_start_is_reported_elsewhere_may_have_no_status_for_longer(
    throttling: Throttling,
) -> None:
    patient = update("0 of 3")._replace(initial_delay=10.0)
    assert throttling.throttle.seconds_to_wait(REF, patient) == 10.0
    throttling.clock.advance(10)
    assert throttling.throttle.seconds_to_wait(REF, patient) == 0.0


def test_a_blocking_cause_ends_the_time_without_a_status(throttling: Throttling) -> None:
    blocked = update("0 of 3: no node", is_blocked=True)._replace(initial_delay=10.0)
    assert throttling.throttle.seconds_to_wait(REF, blocked) == INITIAL_DELAY_SECONDS
    throttling.clock.advance(INITIAL_DELAY_SECONDS)
    assert throttling.throttle.seconds_to_wait(REF, blocked) == 0.0
