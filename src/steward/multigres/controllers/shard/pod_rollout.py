"""Collects the inputs of `rollout.pods` for one shard: its pools, their pods and the primary.

An observation of the topology counts only if it began after the shard's pods last changed: the primary may have moved
since an older one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.conditions import FALSE, TRUE, UNKNOWN, Condition
from steward.kube.objects.kinds import POD, Key, Manifest, Ref
from steward.kube.objects.meta import key_of
from steward.multigres import reasons
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.primaries import PrimaryObservation
from steward.multigres.deletion.primary_handover import PrimaryHandover, TopologyAnswer, primary_handover
from steward.multigres.objects.metadata import CLUSTER_LABEL, POOL_LABEL
from steward.multigres.rollout.pods import (
    REVISION_UNKNOWN,
    PoolState,
    RolloutDecision,
    ScaleDecision,
    ShardPods,
    decide_rollout,
    decide_scale,
    is_ready,
    members_of,
)
from steward.multigres.rollout.volumes import stateful_sets_in
from steward.multigres.status.conditions import ROLLING_UPDATE, SCALE_DOWN_PENDING, ComponentStatus
from steward.multigres.views import PodView, ShardView
from steward.runtime.plan.steps import Delete, Plan, Requeue

RECHECK_SECONDS = 1.0
READ_ONLY = "readOnly"


class PodRollout(NamedTuple):
    """The rolling update and scale-down of a shard; `desired` has the replicas that each pool may have now."""

    desired: list[Manifest]
    decision: RolloutDecision
    scales: tuple[ScaleDecision, ...] = ()
    handover: PrimaryHandover = PrimaryHandover()

    @property
    def held_scale(self) -> ScaleDecision | None:
        return next((scale for scale in self.scales if scale.message), None)

    @property
    def _is_moving(self) -> bool:
        return self.decision.is_rolling and self.decision.reason != reasons.ROLLOUT_STOPPED

    @property
    def needs_primary(self) -> bool:
        """Whether the next step depends on which pod is the primary."""
        return self._is_moving or self.held_scale is not None

    def steps(self, namespace: str) -> Plan:
        """At most one eviction, and a requeue while the rollout continues."""
        member = self.decision.replace
        again = (Requeue(RECHECK_SECONDS),) if self.needs_primary else ()
        if member is None:
            return again
        reason = "the rolling update of its shard replaces it"
        return (Delete(Ref(POD, Key(namespace, member.name)), member.uid, reason, by="eviction"), *again)

    def components(self) -> list[ComponentStatus]:
        decision, components = self.decision, []
        if decision.is_rolling:
            components.append(
                ComponentStatus("the rolling update", 1, 1, False, decision.problem, decision.message)
            )
        if self.held_scale is not None:
            components.append(ComponentStatus("fewer pods", 1, 1, False, hint=self.held_scale.message))
        return components

    def conditions(self, generation: int) -> list[Condition]:
        decision, held = self.decision, self.held_scale
        idle = UNKNOWN if decision is REVISION_UNKNOWN else FALSE
        status = TRUE if decision.is_rolling else idle
        rolling = Condition(ROLLING_UPDATE, status, decision.reason, decision.message, generation)
        if held is None:
            return [rolling]
        return [rolling, Condition(SCALE_DOWN_PENDING, TRUE, held.reason, held.message, generation)]


class _PodSnapshot(NamedTuple):
    """Identity and readiness of a shard's pods, and since when they have been unchanged."""

    pods: frozenset[object]
    since: float


class RolloutPlanner:
    def __init__(self, context: MultigresContext) -> None:
        self.context = context
        self.sets = context.store(context.rules.stateful_set)
        self._snapshots: dict[Key, _PodSnapshot] = {}
        self._forbidden: dict[Key, str] = {}

    def forget(self, shard: Key) -> None:
        self._snapshots.pop(shard, None)
        self._forbidden.pop(shard, None)
        self.context.primaries.forget(shard)

    def record_forbidden(self, shard: Key, steps: Iterable[object]) -> None:
        """Remembers an eviction that a disruption budget did not allow, for the next status."""
        self._forbidden.pop(shard, None)
        for step in steps:
            if isinstance(step, Delete):
                self._forbidden[shard] = step.ref.key.name

    def plan_rollout(self, shard: ShardView, desired: list[Manifest], pods: Sequence[PodView]) -> PodRollout:
        key = key_of(shard)
        live = self._shard_pods(shard, desired, pods)
        scales = {pool.name: decide_scale(pool, live) for pool in live.pools}
        decision = self._with_forbidden(key, decide_rollout(live))
        handover = primary_handover(live.pools, live.primary)._replace(answer=self._answer(key, pods))
        return PodRollout(_scaled(desired, scales), decision, tuple(scales.values()), handover)

    def _with_forbidden(self, shard: Key, decision: RolloutDecision) -> RolloutDecision:
        name = self._forbidden.get(shard)
        if name is None or decision.replace is None or decision.replace.name != name:
            return decision
        message = (
            f"waits for a disruption budget that does not allow the eviction of pod {name};"
            " a pod may have one budget, and has ours"
        )
        return decision._replace(reason=reasons.BUDGET_FORBIDS, message=message)

    def _shard_pods(self, shard: ShardView, desired: list[Manifest], pods: Sequence[PodView]) -> ShardPods:
        now = self.context.clock.now()
        spec_pools = or_default(shard.spec.pools, {}).items()
        read_only = {name for name, pool in spec_pools if pool.type == READ_ONLY}
        pools = []
        for manifest in stateful_sets_in(desired):
            meta = manifest["metadata"]
            name, live = meta["name"], self.sets.get(Key(meta["namespace"], meta["name"]))
            may_lead = meta["labels"].get(POOL_LABEL) not in read_only
            members = members_of(name, live, pods, now)
            pools.append(PoolState(name, manifest["spec"]["replicas"], live, may_lead, members))
        return ShardPods(tuple(pools), self._primary(key_of(shard), pods))

    def request_primary_check(self, shard: ShardView, pods: Sequence[PodView]) -> None:
        """Asks the topology controller for the primary: pods are replaced or removed once it is known."""
        cluster = shard.metadata.labels.get(CLUSTER_LABEL, "")
        unchanged_since = self._unchanged_since(key_of(shard), pods)
        self.context.primaries.request_check(key_of(shard), cluster, unchanged_since)

    def _observation(self, shard: Key, pods: Sequence[PodView]) -> PrimaryObservation | None:
        return self.context.primaries.observation_since(shard, self._unchanged_since(shard, pods))

    def _primary(self, shard: Key, pods: Sequence[PodView]) -> str | None:
        observation = self._observation(shard, pods)
        primary = None if observation is None else observation.primary
        if primary is None:
            return None
        return next((pod.metadata.name for pod in pods if primary.belongs_to_pod(pod.metadata.name)), None)

    def _answer(self, shard: Key, pods: Sequence[PodView]) -> TopologyAnswer | None:
        observation = self._observation(shard, pods)
        if observation is None:
            return None
        names = (pod.metadata.name for pod in pods)
        poolers = observation.poolers
        registered = frozenset(
            name for name in names if any(pooler.belongs_to_pod(name) for pooler in poolers)
        )
        return TopologyAnswer(observation.is_answered, registered)

    def _unchanged_since(self, shard: Key, pods: Sequence[PodView]) -> float:
        now = self.context.clock.monotonic()
        current = frozenset(
            (pod.metadata.uid, is_ready(pod), pod.metadata.deletion_timestamp is None) for pod in pods
        )
        last = self._snapshots.get(shard)
        if last is None or last.pods != current:
            last = self._snapshots[shard] = _PodSnapshot(current, now)
        return last.since


def _scaled(desired: list[Manifest], scales: Mapping[str, ScaleDecision]) -> list[Manifest]:
    return [
        {**manifest, "spec": {**manifest["spec"], "replicas": scales[manifest["metadata"]["name"]].replicas}}
        if manifest["kind"] == "StatefulSet"
        else manifest
        for manifest in desired
    ]
