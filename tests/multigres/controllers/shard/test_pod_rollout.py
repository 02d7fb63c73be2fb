"""Plans for the servers of a shard: an observation counts if it began after the last change of the pods."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.api.compute import Pool
from steward.multigres.api.shard import ShardSpec
from steward.multigres.cache_rules import SHARD as KIND
from steward.multigres.controllers.common.primaries import Primaries
from steward.multigres.controllers.common.primary_switches import PrimarySwitches, SwitchRequest
from steward.multigres.controllers.common.servers import Servers
from steward.multigres.controllers.shard.ownerless_servers import UndesiredPool
from steward.multigres.controllers.shard.pod_rollout import PodRollout, RolloutPlanner
from steward.multigres.controllers.shard.server_pods import RemovedPools
from steward.multigres.deletion.server_removal import RemovalDecision
from steward.multigres.rollout.node_drain import SWITCH_FROM
from steward.multigres.rollout.pods import DOWN_SECONDS, REVISION
from steward.multigres.rollout.restarts import FORCE_ROLLOUT, RolloutDecision
from steward.multigres.servers.reports import (
    PostgresRole,
    ServerId,
    ServerReport,
    ShardObservation,
    ShardRule,
)
from steward.multigres.topology.store_records import PoolerRecord
from steward.multigres.views import (
    PodCondition,
    PodStatus,
    PodView,
    ShardView,
    StatefulSetSpec,
    StatefulSetView,
    WorkloadStatus,
)
from steward.runtime.controller.triggers import Channel
from steward.runtime.plan.steps import Delete, Emit, Patch, Requeue
from steward.testkit import FakeClock

SHARD, CELL = Key("shop", "s"), "z1"
REF = Ref(KIND, SHARD)
NAMES = ("a-0", "a-1", "a-2")


class ThreeServers:
    """A shard with three servers of an old revision, and its rollout planner."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.servers, self.switches = Servers(self.clock, Channel()), PrimarySwitches(self.clock)
        self.checks: list[Key] = []
        self.servers.check_requests.connect(lambda key, lane: self.checks.append(key))
        self.annotations: dict[str, str] = {}
        self.replicas, self.removed = 3, RemovedPools()
        live = stateful_set("a", 3)
        sets = SimpleNamespace(get=lambda key: live if key.name == "a" else None)
        nothing = SimpleNamespace(get=lambda key: None, list=lambda namespace: [])
        rules = SimpleNamespace(stateful_set="sets", cluster="", cell="", deployment="", pod="")
        context: Any = SimpleNamespace(
            clock=self.clock,
            now=lambda: "2026-01-01T00:00:00Z",
            servers=self.servers,
            switches=self.switches,
            primaries=Primaries(self.clock),
            rules=rules,
            store=lambda rule: sets if rule == "sets" else nothing,
        )
        self.planner = RolloutPlanner(context)

    def observe(self, primary: str = "a-0", names: tuple[str, ...] = NAMES, **reports: Any) -> None:
        cohort = frozenset(ServerId(CELL, name) for name in names)
        rule = ShardRule(ServerId(CELL, primary), cohort, 2, number=(1, 1))
        found = {name: report(rule, is_primary=name == primary) for name in names}
        found |= {name.replace("_", "-"): each for name, each in reports.items()}
        records = {name: record(name, is_primary=name == primary) for name in names}
        observation = ShardObservation(self.clock.monotonic(), records, found, {})
        self.servers.record(SHARD, observation, names)

    def plan(self, *pods: PodView) -> PodRollout:
        meta = ObjectMeta(name="s", namespace="shop", annotations=self.annotations)
        owner = ShardView(meta, ShardSpec(shard_name="0", pools={"p": Pool()}))
        metadata = {"name": "a", "namespace": "shop", "labels": {"multigres.com/cell": CELL}}
        spec = {"replicas": self.replicas}
        desired = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}]
        return self.planner.plan_rollout(owner, desired, pods, self.removed)

    def evicted(self, *pods: PodView) -> str | None:
        steps = self.plan(*pods).steps(REF)
        return next((step.ref.key.name for step in steps if isinstance(step, Delete)), None)


def stateful_set(name: str, replicas: int) -> StatefulSetView:
    status = WorkloadStatus(observed_generation=1, update_revision="new")
    meta = ObjectMeta(name=name, namespace="shop", generation=1, labels={"multigres.com/cell": CELL})
    return StatefulSetView(meta, StatefulSetSpec(replicas), status)


def report(rule: ShardRule, *, is_primary: bool) -> ServerReport:
    role = PostgresRole.PRIMARY if is_primary else PostgresRole.STANDBY
    return ServerReport(
        role,
        is_running=True,
        is_ready=True,
        is_streaming=not is_primary,
        followers=rule.cohort,
        required_followers=1,
        rule=rule,
    )


def record(name: str, *, is_primary: bool) -> PoolerRecord:
    return PoolerRecord(CELL, name, f"{name}.svc", "db", "tg", "0", is_primary, 2)


def server(name: str, uid: str = "", revision: str = "old", labels: Mapping[str, str] = {}) -> PodView:
    ready = PodStatus(conditions=(PodCondition("Ready", "True"),))
    return PodView(ObjectMeta(name=name, uid=uid or name, labels={REVISION: revision, **labels}), ready)


OLD = tuple(map(server, NAMES))
NEW = tuple(server(name, revision="new") for name in NAMES)


@pytest.fixture
def shard() -> ThreeServers:
    return ThreeServers()


def test_a_pod_is_evicted_once_its_servers_were_observed_after_the_last_change(shard: ThreeServers) -> None:
    assert shard.evicted(*OLD) is None
    assert shard.checks == [SHARD]
    shard.clock.advance(1)
    shard.observe()
    assert shard.evicted(*OLD) == "a-2"


def test_an_observation_before_a_change_of_pods_no_longer_counts(shard: ThreeServers) -> None:
    shard.observe()
    changed = (*OLD[:2], server("a-2", uid="the next", revision="new"))
    shard.evicted(*OLD)
    shard.clock.advance(1)
    assert shard.evicted(*changed) is None
    shard.clock.advance(1)
    shard.observe()
    assert shard.evicted(*changed) == "a-1"


def test_an_old_observation_no_longer_counts(shard: ThreeServers) -> None:
    shard.evicted(*OLD)
    shard.clock.advance(1)
    shard.observe()
    shard.clock.advance(11)
    assert shard.evicted(*OLD) is None


def test_the_primary_is_switched_before_its_pod_is_evicted(shard: ThreeServers) -> None:
    pods = (OLD[0], *NEW[1:])
    shard.plan(*pods)
    shard.clock.advance(1)
    shard.observe()
    assert shard.evicted(*pods) is None
    assert shard.switches.pending(SHARD) == SwitchRequest("a-0", "a rolling update replaces its pod")
    shard.switches.record_end(SHARD)
    shard.observe(primary="a-1")
    assert shard.evicted(*pods) == "a-0"


def test_a_refused_switch_is_reported_with_the_time(shard: ThreeServers) -> None:
    pods = (OLD[0], *NEW[1:])
    shard.plan(*pods)
    shard.clock.advance(1)
    shard.observe()
    shard.plan(*pods)
    shard.switches.record_end(SHARD, "no standby")
    [rolling] = shard.plan(*pods).conditions(1)
    assert rolling.reason == reasons.SWITCH_REFUSED
    assert rolling.message.endswith("1 more to go (since 2026-01-01T00:00:00Z)")


def test_the_annotation_lets_a_rollout_continue_without_an_observation(shard: ThreeServers) -> None:
    shard.annotations[FORCE_ROLLOUT] = "true"
    assert shard.evicted(*OLD) == "a-2"


def test_a_postgres_that_is_down_is_broken_after_a_while(shard: ThreeServers) -> None:
    down = ServerReport(PostgresRole.UNKNOWN, is_initialized=True)
    shard.plan(*OLD)
    for _ in range(int(DOWN_SECONDS) + 1):
        shard.clock.advance(1)
        shard.observe(a_0=down, a_1=down, a_2=down)
        evicted = shard.evicted(*OLD)
    assert evicted == "a-2"


def test_a_postgres_that_is_down_for_a_moment_is_not_broken(shard: ThreeServers) -> None:
    down = ServerReport(PostgresRole.UNKNOWN, is_initialized=True)
    shard.plan(*OLD)
    shard.clock.advance(1)
    shard.observe(a_0=down, a_1=down, a_2=down)
    assert shard.evicted(*OLD) is None


def test_an_eviction_that_a_budget_forbids_is_reported(shard: ThreeServers) -> None:
    shard.evicted(*OLD)
    shard.clock.advance(1)
    shard.observe()
    rollout = shard.plan(*OLD)
    shard.planner.record_forbidden(SHARD, rollout.steps(REF))
    decision = shard.plan(*OLD).decision
    assert (decision.reason, decision.replace) == ("DisruptionBudgetForbids", rollout.decision.replace)
    shard.planner.record_forbidden(SHARD, ())
    assert shard.plan(*OLD).decision.reason == "Rolling"


@pytest.mark.parametrize(("pods", "needed"), [(OLD, True), (NEW, False)], ids=["outdated", "at rest"])
def test_servers_are_observed_while_pods_are_outdated(
    shard: ThreeServers, pods: tuple[PodView, ...], needed: bool
) -> None:
    assert shard.plan(*pods).needs_observation is needed
    assert bool(shard.checks) is needed


@pytest.mark.parametrize(
    ("decision", "removal", "seconds"),
    [
        ("Rolling", "", [1.0]),
        (reasons.STATE_UNKNOWN, "", [5.0]),
        (reasons.STATE_UNKNOWN, reasons.SCALING_DOWN, [1.0]),
        (reasons.PODS_UP_TO_DATE, reasons.NO_OTHER_READY, [5.0]),
        (reasons.PODS_UP_TO_DATE, reasons.DURABILITY_WOULD_BREAK, []),
        (reasons.PODS_UP_TO_DATE, "", []),
    ],
)
def test_what_may_wait_for_a_user_is_looked_at_less_often(
    decision: str, removal: str, seconds: list[float]
) -> None:
    rolling = RolloutDecision(decision != reasons.PODS_UP_TO_DATE, decision, "")
    rollout = PodRollout([], rolling, RemovalDecision({}, "", removal, removal))
    assert [step.after for step in rollout.steps(REF) if isinstance(step, Requeue)] == seconds


def test_a_removed_pool_is_scaled_down_by_one_server_and_held(shard: ThreeServers) -> None:
    names = (*NAMES, "b-0", "b-1")
    pods = (*NEW, server("b-0"), server("b-1"))
    shard.removed = RemovedPools([stateful_set("b", 2)])
    shard.plan(*pods)
    shard.clock.advance(1)
    shard.observe(names=names)
    rollout = shard.plan(*pods)
    [patch] = rollout.removal_steps
    assert isinstance(patch, Patch)
    changes: Any = patch.patch.changes  # type: ignore[union-attr]
    assert (patch.ref.key.name, changes["spec"]["replicas"]) == ("b", 1)
    assert changes["spec"]["persistentVolumeClaimRetentionPolicy"] == {"whenScaled": "Retain"}
    assert rollout.held == {"b"}
    assert rollout.desired[0]["spec"]["replicas"] == 3


def test_a_pod_without_a_set_is_deleted_by_itself(shard: ThreeServers) -> None:
    labels = {"multigres.com/cell": CELL}
    ownerless = [server("b-0", labels=labels), server("b-1", labels=labels)]
    shard.removed = RemovedPools(
        ownerless=[UndesiredPool(Ref(KIND._replace(kind="StatefulSet"), Key("shop", "b")), ownerless)]
    )
    shard.plan(*NEW, *ownerless)
    shard.clock.advance(1)
    shard.observe(names=(*NAMES, "b-0", "b-1"))
    [delete] = shard.plan(*NEW, *ownerless).removal_steps
    assert isinstance(delete, Delete)
    assert delete.ref.key.name == "b-1"


def test_an_eviction_of_the_primary_requests_a_switch_and_then_forgets_it(shard: ThreeServers) -> None:
    shard.annotations[SWITCH_FROM] = "a-0"
    shard.plan(*NEW)
    shard.clock.advance(1)
    shard.observe()
    assert [step for step in shard.plan(*NEW).steps(REF) if isinstance(step, Patch)] == []
    assert shard.switches.pending(SHARD) == SwitchRequest("a-0", "an eviction or a user asks for it")
    shard.observe(primary="a-1")
    [patch] = [step for step in shard.plan(*NEW).steps(REF) if isinstance(step, Patch)]
    assert patch.ref == REF


def test_the_eviction_of_an_only_server_is_announced(shard: ThreeServers) -> None:
    rollout = PodRollout([], shard.plan(*NEW).decision)
    drained = rollout._replace(drain=rollout.drain._replace(is_over=True, evicted="a-0"))
    [event] = [step for step in drained.steps(REF) if isinstance(step, Emit)]
    assert event.reason == reasons.RESTARTING_ONLY_SERVER
