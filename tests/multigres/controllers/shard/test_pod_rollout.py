"""Rollout plans of a shard: pods are replaced only with a primary that was observed after their last change."""

from types import SimpleNamespace
from typing import Any

import pytest

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import ObjectMeta
from steward.multigres.api.compute import Pool
from steward.multigres.api.shard import ShardSpec
from steward.multigres.controllers.common.primaries import Primaries, PrimaryObservation
from steward.multigres.controllers.shard.pod_rollout import PodRollout, RolloutPlanner
from steward.multigres.deletion.primary_handover import TopologyAnswer
from steward.multigres.rollout.pods import REVISION
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
from steward.runtime.plan.steps import Delete
from steward.testkit import FakeClock

SHARD = Key("shop", "s")
PRIMARY = PoolerRecord("z1", "a-0", "a-0.a.shop.svc", "db", "tg", "0", True, 2)


class TwoServers:
    """A shard with two servers of an old revision, and its rollout planner."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.primaries = Primaries(self.clock)
        status = WorkloadStatus(observed_generation=1, update_revision="new")
        live = StatefulSetView(ObjectMeta(name="a", generation=1), StatefulSetSpec(2), status)
        store = SimpleNamespace(get=lambda key: live)
        context: Any = SimpleNamespace(
            clock=self.clock,
            primaries=self.primaries,
            rules=SimpleNamespace(stateful_set=None),
            store=lambda rule: store,
        )
        self.planner = RolloutPlanner(context)

    def observe(self, primary: PoolerRecord | None = PRIMARY) -> None:
        self.primaries.record(SHARD, PrimaryObservation(primary, self.clock.monotonic()))

    def plan(self, *pods: PodView) -> PodRollout:
        shard = ShardView(
            ObjectMeta(name="s", namespace="shop"), ShardSpec(shard_name="0", pools={"p": Pool()})
        )
        metadata = {"name": "a", "namespace": "shop", "labels": {"multigres.com/pool": "p"}}
        desired = [
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": {"replicas": 2}}
        ]
        return self.planner.plan_rollout(shard, desired, pods)

    def evicted(self, *pods: PodView) -> str | None:
        steps = self.plan(*pods).steps("shop")
        return next((step.ref.key.name for step in steps if isinstance(step, Delete)), None)


def server(name: str, uid: str = "", revision: str = "old") -> PodView:
    ready = PodStatus(conditions=(PodCondition("Ready", "True"),))
    return PodView(ObjectMeta(name=name, uid=uid or name, labels={REVISION: revision}), ready)


OLD = (server("a-0"), server("a-1"))


@pytest.fixture
def shard() -> TwoServers:
    return TwoServers()


def test_a_pod_is_evicted_once_the_primary_was_observed_after_the_last_change(shard: TwoServers) -> None:
    assert shard.evicted(*OLD) is None
    shard.clock.advance(1)
    shard.observe()
    assert shard.evicted(*OLD) == "a-1"


def test_an_observation_before_a_change_of_pods_no_longer_counts(shard: TwoServers) -> None:
    shard.evicted(*OLD)
    shard.clock.advance(1)
    shard.observe()
    shard.clock.advance(1)
    changed = (OLD[0], server("a-1", uid="the next", revision="new"))
    # a-0 was the primary before a-1 was replaced. It may no longer be, so that does not decide about its eviction.
    assert shard.evicted(*changed) is None
    shard.clock.advance(1)
    shard.observe()
    assert shard.evicted(*changed) == "a-0"


def test_a_primary_without_a_known_pod_counts_as_unknown(shard: TwoServers) -> None:
    shard.evicted(*OLD)
    shard.clock.advance(1)
    shard.observe(PRIMARY._replace(name="elsewhere", hostname="elsewhere"))
    assert shard.evicted(*OLD) is None


def test_an_eviction_that_a_budget_forbids_is_reported(shard: TwoServers) -> None:
    shard.evicted(*OLD)
    shard.clock.advance(1)
    shard.observe()
    rollout = shard.plan(*OLD)
    shard.planner.record_forbidden(SHARD, rollout.steps("shop"))
    decision = shard.plan(*OLD).decision
    assert (decision.reason, decision.replace) == ("DisruptionBudgetForbids", rollout.decision.replace)
    shard.planner.record_forbidden(SHARD, ())
    assert shard.plan(*OLD).decision.reason == "Rolling"


def test_the_handover_has_the_answer_of_the_topology(shard: TwoServers) -> None:
    assert shard.plan(*OLD).handover.answer is None
    shard.clock.advance(1)
    shard.primaries.record(SHARD, PrimaryObservation(PRIMARY, shard.clock.monotonic(), [PRIMARY]))
    assert shard.plan(*OLD).handover.answer == TopologyAnswer(True, frozenset({"a-0"}))
    shard.primaries.record(SHARD, PrimaryObservation(None, shard.clock.monotonic(), is_answered=False))
    assert shard.plan(*OLD).handover.answer == TopologyAnswer(is_answered=False)


@pytest.mark.parametrize(("revision", "needed"), [("old", True), ("new", False)])
def test_the_primary_is_needed_while_pods_are_outdated(
    shard: TwoServers, revision: str, needed: bool
) -> None:
    pods = (server("a-0", revision=revision), server("a-1", revision=revision))
    assert shard.plan(*pods).needs_primary is needed
