"""What is remembered of a shard's servers, and what triggers its controller."""

import pytest

from steward.kube.objects.kinds import Key
from steward.multigres.controllers.common.servers import CHECK_SECONDS, Servers, multiadmin_address
from steward.multigres.servers.grace import GRACE_SECONDS
from steward.multigres.servers.reports import ShardObservation
from steward.runtime.controller.triggers import Channel
from steward.testkit import FakeClock
from tests.multigres.support.servers import DOWN, HEALTHY, NAMES, STANDBY, reporting

SHARD = Key("shop", "s")
SILENT = HEALTHY._replace(reports={}, unreachable="no answer within 5 s")


class Memory:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.triggered: list[Key] = []
        self.requested: list[Key] = []
        changes = Channel()
        changes.connect(lambda key, lane: self.triggered.append(key))
        self.servers = Servers(self.clock, changes)
        self.servers.check_requests.connect(lambda key, lane: self.requested.append(key))

    def record(self, observation: ShardObservation) -> int:
        """How often the Shard was triggered."""
        before = len(self.triggered)
        self.servers.record(SHARD, observation._replace(at=self.clock.monotonic()), NAMES)
        return len(self.triggered) - before


@pytest.fixture
def memory() -> Memory:
    return Memory()


def test_first_observation_triggers_the_shard_and_the_same_one_does_not(memory: Memory) -> None:
    assert [memory.record(HEALTHY), memory.record(HEALTHY)] == [1, 0]


def test_changed_report_triggers_the_shard(memory: Memory) -> None:
    memory.record(HEALTHY)
    assert memory.record(reporting(pg_2=DOWN)) == 1


def test_lag_below_the_next_step_triggers_nothing(memory: Memory) -> None:
    memory.record(HEALTHY)
    lags = (1.0, 20.0, 31.0, 45.0, 20.0, 61.0)
    triggered = [memory.record(reporting(pg_2=STANDBY._replace(lag_seconds=lag))) for lag in lags]
    assert triggered == [0, 0, 1, 0, 0, 1]


def test_other_words_for_the_same_failure_trigger_nothing(memory: Memory) -> None:
    memory.record(SILENT)
    assert memory.record(SILENT._replace(unreachable="it accepts no connection")) == 0


def test_end_of_the_grace_period_triggers_the_shard_once(memory: Memory) -> None:
    memory.record(HEALTHY)
    assert memory.record(SILENT) == 1
    memory.clock.advance(GRACE_SECONDS - 1)
    assert memory.record(SILENT) == 0
    memory.clock.advance(1)
    assert [memory.record(SILENT), memory.record(SILENT)] == [1, 0]


def test_grace_period_begins_again_after_a_report(memory: Memory) -> None:
    memory.record(SILENT)
    memory.clock.advance(GRACE_SECONDS)
    memory.record(HEALTHY)
    memory.record(SILENT)
    assert memory.servers.unknown_seconds(SHARD, "pg-0") == 0.0


def test_request_lasts_until_both_sources_were_read_after_it(memory: Memory) -> None:
    memory.record(HEALTHY)
    memory.clock.advance(5)
    since = memory.clock.monotonic()
    memory.servers.request_check(SHARD, since)
    assert memory.requested == [SHARD]
    memory.servers.record(SHARD, HEALTHY._replace(at=since - 1), NAMES)
    assert memory.servers.requested_since(SHARD) == since
    memory.servers.record(SHARD, HEALTHY._replace(at=since), NAMES)
    assert memory.servers.requested_since(SHARD) is None


def test_shard_that_was_just_checked_is_not_checked_again(memory: Memory) -> None:
    memory.record(HEALTHY)
    memory.servers.request_check(SHARD)
    assert memory.requested == []
    memory.clock.advance(CHECK_SECONDS + 0.1)
    memory.servers.request_check(SHARD)
    assert memory.requested == [SHARD]


def test_forgotten_shard_has_no_observation(memory: Memory) -> None:
    memory.record(HEALTHY)
    memory.servers.forget(SHARD)
    assert memory.servers.get(SHARD) is None


def test_multiadmin_is_reached_by_its_service() -> None:
    assert str(multiadmin_address("shop", "mini")) == "mini-multiadmin.shop.svc:18000"
