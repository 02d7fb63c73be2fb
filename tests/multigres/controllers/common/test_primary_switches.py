"""Requested switches of primaries: one at a time, with pauses in between."""

import pytest

from steward.kube.objects.kinds import Key
from steward.multigres.controllers.common.primary_switches import (
    RECENT_SECONDS,
    RETRY_SECONDS,
    PrimarySwitches,
    SwitchRequest,
)
from steward.multigres.rollout.switching import SPACING_SECONDS, SwitchAttempt
from steward.testkit import FakeClock

SHARD = Key("shop", "s")
REQUEST = SwitchRequest("a-0", "its pod is replaced")


class Requests:
    """Switches, and the shards that were enqueued for the controller."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.switches = PrimarySwitches(self.clock)
        self.enqueued: list[Key] = []
        self.switches.requests.connect(lambda key, lane: self.enqueued.append(key))


@pytest.fixture
def requests() -> Requests:
    return Requests()


def test_a_request_is_enqueued_once_while_it_is_pending(requests: Requests) -> None:
    for _ in range(3):
        requests.switches.request(SHARD, REQUEST)
    assert requests.enqueued == [SHARD]
    assert requests.switches.pending(SHARD) == REQUEST
    assert requests.switches.last(SHARD) == SwitchAttempt("a-0")


@pytest.mark.parametrize(
    ("error", "pause"), [("", SPACING_SECONDS), ("no standby", RETRY_SECONDS)], ids=["done", "refused"]
)
def test_the_next_request_has_to_wait(requests: Requests, error: str, pause: float) -> None:
    requests.switches.request(SHARD, REQUEST)
    requests.switches.record_end(SHARD, error)
    assert requests.switches.pending(SHARD) is None
    requests.clock.advance(pause - 1)
    requests.switches.request(SHARD, REQUEST)
    assert requests.enqueued == [SHARD]
    requests.clock.advance(2)
    requests.switches.request(SHARD, REQUEST)
    assert requests.enqueued == [SHARD, SHARD]


def test_a_refusal_is_known_until_the_next_request(requests: Requests) -> None:
    requests.switches.request(SHARD, REQUEST)
    requests.switches.record_end(SHARD, "no standby")
    assert requests.switches.last(SHARD) == SwitchAttempt("a-0", "no standby")


def test_an_old_switch_explains_nothing(requests: Requests) -> None:
    requests.switches.request(SHARD, REQUEST)
    requests.switches.record_end(SHARD)
    requests.clock.advance(RECENT_SECONDS + 1)
    assert requests.switches.last(SHARD) is None


def test_a_deleted_shard_is_forgotten(requests: Requests) -> None:
    requests.switches.request(SHARD, REQUEST)
    requests.switches.forget(SHARD)
    assert requests.switches.pending(SHARD) is None
