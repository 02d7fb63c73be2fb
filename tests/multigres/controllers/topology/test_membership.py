"""The record of a server that is gone is deleted by proof only: an observation from after its pod was missed."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.kube.objects.kinds import Key
from steward.multigres import names
from steward.multigres.controllers.topology.membership import CohortMembership
from steward.multigres.servers.reports import (
    PostgresRole,
    ServerId,
    ServerReport,
    ShardObservation,
    ShardRule,
)
from steward.multigres.topology.store_records import decode_pooler
from tests.multigres.support.pooler_records import encode_pooler

CLUSTER = Key("shop", "demo")
SHARD = Key("shop", names.shard(names.ShardPath("demo", "postgres", "default", "0-inf")))
GONE = decode_pooler(encode_pooler("gone"))


class World:
    """A shard, the time, and the last observation of its servers."""

    def __init__(self) -> None:
        self.now, self.observation, self.requested = 100.0, cast(Any, None), []
        self.shards: dict[Key, object] = {SHARD: object()}
        servers = SimpleNamespace(
            get=lambda shard: self.observation,
            request_check=lambda shard, since: self.requested.append((shard, since)),
        )
        context = SimpleNamespace(
            clock=SimpleNamespace(monotonic=lambda: self.now),
            servers=servers,
            rules=SimpleNamespace(shard=None),
            store=lambda rule: self.shards,
        )
        self.membership = CohortMembership(cast(Any, context))

    def observe(self, at: float, *cohort: str) -> None:
        rule = ShardRule(None, frozenset(ServerId("z1", name) for name in cohort))
        report = ServerReport(PostgresRole.PRIMARY, rule=rule)
        self.observation = ShardObservation(at, {}, {"here": report}, {})

    def check(self) -> bool | None:
        self.membership.begin_check(CLUSTER)
        found = self.membership.is_member(CLUSTER, GONE)
        self.membership.end_check(CLUSTER)
        return found


@pytest.fixture
def world() -> World:
    return World()


def test_an_observation_from_before_the_pod_was_missed_proves_nothing(world: World) -> None:
    world.observe(99.0, "here")
    assert world.check() is None
    assert world.requested == [(SHARD, 100.0)]


def test_a_later_observation_proves_it_however_old_it_is_by_the_next_check(world: World) -> None:
    world.check()
    world.observe(101.0, "here")
    world.now = 130.0
    assert world.check() is False
    world.observe(102.0, "here", "gone")
    assert world.check() is True


def test_a_server_that_returned_and_is_gone_again_needs_a_new_observation(world: World) -> None:
    world.check()
    world.observe(101.0, "here")
    world.membership.begin_check(CLUSTER)
    world.membership.end_check(CLUSTER)
    world.now = 200.0
    assert world.check() is None


def test_a_server_of_a_shard_that_is_gone_is_no_member(world: World) -> None:
    world.shards.clear()
    assert world.check() is False
