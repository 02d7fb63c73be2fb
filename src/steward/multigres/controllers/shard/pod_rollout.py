"""Collects what decides about the servers of one shard, and turns the decisions into steps.

The pure decisions: `rollout.restarts` (which pod is replaced), `deletion.server_removal` (which server leaves),
`rollout.node_drain` (whether an eviction needs a switch). All three use one observation, which counts only if it began
after the shard's pods last changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.conditions import FALSE, TRUE, UNKNOWN, Condition, Conditions
from steward.kube.objects.kinds import POD, STATEFUL_SET, Key, Manifest, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.patches import MergePatch
from steward.multigres import reasons
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.primary_switches import SwitchRequest
from steward.multigres.controllers.shard.server_pods import RemovedPools, ServerPods
from steward.multigres.deletion.annotations import effective_annotations, is_forced
from steward.multigres.deletion.server_removal import (
    RemovalDecision,
    counts_in_cohort,
    decide_removal,
    is_stopping,
)
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.rollout.node_drain import DrainDecision, clear_drain_step, decide_drain
from steward.multigres.rollout.pods import ShardPods
from steward.multigres.rollout.restarts import (
    REVISION_UNKNOWN,
    RolloutDecision,
    after_removal,
    decide_rollout,
    is_rollout_forced,
)
from steward.multigres.rollout.switching import ChangeOptions
from steward.multigres.status.conditions import (
    ROLLING_UPDATE,
    SCALE_DOWN_PENDING,
    ComponentStatus,
    read_conditions,
)
from steward.multigres.status.waiting_since import WAITING_REASONS, with_since
from steward.multigres.views import PodView, ShardView, StatefulSetView
from steward.runtime.plan.steps import Delete, Emit, EventType, Patch, Plan, Requeue

RECHECK_SECONDS = 1.0
LASTING_RECHECK_SECONDS = 5.0
"""While everything waits for something that may need a user. A change of the servers is noticed sooner."""
ROLLOUT, REMOVAL = "a rolling update replaces its pod", "its server is removed"
ASKED = "an eviction or a user asks for it"
"""An eviction and `steward switchover` set the same annotation."""


class PodRollout(NamedTuple):
    """What happens to the servers of a shard; `desired` has the replicas that each pool may have now."""

    desired: list[Manifest]
    decision: RolloutDecision
    removal: RemovalDecision = RemovalDecision({})
    removal_steps: Plan = ()
    """Scales removed pools down, or deletes their pods."""
    held: frozenset[str] = frozenset()
    """Removed pools that still have servers, or whose servers the cohort still has: they, and the orchestrators of
    their cells, stay."""
    drain: DrainDecision = DrainDecision()
    previous: Conditions = ()
    """The conditions of the last status."""
    now: str = ""

    @property
    def _is_moving(self) -> bool:
        return self.decision.is_rolling and self.decision.reason != reasons.ROLLOUT_STOPPED

    @property
    def _is_removing(self) -> bool:
        """Only a change of the spec ends the wait of a server that the durability policy needs."""
        is_refused = self.removal.reason == reasons.DURABILITY_WOULD_BREAK
        return bool(self.removal.message) and not is_refused

    @property
    def needs_observation(self) -> bool:
        """Whether the next step depends on the state of the servers."""
        return self._is_moving or self._is_removing or self.drain.is_pending

    @property
    def _recheck_seconds(self) -> float:
        waiting = {self.decision.reason} if self._is_moving else set()
        waiting |= {self.removal.reason} if self._is_removing else set()
        is_lasting = bool(waiting) and waiting <= WAITING_REASONS and not self.drain.is_pending
        return LASTING_RECHECK_SECONDS if is_lasting else RECHECK_SECONDS

    @property
    def switch(self) -> SwitchRequest | None:
        """The primary that must hand over before something else happens."""
        wanted = (
            (self.removal.switch_from, REMOVAL),
            (self.decision.switch_from, ROLLOUT),
            (self.drain.switch_from, ASKED),
        )
        return next((SwitchRequest(name, purpose) for name, purpose in wanted if name), None)

    def steps(self, shard: Ref) -> Plan:
        """At most one eviction, and a requeue while something is in progress."""
        member = self.decision.replace
        again = (Requeue(self._recheck_seconds),) if self.needs_observation else ()
        drained = (clear_drain_step(shard), *self._eviction_events(shard)) if self.drain.is_over else ()
        if member is None:
            return (*drained, *again)
        reason, pod = "the rolling update of its shard replaces it", Key(shard.key.namespace, member.name)
        return (*drained, Delete(Ref(POD, pod), member.uid, reason, by="eviction"), *again)

    def _eviction_events(self, shard: Ref) -> Plan:
        if not self.drain.evicted:
            return ()
        message = f"pod {self.drain.evicted}, the only server of the shard, was evicted: its node is drained"
        return (Emit(shard, reasons.RESTARTING_ONLY_SERVER, message, EventType.WARNING),)

    def components(self) -> list[ComponentStatus]:
        decision, components = self.decision, []
        if decision.is_rolling:
            components.append(
                ComponentStatus("the rolling update", 1, 1, False, decision.problem, decision.message)
            )
        if self.removal.message:
            components.append(ComponentStatus("fewer servers", 1, 1, False, hint=self.removal.message))
        return components

    def conditions(self, generation: int) -> list[Condition]:
        current = self._conditions(generation)
        return [with_since(condition, self.previous, self.now) for condition in current]

    def _conditions(self, generation: int) -> list[Condition]:
        decision, removal = self.decision, self.removal
        idle = UNKNOWN if decision is REVISION_UNKNOWN else FALSE
        status = TRUE if decision.is_rolling else idle
        rolling = Condition(ROLLING_UPDATE, status, decision.reason, decision.message, generation)
        if not removal.message:
            return [rolling]
        return [rolling, Condition(SCALE_DOWN_PENDING, TRUE, removal.reason, removal.message, generation)]


class RolloutPlanner:
    def __init__(self, context: MultigresContext) -> None:
        self.context = context
        self.clusters = context.store(context.rules.cluster)
        self.server_pods = ServerPods(context)
        self._forbidden: dict[Key, str] = {}

    def forget(self, shard: Key) -> None:
        self._forbidden.pop(shard, None)
        self.server_pods.forget(shard)
        self.context.primaries.forget(shard)
        self.context.switches.forget(shard)

    def record_forbidden(self, shard: Key, steps: Iterable[object]) -> None:
        """Remembers an eviction that a disruption budget did not allow, for the next status."""
        self._forbidden.pop(shard, None)
        for step in steps:
            if isinstance(step, Delete):
                self._forbidden[shard] = step.ref.key.name

    def plan_rollout(
        self, shard: ShardView, desired: list[Manifest], pods: Sequence[PodView], removed: RemovedPools
    ) -> PodRollout:
        live = self.server_pods.collect(shard, desired, pods, removed)
        rollout = self._decide(shard, desired, live, removed)
        if rollout.needs_observation:
            self.server_pods.request_check(key_of(shard), pods)
        if (request := rollout.switch) is not None:
            spacing = self.server_pods.switch_spacing(shard)
            self.context.switches.request(key_of(shard), request._replace(spacing=spacing))
        return rollout

    def _decide(
        self, shard: ShardView, desired: list[Manifest], live: ShardPods, removed: RemovedPools
    ) -> PodRollout:
        key, inherited = key_of(shard), self._cluster_annotations(shard)
        own, last = shard.metadata.annotations, self.context.switches.last(key)
        forced = is_forced(effective_annotations(own, inherited))
        removal = decide_removal(live, ChangeOptions(forced, last))
        restarts = decide_rollout(live, ChangeOptions(is_rollout_forced(own, inherited), last))
        decision = self._with_forbidden(key, after_removal(restarts, removal.leaves))
        is_at_once = forced or is_stopping(live)
        return PodRollout(
            _scaled(desired, removal.replicas),
            decision,
            removal,
            _all_deletes(removed) if is_at_once else _removal_steps(live, removed, removal),
            frozenset() if is_at_once else _pools_with_servers(live),
            decide_drain(live, own),
            read_conditions(shard.status.conditions),
            self.context.now(),
        )

    def _cluster_annotations(self, shard: ShardView) -> Mapping[str, str]:
        meta = shard.metadata
        cluster = self.clusters.get(Key(meta.namespace, meta.labels.get(CLUSTER_LABEL, "")))
        return {} if cluster is None else cluster.metadata.annotations

    def _with_forbidden(self, shard: Key, decision: RolloutDecision) -> RolloutDecision:
        name = self._forbidden.get(shard)
        if name is None or decision.replace is None or decision.replace.name != name:
            return decision
        message = (
            f"waits for a disruption budget that does not allow the eviction of pod {name};"
            " a pod may have one budget, and has ours"
        )
        return decision._replace(reason=reasons.BUDGET_FORBIDS, message=message)


def _pools_with_servers(live: ShardPods) -> frozenset[str]:
    removed = (pool for pool in live.pools if pool.is_removed)
    return frozenset(
        pool.name for pool in removed if pool.replicas or pool.members or counts_in_cohort(live, pool)
    )


def _all_deletes(removed: RemovedPools) -> Plan:
    return tuple(step for pool in removed.ownerless for step in pool.delete_steps())


def _removal_steps(live: ShardPods, removed: RemovedPools, removal: RemovalDecision) -> Plan:
    """For the pool that loses a server and is no longer desired: an apply scales the others."""
    for pool in live.pools if removal.leaves else ():
        if pool.is_removed and removal.leaves in pool.surplus:
            replicas = removal.replicas[pool.name]
            return (
                removed.delete_steps(removal.leaves)
                if pool.live is None
                else (scale_step(pool.live, replicas),)
            )
    return ()


def scale_step(live: StatefulSetView, replicas: int) -> Patch:
    # With the version that was read: a set that the garbage collector has orphaned meanwhile must not be scaled. The
    # pool is removed, not scaled: only whenDeleted decides about its claims.
    spec = {"replicas": replicas, "persistentVolumeClaimRetentionPolicy": {"whenScaled": "Retain"}}
    metadata = {"resourceVersion": live.metadata.resource_version}
    return Patch(Ref(STATEFUL_SET, key_of(live)), MergePatch({"metadata": metadata, "spec": spec}))


def _scaled(desired: list[Manifest], replicas: Mapping[str, int]) -> list[Manifest]:
    return [
        {**manifest, "spec": {**manifest["spec"], "replicas": replicas[manifest["metadata"]["name"]]}}
        if manifest["kind"] == "StatefulSet"
        else manifest
        for manifest in desired
    ]
