"""Moves clusters to the newest version of their pods, a limited number at a time.

A cluster occupies a slot while its condition OperatorUpdateAvailable has the reason OperatorUpdateInProgress. The
condition is written before the first child: after a crash the next process finds the slots occupied. Memory only holds
the slots whose condition is being written, and the clusters to trigger when a slot becomes free.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from steward.kube.cache.store import ObjectChange
from steward.kube.objects.conditions import (
    READY,
    TRUE,
    Condition,
    condition_manifests,
    find_condition,
    is_true,
    set_condition,
)
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import reasons
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.resolution import ResolvedSpec
from steward.multigres.deletion.annotations import has_finalizer
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.objects.versions import NEWEST, version_of
from steward.multigres.status.conditions import read_conditions
from steward.multigres.status.events import condition_events
from steward.multigres.status.pause import is_paused
from steward.multigres.template_updates.objects_version import (
    OPERATOR_UPDATE,
    VersionDecision,
    VersionInputs,
    VersionNotice,
    active_version,
    decide_version,
    describe_decision,
)
from steward.multigres.views import ClusterView, StatefulSetView, WorkloadView
from steward.runtime.plan.steps import Emit, Plan, Requeue, Status

MOVING = "moving"
CLUSTER_INDEX = "cluster"
RECHECK_SECONDS = 5.0
"""How often a cluster that moves, or waits until it is ready, is looked at again: the rollout of a Deployment below a
Cell may end without a change of the Cell."""


class OperatorUpdates:
    def __init__(self, context: MultigresContext, slots: int) -> None:
        rules = context.rules
        self._context = context
        self._slots = slots
        self._clusters = context.store(rules.cluster)
        self._clusters.add_index(MOVING, lambda cluster: [MOVING] if is_moving(cluster) else [])
        self._children = [context.store(rule) for rule in (rules.topo_server, rules.cell, rules.table_group)]
        self._shards = context.store(rules.shard)
        self._workloads = [context.store(rule) for rule in (rules.deployment, rules.stateful_set)]
        for store in (*self._children, self._shards, *self._workloads):
            store.add_index(CLUSTER_INDEX, _cluster_of)
        self._starting: set[Key] = set()
        self._waiting: set[Key] = set()

    def active_version(self, cluster: ClusterView) -> int:
        # Children of the Go operator name no version; all of their pods are replaced once, by the newest ones.
        if not has_finalizer(cluster.metadata):
            return NEWEST
        return active_version(each.spec.objects_version for each in self._parts(cluster, self._children))

    def forget(self, key: Key) -> None:
        self._waiting.discard(key)

    def waiting(self, _: ClusterView) -> list[Key]:
        """The clusters to reconcile when a slot becomes free."""
        return sorted(self._waiting)

    def is_due(self, cluster: ClusterView) -> bool:
        """Whether there is anything to decide: seldom, since new versions are."""
        return self.active_version(cluster) < NEWEST or is_moving(cluster)

    def decide(self, cluster: ClusterView, spec: ResolvedSpec, is_ready: bool) -> VersionDecision:
        """Takes a slot at once if the cluster starts to move: no other reconcile runs between the check and that."""
        assert spec.decision is not None
        key, active, moving = key_of(cluster), self.active_version(cluster), is_moving(cluster)
        self._waiting.discard(key)
        inputs, others = spec.decision.inputs, tuple(sorted(self._occupied() - {key}))
        decision = decide_version(
            VersionInputs(
                active=active,
                mode=inputs.mode,
                is_accepted=spec.decision.accepts_objects,
                window_is_open=inputs.window_is_open,
                is_settled=is_ready and self._is_settled(cluster, active),
                is_moving=moving,
                others=others,
                slots=self._slots,
            )
        )
        if decision.is_moving and not moving:
            self._starting.add(key)
        elif decision.reason == reasons.WAITING_FOR_OTHER_CLUSTERS:
            self._waiting.add(key)
        return decision

    def _occupied(self) -> set[Key]:
        return {*self._starting, *(key_of(each) for each in self._clusters.by_index(MOVING, MOVING))}

    def _is_settled(self, cluster: ClusterView, active: int) -> bool:
        """Whether the previous status was ready, and every pod is as the active version builds it."""
        children = self._parts(cluster, (*self._children, self._shards))
        return (
            is_true(read_conditions(cluster.status.conditions), READY)
            and all(version_of(each.spec.objects_version) == active for each in children if _exists(each))
            and all(map(is_rolled_out, self._parts(cluster, self._workloads)))
        )

    def _parts(self, cluster: ClusterView, stores: Iterable[Any]) -> list[Any]:
        key = str(key_of(cluster))
        return [each for store in stores for each in store.by_index(CLUSTER_INDEX, key)]

    async def start(self, cluster: ClusterView, spec: ResolvedSpec) -> ClusterView:
        """Writes the condition that occupies the slot if the cluster starts to move; returns the cluster with it."""
        key = key_of(cluster)
        if key not in self._starting:
            return cluster
        ref, now = Ref(CLUSTER, key), self._context.now()
        condition = update_condition(cluster, spec)
        try:
            previous = read_conditions(cluster.status.conditions)
            conditions = condition_manifests(set_condition(previous, condition, now))
            status = {**msgspec.to_builtins(cluster.status), "conditions": conditions}
            events = condition_events(ref, cluster.status.conditions, [condition])
            await self._context.executor.execute((Status(ref, status), *events), ref)
        finally:
            self._starting.discard(key)
        return self._clusters.get(key) or cluster


def is_moving(cluster: ClusterView | None) -> bool:
    """A cluster that is being deleted, or paused, occupies no slot."""
    if cluster is None or cluster.metadata.deletion_timestamp is not None or is_paused(cluster):
        return False
    return _reason(cluster) == reasons.OPERATOR_UPDATE_IN_PROGRESS


def frees_slot(change: ObjectChange[Any]) -> bool:
    return is_moving(change.old) and not is_moving(change.new)


def is_rolled_out(workload: WorkloadView | StatefulSetView) -> bool:
    status = workload.status
    is_observed = status.observed_generation >= workload.metadata.generation
    return is_observed and status.updated_replicas >= workload.spec.replicas


def _cluster_of(part: HasMetadata) -> list[str]:
    """By namespace and label, not by owner: a cluster that is created again adopts the parts of the one before."""
    return [str(Key(part.metadata.namespace, part.metadata.labels.get(CLUSTER_LABEL, "")))]


def _exists(child: Any) -> bool:
    return child.metadata.deletion_timestamp is None


def _reason(cluster: ClusterView) -> str:
    condition = find_condition(read_conditions(cluster.status.conditions), OPERATOR_UPDATE)
    return "" if condition is None else condition.reason


def update_condition(cluster: ClusterView, spec: ResolvedSpec) -> Condition:
    assert spec.decision is not None
    assert spec.resolved is not None
    notice = VersionNotice(spec.decision.inputs, spec.resolved, spec.decision.available_revision)
    message = describe_decision(spec.objects, notice)
    return Condition(OPERATOR_UPDATE, TRUE, spec.objects.reason, message, cluster.metadata.generation)


def update_conditions(cluster: ClusterView, spec: ResolvedSpec) -> tuple[Condition, ...]:
    """The condition, which only exists while there is something to say."""
    return (update_condition(cluster, spec),) if spec.objects.reason else ()


def without_ended_condition(status: Manifest, spec: ResolvedSpec) -> Manifest:
    if spec.objects.reason:
        return status
    kept = [condition for condition in status["conditions"] if condition["type"] != OPERATOR_UPDATE]
    return {**status, "conditions": kept}


def report_steps(cluster: ClusterView, spec: ResolvedSpec) -> Plan:
    """Events about the decision, and another look at a cluster that moves or is not ready yet."""
    ref, decision = Ref(CLUSTER, key_of(cluster)), spec.objects
    if spec.resolved is None:
        return ()
    if not decision.reason:
        return (_applied_event(ref),) if is_moving(cluster) else ()
    events = condition_events(ref, cluster.status.conditions, update_conditions(cluster, spec))
    looks_again = decision.is_moving or decision.reason == reasons.WAITING_FOR_READY
    return (*events, Requeue(RECHECK_SECONDS)) if looks_again else events


def _applied_event(ref: Ref) -> Emit:
    message = f"all pods have version {NEWEST} of the operator's objects and are ready"
    return Emit(ref, reasons.OPERATOR_UPDATE_APPLIED, message)
