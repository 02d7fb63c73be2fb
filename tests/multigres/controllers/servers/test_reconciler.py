"""The servers controller: whom it asks, what it records, and when it looks again."""

from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key, Kind
from steward.multiadmin.client import Address, MultiadminClient
from steward.multigres import names
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.primaries import Primaries, PrimaryObservation
from steward.multigres.controllers.common.servers import Servers
from steward.multigres.controllers.servers.reconciler import (
    CHANGE_SECONDS,
    EARLY_FOR_SECONDS,
    EARLY_SECONDS,
    FIRST_SECONDS,
    LASTING_AFTER_SECONDS,
    LASTING_SECONDS,
    REQUEST_SECONDS,
    REST_SECONDS,
    ServersReconciler,
)
from steward.multigres.names import ShardPath
from steward.multigres.objects import pool
from steward.multigres.objects.metadata import (
    CELL_LABEL,
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    DATABASE_LABEL,
    POOL_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
)
from steward.multigres.servers.reports import ShardObservation
from steward.multigres.topology.store_records import PoolerRecord, find_primary
from steward.runtime.controller.triggers import Channel
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.testkit import FakeClock
from tests.multiadmin.support.server import SmallMultiadmin, small_multiadmin
from tests.multiadmin.support.statuses import IDLE, PRIMARY, STANDBY

PATH = ShardPath("mini", "postgres", "default", "0-inf")
SHARD = Key("shop", names.shard(PATH))
BASE = names.pool(PATH, "main", "z1")
LABELS = {
    CLUSTER_LABEL: "mini",
    DATABASE_LABEL: "postgres",
    TABLE_GROUP_LABEL: "default",
    SHARD_LABEL: "0-inf",
}


def renamed(document: dict[str, Any]) -> dict[str, Any]:
    """The same status of a shard whose pods have generated names."""
    text = msgspec.json.encode(document).replace(b"pg-", f"{BASE}-".encode())
    return cast(dict[str, Any], msgspec.json.decode(text))


class FakeContext:
    """The part of the context that the servers controller uses."""

    def __init__(self, address: Address) -> None:
        self.clock = FakeClock(monotonic=5_010.0)
        self.rules = MultigresCacheRules("")
        self.servers = Servers(self.clock, Channel())
        self.primaries = Primaries(self.clock, self.servers.check_requests)
        self.multiadmin = MultiadminClient(lambda host, port: address)
        self.version = 1
        self._stores: dict[Kind, Store[Any]] = {}

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        return self._stores.setdefault(rule.kind, Store(rule))

    def add_object(self, rule: CacheRule[Any], manifest: dict[str, Any]) -> None:
        self.version += 1
        meta = {
            "namespace": "shop",
            "uid": manifest["metadata"]["name"],
            "resourceVersion": str(self.version),
        }
        manifest["metadata"] = {**meta, **manifest["metadata"]}
        self.store(rule).put_watched(0, msgspec.json.encode(manifest))


class Scenario:
    """A shard of two servers, of which the first is the primary."""

    def __init__(self, server: SmallMultiadmin) -> None:
        self.server = server
        self.context = FakeContext(server.address)
        self.checks: list[Key] = []
        self.context.primaries.check_requests.connect(lambda key, lane: self.checks.append(key))
        self.reconciler = ServersReconciler(cast(MultigresContext, self.context))
        spec = {
            "shardName": "0-inf",
            "databaseName": "postgres",
            "tableGroupName": "default",
            "pools": {"main": {"cells": ["z1"], "replicasPerCell": 2}},
        }
        self.context.add_object(
            self.context.rules.shard, {"metadata": {"name": SHARD.name, "labels": LABELS}, "spec": spec}
        )
        self.put_multiadmin(ready=1)
        for number in range(2):
            self.put_pod(number)
        self.register(0, 1)

    def put_multiadmin(self, ready: int) -> None:
        metadata = {"name": "mini-multiadmin", "labels": {CLUSTER_LABEL: "mini"}}
        self.context.add_object(
            self.context.rules.deployment, {"metadata": metadata, "status": {"readyReplicas": ready}}
        )

    def put_pod(self, number: int, *, ready: bool = True) -> None:
        labels = {**LABELS, COMPONENT_LABEL: pool.COMPONENT, CELL_LABEL: "z1", POOL_LABEL: "main"}
        status = {"conditions": [{"type": "Ready", "status": str(ready)}]}
        metadata = {"name": f"{BASE}-{number}", "labels": labels}
        self.context.add_object(self.context.rules.pod, {"metadata": metadata, "status": status})

    def register(self, *numbers: int) -> None:
        records = [
            PoolerRecord("z1", f"{BASE}-{number}", "", "postgres", "default", "0-inf", number == 0, 2)
            for number in numbers
        ]
        observation = PrimaryObservation(find_primary(records), self.context.clock.monotonic(), records)
        self.context.primaries.record(SHARD, observation)

    async def observe(self, *documents: dict[str, Any] | None) -> Result:
        """One look at servers that answer with these documents; None: it does not answer."""
        self.server.statuses = {
            f"{BASE}-{number}": renamed(document)
            for number, document in enumerate(documents)
            if document is not None
        }
        return await self.reconciler.reconcile(SHARD)

    @property
    def observation(self) -> ShardObservation:
        observation = self.context.servers.get(SHARD)
        assert observation is not None
        return observation


@pytest.fixture
async def scenario() -> AsyncIterator[Scenario]:
    async with small_multiadmin() as server:
        scenario = Scenario(server)
        yield scenario
        await scenario.context.multiadmin.stop()


async def test_servers_at_rest_are_checked_at_the_same_times(scenario: Scenario) -> None:
    assert await scenario.observe(PRIMARY, STANDBY) == RequeueAfter(REST_SECONDS)
    assert set(scenario.observation.reports) == {f"{BASE}-0", f"{BASE}-1"}
    scenario.context.clock.advance(11)
    assert await scenario.observe(PRIMARY, STANDBY) == RequeueAfter(REST_SECONDS - 11)
    assert len(scenario.server.requests) == 4


async def test_shard_that_begins_to_take_writes_is_announced_once(scenario: Scenario) -> None:
    announced: list[Key] = []
    scenario.context.servers.writable_shards.connect(lambda key, lane: announced.append(key))
    await scenario.observe(PRIMARY, {"status": IDLE})
    await scenario.observe(PRIMARY, STANDBY)
    assert announced == [SHARD]
    assert scenario.context.servers.writable(SHARD)


async def test_server_that_is_down_is_checked_often_and_less_often_if_that_lasts(scenario: Scenario) -> None:
    down = {"status": IDLE}
    assert await scenario.observe(PRIMARY, down) == RequeueAfter(FIRST_SECONDS)
    scenario.context.clock.advance(EARLY_FOR_SECONDS)
    assert await scenario.observe(PRIMARY, down) == RequeueAfter(CHANGE_SECONDS)
    scenario.context.clock.advance(LASTING_AFTER_SECONDS - EARLY_FOR_SECONDS)
    assert await scenario.observe(PRIMARY, down) == RequeueAfter(LASTING_SECONDS)


async def test_records_are_read_again_while_servers_start(scenario: Scenario) -> None:
    scenario.register(0)
    scenario.context.clock.advance(5)
    assert await scenario.observe(PRIMARY, STANDBY) == RequeueAfter(FIRST_SECONDS)
    assert scenario.checks == [Key("shop", "mini")]


async def test_the_pause_after_the_last_ready_pod_doubles(scenario: Scenario) -> None:
    pauses = []
    for _ in range(6):
        pause = await scenario.observe(PRIMARY, {"status": IDLE})
        assert isinstance(pause, RequeueAfter)
        pauses.append(pause.seconds)
        scenario.context.clock.advance(pause.seconds)
    assert pauses == [pytest.approx(seconds) for seconds in (0.1, 0.1, 0.2, 0.4, 0.5, 0.5)]


@pytest.mark.parametrize("is_last_ready", [True, False])
async def test_the_records_are_read_at_each_check_once_all_pods_are_ready(
    scenario: Scenario, is_last_ready: bool
) -> None:
    scenario.put_pod(1, ready=is_last_ready)
    scenario.register(0)
    scenario.context.clock.advance(FIRST_SECONDS)
    pause = await scenario.observe(PRIMARY, {"status": IDLE})
    assert pause == RequeueAfter(FIRST_SECONDS if is_last_ready else EARLY_SECONDS)
    assert scenario.checks == [Key("shop", "mini")] * is_last_ready


async def test_a_pod_that_becomes_ready_is_checked_often_again(scenario: Scenario) -> None:
    scenario.register(0)
    scenario.put_pod(1, ready=False)
    await scenario.observe(PRIMARY, STANDBY)
    scenario.context.clock.advance(EARLY_FOR_SECONDS)
    assert await scenario.observe(PRIMARY, STANDBY) == RequeueAfter(CHANGE_SECONDS)
    scenario.put_pod(1)
    assert await scenario.observe(PRIMARY, STANDBY) == RequeueAfter(FIRST_SECONDS)


async def test_pooler_that_does_not_answer_is_one_error(scenario: Scenario) -> None:
    await scenario.observe(PRIMARY, None)
    assert set(scenario.observation.reports) == {f"{BASE}-0"}
    assert scenario.observation.unreachable == ""
    assert "connection refused" in scenario.observation.errors[f"{BASE}-1"]


async def test_multiadmin_without_a_ready_pod_is_not_asked(scenario: Scenario) -> None:
    scenario.put_multiadmin(ready=0)
    assert await scenario.observe(PRIMARY, STANDBY) == RequeueAfter(CHANGE_SECONDS)
    assert scenario.observation.unreachable == "Deployment mini-multiadmin has no ready pod"
    assert scenario.server.requests == []


async def test_multiadmin_that_stays_away_is_asked_as_rarely_as_at_rest(scenario: Scenario) -> None:
    scenario.put_multiadmin(ready=0)
    pauses = [await scenario.observe() for _ in range(6)]
    assert pauses == [RequeueAfter(seconds) for seconds in (2.0, 4.0, 8.0, 16.0, 30.0, 30.0)]


async def test_pooler_without_a_record_is_not_asked(scenario: Scenario) -> None:
    scenario.register(0)
    await scenario.observe(PRIMARY, STANDBY)
    assert len(scenario.server.requests) == 1


async def test_servers_are_asked_while_the_topology_server_does_not_answer(scenario: Scenario) -> None:
    silence = PrimaryObservation(None, scenario.context.clock.monotonic(), is_answered=False)
    scenario.context.primaries.record(SHARD, silence)
    await scenario.observe(PRIMARY, STANDBY)
    assert scenario.observation.records is None
    assert len(scenario.observation.reports) == 2


async def test_requested_look_waits_for_records_that_are_as_new(scenario: Scenario) -> None:
    scenario.context.clock.advance(5)
    scenario.context.servers.request_check(SHARD, scenario.context.clock.monotonic())
    assert await scenario.observe(PRIMARY, STANDBY) == RequeueAfter(REQUEST_SECONDS)
    assert scenario.checks == [Key("shop", "mini")]
    scenario.register(0, 1)
    assert isinstance(await scenario.observe(PRIMARY, STANDBY), RequeueAfter)
    assert scenario.context.servers.requested_since(SHARD) is None


async def test_records_are_read_again_after_an_election(scenario: Scenario) -> None:
    scenario.context.clock.advance(5)
    leader = msgspec.json.decode(msgspec.json.encode(PRIMARY).replace(b'"name":"pg-0"', b'"name":"pg-1"'))
    await scenario.observe(STANDBY, leader)
    scenario.context.clock.advance(EARLY_FOR_SECONDS)
    scenario.checks.clear()
    assert await scenario.observe(STANDBY, leader) == RequeueAfter(CHANGE_SECONDS)
    assert scenario.checks == [Key("shop", "mini")]


async def test_deleted_shard_is_forgotten(scenario: Scenario) -> None:
    await scenario.observe(PRIMARY, STANDBY)
    assert await scenario.reconciler.reconcile(Key("shop", "gone")) == DONE
    assert scenario.context.servers.get(Key("shop", "gone")) is None
