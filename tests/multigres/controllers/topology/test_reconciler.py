"""The topology controller while its server cannot be used: waiting, reporting and retrying."""

import asyncio
import socket
from typing import Any, cast

import msgspec
import pytest
from aiohttp import web

from steward.kube.bounded_cache import LruCache
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.timestamps import to_timestamp
from steward.local import ports
from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.cell.reconciler import NO_RECORD, add_missing_record
from steward.multigres.controllers.cluster_specs import ClusterSpecs
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.intervals import seconds_until_next
from steward.multigres.controllers.common.primaries import Primaries
from steward.multigres.controllers.common.registered_cells import RegisteredCells
from steward.multigres.controllers.common.status_contributions import StatusContributor
from steward.multigres.controllers.topology import reconciler
from steward.multigres.controllers.topology.reconciler import (
    FORGET_SECONDS,
    PRIMARY_SECONDS,
    QUIET_SECONDS,
    REPORT_AFTER_FAILURES,
    TopologyReconciler,
    _begins_to_terminate,
)
from steward.multigres.controllers.topology.retry import CHECK_SECONDS
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import CLUSTER_LABEL, FINALIZER
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.status.conditions import PodProblems
from steward.multigres.topology.desired_records import PrimaryCell
from steward.multigres.views import PodView
from steward.runtime.controller.triggers import Channel
from steward.runtime.manager.connect_to import Forward
from steward.runtime.manager.settings import Settings
from steward.runtime.plan.executor import PlanResult, StepEffect, StepResult
from steward.runtime.plan.steps import Plan, Requeue, Status
from steward.testkit import FakeClock
from steward.testkit.fake_data_plane.listener import Listener
from steward.testkit.fake_data_plane.memory_etcd import MemoryEtcd
from tests.multigres.support.clusters import cluster

KEY_PARTS = {
    "namespace": "shop",
    "uid": "u",
    "resourceVersion": "1",
    "generation": 3,
    "finalizers": [FINALIZER],
}
SHARD = names.shard(ShardPath("mini", "postgres", "default", "0-inf"))


class FakeContext:
    """The part of the context that the topology controller uses."""

    def __init__(self, clock: FakeClock) -> None:
        self.rules = MultigresCacheRules("")
        self.client = None
        self.clock = clock
        self.primaries = Primaries(clock)
        self.resolved_specs: LruCache[Any, Any] = LruCache(4)
        self.large_resolutions = asyncio.Lock()
        self.cluster_specs = ClusterSpecs()
        self.version = 1
        self._stores: dict[Kind, Store[Any]] = {}

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        return self._stores.setdefault(rule.kind, Store(rule))

    def now(self) -> str:
        return to_timestamp(self.clock.now())

    def add_object(self, rule: CacheRule[Any], manifest: dict[str, Any]) -> None:
        self.version += 1
        manifest["metadata"] = {**KEY_PARTS, "resourceVersion": str(self.version), **manifest["metadata"]}
        self.store(rule).put_watched(0, msgspec.json.encode(manifest))


class PlanRecorder:
    def __init__(self) -> None:
        self.last: Plan = ()

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        self.last = plan
        return PlanResult([StepResult(step, StepEffect.EMITTED) for step in plan])

    @property
    def statuses(self) -> dict[str, Any]:
        return {step.ref.kind.kind: step.status for step in self.last if isinstance(step, Status)}

    @property
    def waits(self) -> float:
        return min(step.after for step in self.last if isinstance(step, Requeue))


class Scenario:
    """A cluster whose topology server has ready pods and does not listen."""

    def __init__(self, port: int = 0) -> None:
        self.clock = FakeClock()
        self.context = FakeContext(self.clock)
        self.plans = PlanRecorder()
        port = port or ports.free_ports(1)[0]
        settings = Settings(connect_to=(Forward("mini-global-topo.shop.svc", 2379, "127.0.0.1", port),))
        self.reconciler = TopologyReconciler(
            cast(MultigresContext, self.context), cast(StatusContributor, self.plans), settings
        )
        self.born = to_timestamp(self.clock.now())
        self.put_cluster()

    def put_cluster(self, *conditions: dict[str, Any], **metadata: Any) -> None:
        manifest = cluster("shop")
        manifest["metadata"] |= {"creationTimestamp": self.born, **metadata}
        manifest["status"] = {"conditions": list(conditions)}
        self.context.add_object(self.context.rules.cluster, manifest)

    def put_server(self, ready: int) -> None:
        metadata = {"name": "mini-global-topo", "labels": {CLUSTER_LABEL: "mini"}}
        manifest = {"metadata": metadata, "spec": {}, "status": {"readyReplicas": ready}}
        self.context.add_object(self.context.rules.stateful_set, manifest)

    def put_shard(self, primary_cell: str) -> None:
        spec = {"shardName": "0-inf"}
        manifest = {"metadata": {"name": SHARD}, "spec": spec, "status": {"primaryCell": primary_cell}}
        self.context.add_object(self.context.rules.shard, manifest)

    async def reconcile(self) -> PlanRecorder:
        [cluster_] = self.reconciler.clusters.list()
        await self.reconciler.reconcile(key_of(cluster_))
        return self.plans

    @property
    def condition(self) -> dict[str, Any]:
        [condition] = self.plans.statuses["MultigresCluster"]["conditions"]
        return cast(dict[str, Any], condition)


@pytest.fixture
def scenario() -> Scenario:
    return Scenario()


async def test_a_new_cluster_reports_nothing_while_its_server_starts(scenario: Scenario) -> None:
    assert (await scenario.reconcile()).statuses == {}
    assert scenario.plans.waits == QUIET_SECONDS


async def test_a_cluster_that_waits_longer_reports_the_server(scenario: Scenario) -> None:
    scenario.clock.advance(QUIET_SECONDS)
    await scenario.reconcile()
    assert scenario.condition["reason"] == "TopologyServerStarting"
    assert scenario.condition["message"] == "waiting for a ready member of mini-global-topo"
    assert (scenario.condition["status"], scenario.condition["observedGeneration"]) == ("False", 3)


async def test_a_cluster_with_a_creation_time_in_the_future_is_not_new(scenario: Scenario) -> None:
    scenario.clock.jump(-3600)
    await scenario.reconcile()
    assert scenario.condition["status"] == "False"


async def test_an_unreachable_server_is_retried_with_backoff(scenario: Scenario) -> None:
    scenario.put_server(ready=1)
    waits = [(await scenario.reconcile()).waits for _ in range(7)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0]
    scenario.clock.advance(QUIET_SECONDS)
    await scenario.reconcile()
    assert scenario.plans.waits == seconds_until_next(scenario.clock.monotonic(), CHECK_SECONDS)
    assert scenario.condition["reason"] == "TopologyUnreachable"
    assert scenario.condition["message"].endswith("; it is tried again by itself")


async def test_servers_that_answer_too_slowly_do_not_occupy_a_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reconciler, "SYNCHRONIZE_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        scenario = Scenario(port=deaf.getsockname()[1])
        scenario.put_server(ready=1)
        scenario.clock.advance(QUIET_SECONDS)
        for _ in range(REPORT_AFTER_FAILURES):
            await scenario.reconcile()
    assert scenario.condition["message"].startswith(
        "the topology servers did not answer all requests within 0.1 s"
    )


async def test_records_and_poolers_are_read_through_one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    server, peers = MemoryEtcd(), list[object]()
    serve = server._serve

    async def recorded(request: web.BaseRequest) -> web.Response:
        assert request.transport is not None
        peers.append(request.transport.get_extra_info("peername"))
        return await serve(request)

    server._listener = Listener(recorded)
    await server.start()
    try:
        scenario = Scenario(port=server.port)
        monkeypatch.setattr(scenario.context, "registered_cells", RegisteredCells(Channel()), raising=False)
        scenario.put_server(ready=1)
        await scenario.reconcile()
        assert scenario.condition["reason"] == "Registered"
        assert len(peers) >= 3
        assert len(set(peers)) == 1
    finally:
        await server.remove()


async def test_a_cluster_without_its_finalizer_is_not_registered(scenario: Scenario) -> None:
    """It could be deleted and leave its records."""
    scenario.put_server(ready=1)
    scenario.put_cluster(finalizers=[])
    assert (await scenario.reconcile()).last == ()


async def test_another_ready_member_resets_the_backoff(scenario: Scenario) -> None:
    scenario.put_server(ready=1)
    scenario.clock.advance(QUIET_SECONDS)
    waits = [(await scenario.reconcile()).waits for _ in range(4)]
    assert waits == [0.5, 1.0, 2.0, 4.0]
    scenario.put_server(ready=2)
    assert (await scenario.reconcile()).waits == 0.5
    assert (await scenario.reconcile()).waits == 1.0


async def test_the_first_failures_of_a_new_server_are_not_reported(scenario: Scenario) -> None:
    scenario.clock.advance(QUIET_SECONDS)
    await scenario.reconcile()
    scenario.put_cluster(scenario.condition)
    scenario.put_server(ready=1)
    for _ in range(REPORT_AFTER_FAILURES - 1):
        assert (await scenario.reconcile()).statuses == {}
    await scenario.reconcile()
    assert scenario.condition["reason"] == "TopologyUnreachable"


async def test_a_lost_server_is_reported_at_once(scenario: Scenario) -> None:
    scenario.put_server(ready=1)
    scenario.clock.advance(QUIET_SECONDS)
    registered = {"type": "TopologyRegistered", "status": "True", "reason": "Registered", "message": ""}
    scenario.put_cluster({**registered, "lastTransitionTime": scenario.born})
    await scenario.reconcile()
    assert scenario.condition["reason"] == "TopologyUnreachable"


async def test_the_last_primary_stays_in_the_status_for_a_while(scenario: Scenario) -> None:
    scenario.put_server(ready=1)
    scenario.put_shard("z1")
    scenario.clock.advance(QUIET_SECONDS)
    for _ in range(REPORT_AFTER_FAILURES):
        await scenario.reconcile()
    scenario.put_cluster(scenario.condition)
    assert "Shard" not in (await scenario.reconcile()).statuses
    scenario.clock.advance(FORGET_SECONDS)
    assert (await scenario.reconcile()).statuses["Shard"] == {}


def test_a_terminating_pod_triggers_a_check_and_an_unready_one_does_not() -> None:
    here = msgspec.convert({"metadata": {"name": "p"}}, PodView)
    unready = msgspec.convert({"metadata": {"name": "p"}, "status": {"phase": "Failed"}}, PodView)
    ending = msgspec.convert({"metadata": {"name": "p", "deletionTimestamp": "now"}}, PodView)

    def change(old: PodView | None, new: PodView | None) -> ObjectChange[PodView]:
        return ObjectChange(Kind("v1", "Pod"), cast(Any, None), old, new, initial=False, owned_changed=False)

    assert not _begins_to_terminate(change(None, here))
    assert not _begins_to_terminate(change(here, unready))
    assert _begins_to_terminate(change(here, ending))
    assert not _begins_to_terminate(change(ending, ending))
    assert _begins_to_terminate(change(ending, None))


def test_a_missing_record_is_added_to_the_problems_of_gateways() -> None:
    assert add_missing_record(PodProblems()) == PodProblems(hint=NO_RECORD)
    assert add_missing_record(PodProblems(hint="still starting")) == PodProblems(hint="still starting")
    assert add_missing_record(PodProblems(problem="CrashLoopBackOff")).problem == (
        f"CrashLoopBackOff; {NO_RECORD}, and gateways exit without it"
    )


async def test_a_server_without_an_answer_is_recorded(scenario: Scenario) -> None:
    shard = Key("shop", SHARD)
    await scenario.reconcile()
    starting = scenario.context.primaries.last(shard)
    assert starting is not None
    scenario.put_server(ready=1)
    scenario.clock.advance(1)
    await scenario.reconcile()
    silent = scenario.context.primaries.last(shard)
    assert silent is not None
    assert silent.at >= starting.at + 1
    assert (starting.is_answered, silent.is_answered) == (False, False)


CELL_OF_ANOTHER = "/multigres/global/cells/z9/Cell"


def resolved_with(**flags: bool) -> ResolvedCluster:
    spec = {"cells": [{"zone": "z1"}], "topologyReconciliation": flags}
    typed = msgspec.convert(spec, MultigresClusterSpec)
    return resolve(ClusterIdentity("shop", "mini"), typed, Templates({}, {}, {}))


def test_records_of_cells_that_another_program_registers_are_never_removed(scenario: Scenario) -> None:
    cluster_key, database = Key("shop", "mini"), "/multigres/global/databases/old/Database"
    scenario.reconciler._registered[cluster_key] = frozenset({CELL_OF_ANOTHER, database})
    removable = scenario.reconciler._removable_records
    assert removable(cluster_key, resolved_with()) is None, "all records below the root are the cluster's"
    assert removable(cluster_key, resolved_with(registerCell=False)) == {database}


@pytest.mark.parametrize(("awaited", "seconds"), [({SHARD}, PRIMARY_SECONDS), (set[str](), CHECK_SECONDS)])
def test_records_are_checked_often_only_for_a_shard_that_should_have_a_primary(
    scenario: Scenario, awaited: set[str], seconds: float
) -> None:
    [live] = scenario.reconciler.clusters.list()
    plan = scenario.reconciler._registered_plan(live, [PrimaryCell(SHARD, "")], awaited)
    [requeue] = [step for step in plan if isinstance(step, Requeue)]
    assert requeue.after == (seconds if awaited else seconds_until_next(scenario.clock.monotonic(), seconds))
