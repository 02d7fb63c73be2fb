"""Deletes a Shard, and removes the pools and orchestrators that a Shard no longer desires.

Orchestrators are deleted before pools. In a cell that is itself terminating, neither is deleted before the cell's
gateways. Volumes are not touched here: the policy on the StatefulSet decides, and an event lists the retained claims.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from steward.kube.objects.conditions import TRUE, Condition
from steward.kube.objects.durations import format_duration
from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import reasons
from steward.multigres.cache_rules import CLUSTER as CLUSTER_KIND
from steward.multigres.cache_rules import SHARD as KIND
from steward.multigres.controllers.common.children import UnwantedChild
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.graceful_deletion import (
    COMPLETE,
    SOON_SECONDS,
    WAITING_FOR_CONNECTIONS,
    DeletingObject,
    GracefulDeletion,
    deletion_event,
)
from steward.multigres.controllers.common.volumes import retained_claims
from steward.multigres.controllers.connection_counts import ConnectionCounts
from steward.multigres.controllers.shard.ownerless_servers import OwnerlessServers
from steward.multigres.controllers.shard.server_pods import ServerPods
from steward.multigres.deletion.annotations import (
    REMOVAL_REQUESTED,
    STARTED,
    clear_started_step,
    has_finalizer,
    is_forced,
    orphans_children,
    shutdown_period,
)
from steward.multigres.deletion.draining import (
    RECHECK_SECONDS,
    DeletionTerms,
    DrainingWorkload,
    DrainPlan,
    DrainStage,
    plan_drain,
)
from steward.multigres.objects import orchestrator, pool
from steward.multigres.objects.metadata import (
    CELL_LABEL,
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    DATABASE_LABEL,
    FINALIZER,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
)
from steward.multigres.objects.repository import host
from steward.multigres.status.conditions import CONNECTION_DRAINING, DRAINING
from steward.multigres.views import PodView, ShardView
from steward.runtime.plan.finalizers import remove_finalizer
from steward.runtime.plan.steps import Delete, Emit, EventType, Patch, Plan, Requeue

DRAIN_CONDITIONS = (DRAINING, CONNECTION_DRAINING)
SKIPPED = "the grace period of orchestrators and pools"
WORKLOADS = (DEPLOYMENT, STATEFUL_SET)
PATH_LABELS = (DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL)
MAX_LISTED = 20


class WorkloadRemoval(NamedTuple):
    """The removal of workloads that a Shard no longer desires, and what it waits for."""

    steps: Plan = ()
    waits_for: str = ""
    conditions: tuple[Condition, ...] = ()


class ShardDeletion:
    def __init__(self, context: MultigresContext, counts: ConnectionCounts | None = None) -> None:
        rules = context.rules
        self.context = context
        self.counts = counts
        self.graceful_deletion = GracefulDeletion(context)
        self.ownerless = OwnerlessServers(context)
        self.clusters = context.store(rules.cluster)
        self.server_pods = ServerPods(context)

    async def plan_deletion(self, shard: ShardView, pods: Sequence[PodView]) -> Plan:
        meta = shard.metadata
        if not has_finalizer(meta):
            return ()
        if self.counts is not None:
            await self.counts.refresh(pods)
        terms = self.graceful_deletion.terms(meta)
        deleting = self._deleting(shard, pods)
        if orphans_children(meta):
            return remove_finalizer(deleting.ref, meta, FINALIZER)
        claims = self.ownerless.claim_deletions(shard, pods)
        if is_forced(terms.annotations):
            return (*claims, *self.graceful_deletion.force_plan(deleting, SKIPPED))
        plan = self.graceful_deletion.plan(deleting, terms)
        if plan is not None:
            return plan
        if claims:
            return (*claims, Requeue(SOON_SECONDS))
        events = await self._retained_claim_events(meta)
        return (*events, *self.graceful_deletion.complete(deleting, terms))

    def _deleting(self, shard: ShardView, pods: Sequence[PodView]) -> DeletingObject:
        meta = shard.metadata
        deployments = self._stage(shard, DEPLOYMENT, orchestrator.COMPONENT, pods)
        # Servers archive their last WAL when they end: the pod with their repository ends after them.
        orchestrators, hosts = _split_hosts(deployments.workloads)
        stages = [
            deployments._replace(workloads=orchestrators),
            self._stage(shard, STATEFUL_SET, pool.COMPONENT, pods),
            DrainStage(hosts, self.context.grace.default_seconds),
        ]
        seconds = self.context.grace.pooler_seconds
        return DeletingObject(_ref(shard), meta, shard.status, seconds, stages, DRAIN_CONDITIONS)

    def _stage(self, shard: ShardView, kind: Kind, component: str, pods: Sequence[PodView]) -> DrainStage:
        workloads = [
            *self.graceful_deletion.draining_workloads(kind, shard.metadata, pods),
            *(
                self.graceful_deletion.draining_workload(kind, live, pods)
                for live in self.ownerless.workloads(shard, kind)
            ),
        ]
        grace = self.context.grace
        seconds = grace.default_seconds if kind == DEPLOYMENT else grace.pooler_seconds
        return DrainStage(workloads, seconds, self.ownerless.pods(shard, pods, component))

    def _stages(
        self, deployments: Sequence[DrainingWorkload], pools: Sequence[DrainingWorkload]
    ) -> list[DrainStage]:
        grace = self.context.grace
        orchestrators, hosts = _split_hosts(deployments)
        return [
            DrainStage(orchestrators, grace.default_seconds),
            DrainStage(pools, grace.pooler_seconds),
            DrainStage(hosts, grace.default_seconds),
        ]

    async def _retained_claim_events(self, meta: ObjectMeta) -> Plan:
        labels = {label: meta.labels.get(label, "") for label in (CLUSTER_LABEL, *PATH_LABELS)}
        names = await retained_claims(self.context.client, meta.namespace, labels)
        if not names:
            return ()
        path = "/".join(labels[label] for label in PATH_LABELS)
        more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
        listed = ", ".join(names[:MAX_LISTED])
        message = f"Shard {path} is gone; its data stays in volume claims {listed}{more}"
        ref = Ref(KIND, Key(meta.namespace, meta.name))
        event = Emit(ref, reasons.CLAIMS_RETAINED, message, uid=meta.uid)
        cluster_key = Key(meta.namespace, labels[CLUSTER_LABEL])
        cluster = self.clusters.get(cluster_key)
        if cluster is None:
            return (event,)
        uid = cluster.metadata.uid
        return (event, Emit(Ref(CLUSTER_KIND, cluster_key), reasons.CLAIMS_RETAINED, message, uid=uid))

    def plan_removal(
        self,
        shard: ShardView,
        unwanted: Sequence[UnwantedChild],
        pods: Sequence[PodView],
        held: frozenset[str],
    ) -> WorkloadRemoval:
        """Removes the children that a Shard no longer desires: workloads drain, cell by cell; the rest follows them.
        `held` are the pools that still have servers."""
        workloads = [child for child in unwanted if child.ref.kind in WORKLOADS]
        terms = self.graceful_deletion.terms(shard.metadata)
        if is_forced(terms.annotations):
            deletes = tuple(child.delete_step() for child in unwanted)
            steps = (*forced_removal_events(shard, workloads), *deletes)
            return WorkloadRemoval(steps)
        remaining = [child.live.metadata.labels for child in workloads]
        others = [child for child in unwanted if child.ref.kind not in WORKLOADS]
        deletes = tuple(
            child.delete_step() for child in others if child.live.metadata.labels not in remaining
        )
        cells = [
            self._remove_in_cell(shard, list(children), pods, held)
            for _, children in groupby(_by_cell(workloads), _cell)
        ]
        waits_for = ", ".join(cell.waits_for for cell in cells if cell.waits_for)
        steps = (*deletes, *(step for cell in cells for step in cell.steps))
        return WorkloadRemoval(steps, waits_for, tuple(_conditions(shard, waits_for)))

    def _remove_in_cell(
        self,
        shard: ShardView,
        workloads: Sequence[UnwantedChild],
        pods: Sequence[PodView],
        held: frozenset[str],
    ) -> WorkloadRemoval:
        terms = self.graceful_deletion.terms(shard.metadata)
        draining = [
            self.graceful_deletion.draining_workload(child.ref.kind, child.live, pods) for child in workloads
        ]
        if gateways := self.server_pods.blocking_gateways(shard, _cell(workloads[0])):
            return WorkloadRemoval((Requeue(RECHECK_SECONDS),), gateways)
        if any(child.ref.kind == STATEFUL_SET and child.ref.key.name in held for child in workloads):
            # The orchestrators of the cell stay as well: they drop the servers that leave from the cohort. The rollout
            # looks at the servers again.
            return WorkloadRemoval()
        stages = self._stages(
            [workload for workload in draining if workload.kind == DEPLOYMENT],
            [workload for workload in draining if workload.kind == STATEFUL_SET],
        )
        drain = plan_drain(stages, terms)
        return WorkloadRemoval((*drain.steps, *self._shutdown_events(shard, drain, terms)), drain.waits_for)

    def _shutdown_events(self, shard: ShardView, drain: DrainPlan, terms: DeletionTerms) -> Plan:
        """One event for each shutdown that starts and each that is complete."""
        seconds = self.context.grace.pooler_seconds
        deleting = DeletingObject(_ref(shard), shard.metadata, shard.status, seconds, ())
        steps = drain.steps
        started = [step.ref for step in steps if isinstance(step, Patch)]
        ended = [step.ref for step in steps if isinstance(step, Delete) and step.ref.kind in WORKLOADS]
        ignored = [drain.problem] if started and drain.problem else []
        return (
            *(
                deletion_event(deleting, reasons.ANNOTATION_IGNORED, problem, EventType.WARNING)
                for problem in ignored
            ),
            *(
                deletion_event(deleting, reasons.SHUTDOWN_STARTED, _started_message(ref, terms))
                for ref in started
            ),
            *(
                deletion_event(deleting, reasons.SHUTDOWN_COMPLETE, f"{COMPLETE} ({ref.key.name})")
                for ref in ended
            ),
        )

    def revive_steps(self, desired: Iterable[Ref]) -> Plan:
        """For workloads that were draining and are desired again."""
        workloads = ((ref, self.context.store_of(ref.kind)) for ref in desired if ref.kind in WORKLOADS)
        cached = ((ref, store.get(ref.key)) for ref, store in workloads)
        return tuple(
            clear_started_step(ref)
            for ref, live in cached
            if live is not None and not {STARTED, REMOVAL_REQUESTED}.isdisjoint(live.metadata.annotations)
        )


def forced_removal_events(shard: ShardView, workloads: Sequence[UnwantedChild]) -> Plan:
    """For workloads that a Shard removes by force."""
    if not workloads:
        return ()
    names = ", ".join(child.ref.key.name for child in workloads)
    message = f"Deleted by force: {names}; skipped: {SKIPPED}, and the wait for the other servers"
    return (Emit(_ref(shard), reasons.FORCE_DELETED, message, EventType.WARNING, shard.metadata.uid),)


def _ref(shard: ShardView) -> Ref:
    return Ref(KIND, Key(shard.metadata.namespace, shard.metadata.name))


def _started_message(workload: Ref, terms: DeletionTerms) -> str:
    grace = terms.grace
    usual = grace.pooler_seconds if workload.kind == STATEFUL_SET else grace.default_seconds
    period = shutdown_period(terms.annotations, usual, grace)
    return f"Graceful shutdown started, waiting {format_duration(period.seconds)} ({workload.key.name})"


def _conditions(shard: ShardView, waits_for: str) -> list[Condition]:
    """While workloads drain."""
    if not waits_for:
        return []
    generation, message = shard.metadata.generation, f"{WAITING_FOR_CONNECTIONS} ({waits_for})"
    return [Condition(type_, TRUE, reasons.DRAINING, message, generation) for type_ in DRAIN_CONDITIONS]


def _split_hosts(
    deployments: Iterable[DrainingWorkload],
) -> tuple[list[DrainingWorkload], list[DrainingWorkload]]:
    """Those of orchestrators, and those of repositories."""
    known = list(deployments)
    hosts = [each for each in known if each.live.metadata.labels.get(COMPONENT_LABEL) == host.COMPONENT]
    return [each for each in known if each not in hosts], hosts


def _cell(child: UnwantedChild) -> str:
    return str(child.live.metadata.labels.get(CELL_LABEL, ""))


def _by_cell(workloads: Iterable[UnwantedChild]) -> list[UnwantedChild]:
    return sorted(workloads, key=_cell)
