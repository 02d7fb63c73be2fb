"""What the topology controller does while the server cannot be used: it waits, tells, retries and forgets."""

from typing import Any, cast

import msgspec
import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Change, Store
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.timestamps import to_timestamp
from steward.local import ports
from steward.multigres import names
from steward.multigres.cache_rules import Rules
from steward.multigres.controllers.cell.reconciler import NO_RECORD, without_record
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.primaries import Primaries
from steward.multigres.controllers.common.status_contributions import RemarkCarrier
from steward.multigres.controllers.topology.reconciler import (
    FORGET_SECONDS,
    LOOK_AGAIN_SECONDS,
    QUIET_SECONDS,
    TOLD_AFTER,
    TopologyReconciler,
    _goes,
)
from steward.multigres.controllers.topology.rounds import until_next_round
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import CLUSTER
from steward.multigres.status.conditions import Look
from steward.multigres.views import PodView
from steward.runtime.manager.connect_to import Forward
from steward.runtime.manager.settings import Settings
from steward.runtime.plan.executor import Effect, PlanResult, StepResult
from steward.runtime.plan.steps import Plan, Requeue, Status
from steward.testkit import FakeClock
from tests.multigres.integration.test_operator import cluster

KEY_PARTS = {"namespace": "shop", "uid": "u", "resourceVersion": "1", "generation": 3}
SHARD = names.shard(ShardPath("mini", "postgres", "default", "0-inf"))


class StoresAndClock:
    """As much of the ground as this controller stands on."""

    def __init__(self, clock: FakeClock) -> None:
        self.rules = Rules("")
        self.client = None
        self.clock = clock
        self.primaries = Primaries(clock)
        self.version = 1
        self._stores: dict[Kind, Store[Any]] = {}

    def store(self, rule: CacheRule[Any]) -> Store[Any]:
        return self._stores.setdefault(rule.kind, Store(rule))

    def now(self) -> str:
        return to_timestamp(self.clock.now())

    def hold(self, rule: CacheRule[Any], manifest: dict[str, Any]) -> None:
        self.version += 1
        manifest["metadata"] |= {**KEY_PARTS, "resourceVersion": str(self.version)}
        self.store(rule).put(0, msgspec.json.encode(manifest))


class KeptPlans:
    def __init__(self) -> None:
        self.last: Plan = ()

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        self.last = plan
        return PlanResult([StepResult(step, Effect.TOLD) for step in plan])

    @property
    def statuses(self) -> dict[str, Any]:
        return {step.ref.kind.kind: step.status for step in self.last if isinstance(step, Status)}

    @property
    def waits(self) -> float:
        return min(step.after for step in self.last if isinstance(step, Requeue))


class Stage:
    """A cluster whose topology server has ready pods and does not listen."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.context = StoresAndClock(self.clock)
        self.plans = KeptPlans()
        [port] = ports.free_ports(1)
        settings = Settings(connect_to=(Forward("mini-global-topo.shop.svc", 2379, "127.0.0.1", port),))
        self.reconciler = TopologyReconciler(
            cast(ControllerContext, self.context), cast(RemarkCarrier, self.plans), settings
        )
        self.born = to_timestamp(self.clock.now())
        self.hold_cluster()

    def hold_cluster(self, *conditions: dict[str, Any]) -> None:
        manifest = cluster("shop")
        manifest["metadata"]["creationTimestamp"] = self.born
        manifest["status"] = {"conditions": list(conditions)}
        self.context.hold(self.context.rules.cluster, manifest)

    def hold_server(self, ready: int) -> None:
        metadata = {"name": "mini-global-topo", "labels": {CLUSTER: "mini"}}
        manifest = {"metadata": metadata, "spec": {}, "status": {"readyReplicas": ready}}
        self.context.hold(self.context.rules.stateful_set, manifest)

    def hold_shard(self, primary_cell: str) -> None:
        spec = {"shardName": "0-inf"}
        manifest = {"metadata": {"name": SHARD}, "spec": spec, "status": {"primaryCell": primary_cell}}
        self.context.hold(self.context.rules.shard, manifest)

    async def reconcile(self) -> KeptPlans:
        [seen] = self.reconciler.clusters.list()
        await self.reconciler.reconcile(key_of(seen))
        return self.plans

    @property
    def told(self) -> dict[str, Any]:
        [condition] = self.plans.statuses["MultigresCluster"]["conditions"]
        return cast(dict[str, Any], condition)


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_young_cluster_says_nothing_while_its_server_comes_up(stage: Stage) -> None:
    assert (await stage.reconcile()).statuses == {}
    assert stage.plans.waits == QUIET_SECONDS


async def test_a_cluster_that_waits_longer_says_for_what(stage: Stage) -> None:
    stage.clock.advance(QUIET_SECONDS)
    await stage.reconcile()
    assert stage.told["reason"] == "TopologyServerStarting"
    assert stage.told["message"] == "waiting for a ready member of mini-global-topo"
    assert (stage.told["status"], stage.told["observedGeneration"]) == ("False", 3)


async def test_a_cluster_from_the_future_is_not_young(stage: Stage) -> None:
    stage.clock.jump(-3600)
    await stage.reconcile()
    assert stage.told["status"] == "False"


async def test_a_server_that_does_not_answer_is_tried_again_ever_more_slowly(stage: Stage) -> None:
    stage.hold_server(ready=1)
    waits = [(await stage.reconcile()).waits for _ in range(7)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0]
    stage.clock.advance(QUIET_SECONDS)
    await stage.reconcile()
    assert stage.plans.waits == until_next_round(stage.clock.monotonic(), LOOK_AGAIN_SECONDS)
    assert stage.told["reason"] == "TopologyUnreachable"
    assert stage.told["message"].endswith("; it is tried again by itself")


async def test_another_ready_member_is_a_reason_to_try_anew(stage: Stage) -> None:
    stage.hold_server(ready=1)
    stage.clock.advance(QUIET_SECONDS)
    waits = [(await stage.reconcile()).waits for _ in range(4)]
    assert waits == [0.5, 1.0, 2.0, 4.0]
    stage.hold_server(ready=2)
    assert (await stage.reconcile()).waits == 0.5
    assert (await stage.reconcile()).waits == 1.0


async def test_a_server_that_has_just_come_up_is_given_some_tries(stage: Stage) -> None:
    stage.clock.advance(QUIET_SECONDS)
    await stage.reconcile()
    stage.hold_cluster(stage.told)
    stage.hold_server(ready=1)
    for _ in range(TOLD_AFTER - 1):
        assert (await stage.reconcile()).statuses == {}
    await stage.reconcile()
    assert stage.told["reason"] == "TopologyUnreachable"


async def test_a_server_that_is_lost_is_told_at_once(stage: Stage) -> None:
    stage.hold_server(ready=1)
    stage.clock.advance(QUIET_SECONDS)
    registered = {"type": "TopologyRegistered", "status": "True", "reason": "Registered", "message": ""}
    stage.hold_cluster({**registered, "lastTransitionTime": stage.born})
    await stage.reconcile()
    assert stage.told["reason"] == "TopologyUnreachable"


async def test_a_primary_that_was_seen_is_told_for_a_while_and_then_forgotten(stage: Stage) -> None:
    stage.hold_server(ready=1)
    stage.hold_shard("z1")
    stage.clock.advance(QUIET_SECONDS)
    for _ in range(TOLD_AFTER):
        await stage.reconcile()
    stage.hold_cluster(stage.told)
    assert "Shard" not in (await stage.reconcile()).statuses
    stage.clock.advance(FORGET_SECONDS)
    assert (await stage.reconcile()).statuses["Shard"] == {}


def test_a_look_is_worth_it_when_a_pod_ends_and_not_when_it_is_only_less_ready() -> None:
    here = msgspec.convert({"metadata": {"name": "p"}}, PodView)
    unready = msgspec.convert({"metadata": {"name": "p"}, "status": {"phase": "Failed"}}, PodView)
    ending = msgspec.convert({"metadata": {"name": "p", "deletionTimestamp": "now"}}, PodView)

    def change(old: PodView | None, new: PodView | None) -> Change[PodView]:
        return Change(Kind("v1", "Pod"), cast(Any, None), old, new, initial=False, owned_changed=False)

    assert not _goes(change(None, here))
    assert not _goes(change(here, unready))
    assert _goes(change(here, ending))
    assert not _goes(change(ending, ending))
    assert _goes(change(ending, None))


def test_a_cell_says_that_its_gateways_need_its_record() -> None:
    assert without_record(Look()) == Look(hint=NO_RECORD)
    assert without_record(Look(hint="still starting")) == Look(hint="still starting")
    assert without_record(Look(trouble="CrashLoopBackOff")).trouble == (
        f"CrashLoopBackOff; {NO_RECORD}, and gateways end without it"
    )


async def test_a_server_that_was_asked_and_did_not_say_is_known_to_be_silent(stage: Stage) -> None:
    shard = Key("shop", SHARD)
    await stage.reconcile()
    starting = stage.context.primaries.sighting_since(shard, 0.0)
    assert starting is not None
    stage.hold_server(ready=1)
    stage.clock.advance(1)
    await stage.reconcile()
    silent = stage.context.primaries.sighting_since(shard, starting.at + 1)
    assert silent is not None
    assert (starting.is_answered, silent.is_answered) == (False, False)
