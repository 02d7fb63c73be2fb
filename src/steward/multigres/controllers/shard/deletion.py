"""The end of a Shard, and of the pools and orchestrators that a living Shard no longer asks for.

Orchestrators go before pools. In a cell that is itself going, neither goes before the cell's gateways. Volumes are not
touched here: the policy on the StatefulSet decides, and what stays is told to whoever looks at the cluster.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from steward.kube.objects.conditions import FALSE, TRUE, Condition, find_condition
from steward.kube.objects.kinds import DEPLOYMENT, STATEFUL_SET, Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names, reasons
from steward.multigres.cache_rules import CLUSTER as CLUSTER_KIND
from steward.multigres.cache_rules import SHARD as KIND
from steward.multigres.controllers.common.context import ControllerContext, Surplus, delete_surplus
from steward.multigres.controllers.common.graceful_deletion import (
    COMPLETE,
    CONNECTION_DRAINING,
    DRAINING,
    LOOK_AGAIN_SECONDS,
    WAITING_FOR_CONNECTIONS,
    Farewell,
    Leaving,
    emit,
)
from steward.multigres.controllers.common.kept_claims import kept_claims
from steward.multigres.deletion.annotations import (
    ASKED,
    STARTED,
    forget_started,
    holds,
    is_forced,
    leaves_orphans,
    release,
    shutdown_period,
)
from steward.multigres.deletion.draining import Draining, Going, Stage, Terms, drain
from steward.multigres.deletion.primary_handover import Leaver, Succession, Waiting, holds_back
from steward.multigres.durations import show_duration
from steward.multigres.objects.metadata import CELL, CLUSTER, DATABASE, SHARD, TABLE_GROUP
from steward.multigres.status.conditions import read_conditions
from steward.multigres.views import PodView, ShardView
from steward.runtime.plan.steps import Delete, Emit, EventType, Patch, Plan, Requeue

BOTH = (DRAINING, CONNECTION_DRAINING)
SKIPPED = "the grace period of orchestrators and pools"
WORKLOADS = (DEPLOYMENT, STATEFUL_SET)
FEW = 20


class Retiring(NamedTuple):
    """What a living Shard takes away, and what it still waits for."""

    steps: Plan = ()
    waits_for: str = ""
    conditions: tuple[Condition, ...] = ()
    held: Waiting | None = None
    """Why a pool cannot even begin to go."""


class ShardRemoval:
    def __init__(self, context: ControllerContext) -> None:
        rules = context.rules
        self.context = context
        self.farewell = Farewell(context)
        self.clusters = context.store(rules.cluster)
        self.cells = context.store(rules.cell)
        self.deployments = context.store(rules.deployment)

    async def leave(self, shard: ShardView, pods: Sequence[PodView]) -> Plan:
        meta = shard.metadata
        if not holds(meta):
            return ()
        terms = self.farewell.terms(meta)
        leaving = self._leaving(shard, pods)
        if leaves_orphans(meta):
            return (release(leaving.ref, meta),)
        if is_forced(terms.annotations):
            return self.farewell.by_force(leaving, SKIPPED)
        course = self.farewell.course(leaving, terms)
        if course is not None:
            return course
        return (*await self._told_claims(meta), *self.farewell.complete(leaving, terms))

    def _leaving(self, shard: ShardView, pods: Sequence[PodView]) -> Leaving:
        meta = shard.metadata
        orchestrators = self.farewell.going(DEPLOYMENT, meta, pods)
        pools = self.farewell.going(STATEFUL_SET, meta, pods)
        stages = self._stages(orchestrators, pools)
        ref = Ref(KIND, Key(meta.namespace, meta.name))
        return Leaving(ref, meta, shard.status, self.context.grace.pooler_seconds, stages, BOTH)

    def _stages(self, orchestrators: Sequence[Going], pools: Sequence[Going]) -> list[Stage]:
        grace = self.context.grace
        return [Stage(orchestrators, grace.default_seconds), Stage(pools, grace.pooler_seconds)]

    async def _told_claims(self, meta: ObjectMeta) -> Plan:
        path = {label: meta.labels.get(label, "") for label in (CLUSTER, DATABASE, TABLE_GROUP, SHARD)}
        kept = await kept_claims(self.context.client, meta.namespace, path)
        if not kept:
            return ()
        where = "/".join(path[label] for label in (DATABASE, TABLE_GROUP, SHARD))
        more = f" and {len(kept) - FEW} more" if len(kept) > FEW else ""
        told = f"Shard {where} is gone; its data stays in volume claims {', '.join(kept[:FEW])}{more}"
        cluster = self.clusters.get(Key(meta.namespace, path[CLUSTER]))
        about = Ref(CLUSTER_KIND, Key(meta.namespace, path[CLUSTER]))
        own = Emit(Ref(KIND, Key(meta.namespace, meta.name)), reasons.CLAIMS_RETAINED, told, uid=meta.uid)
        if cluster is None:
            return (own,)
        return (own, Emit(about, reasons.CLAIMS_RETAINED, told, uid=cluster.metadata.uid))

    def retire(
        self, shard: ShardView, surplus: Sequence[Surplus], pods: Sequence[PodView], after: Succession
    ) -> Retiring:
        """What a living Shard no longer asks for: workloads drain, cell by cell; the rest goes with them."""
        workloads = [each for each in surplus if each.ref.kind in WORKLOADS]
        terms = self.farewell.terms(shard.metadata)
        if is_forced(terms.annotations):
            gone_at_once = tuple(delete_surplus(each) for each in surplus)
            told = forced_removal(shard, workloads)
            return Retiring((*told, *gone_at_once), conditions=tuple(_conditions(shard, "")))
        left = [each.seen.metadata.labels for each in workloads]
        others = [each for each in surplus if each.ref.kind not in WORKLOADS]
        gone = [delete_surplus(each) for each in others if each.seen.metadata.labels not in left]
        cells = [
            self._retire_cell(shard, list(each), pods, terms, after)
            for _, each in groupby(_by_cell(workloads), _cell)
        ]
        waits = ", ".join(cell.waits_for for cell in cells if cell.waits_for)
        steps = (*gone, *(step for cell in cells for step in cell.steps))
        held = next((cell.held for cell in cells if cell.held is not None), None)
        return Retiring(steps, waits, tuple(_conditions(shard, waits)), held)

    def _retire_cell(
        self,
        shard: ShardView,
        workloads: Sequence[Surplus],
        pods: Sequence[PodView],
        terms: Terms,
        after: Succession,
    ) -> Retiring:
        going = [self.farewell.of_workload(each.ref.kind, each.seen, pods) for each in workloads]
        if gateways := self._gateways_in_the_way(shard, _cell(workloads[0])):
            return Retiring((Requeue(LOOK_AGAIN_SECONDS),), gateways)
        if held := self._held_back(going, terms, after):
            # The orchestrators of the cell stay as well: they may be those who hand over.
            return Retiring((*held.steps, Requeue(LOOK_AGAIN_SECONDS)), held=held)
        stages = self._stages(
            [each for each in going if each.kind == DEPLOYMENT],
            [each for each in going if each.kind == STATEFUL_SET],
        )
        draining = drain(stages, terms)
        told = self._told(shard, draining, terms)
        return Retiring((*draining.steps, *told), draining.waits_for)

    def _held_back(self, going: Sequence[Going], terms: Terms, after: Succession) -> Waiting | None:
        """The first pool that has yet to begin its end and must not do so now."""
        patience = shutdown_period(terms.annotations, self.context.grace.pooler_seconds, terms.grace).seconds
        for each in going:
            annotations = each.seen.metadata.annotations
            if STARTED not in annotations and each.seen.metadata.deletion_timestamp is None:
                leaver = Leaver(each.ref, annotations, [pod.metadata.name for pod in each.pods])
                if held := holds_back(leaver, after, terms.now, patience):
                    return held
        return None

    def _gateways_in_the_way(self, shard: ShardView, cell: str) -> str:
        """The gateways of a cell that is going; empty when they are gone or the cell stays."""
        namespace, cluster = shard.metadata.namespace, shard.metadata.labels.get(CLUSTER, "")
        seen = self.cells.get(Key(namespace, names.cell(cluster, cell)))
        stays = seen is not None and seen.metadata.deletion_timestamp is None
        name = names.gateway(cluster, cell)
        return "" if stays or self.deployments.get(Key(namespace, name)) is None else name

    def _told(self, shard: ShardView, draining: Draining, terms: Terms) -> Plan:
        """An event for each shutdown that begins and each that is over."""
        ref = Ref(KIND, Key(shard.metadata.namespace, shard.metadata.name))
        leaving = Leaving(ref, shard.metadata, shard.status, self.context.grace.pooler_seconds, ())
        begins = [step.ref for step in draining.steps if isinstance(step, Patch)]
        ends = [
            step.ref for step in draining.steps if isinstance(step, Delete) and step.ref.kind in WORKLOADS
        ]
        ignored = [draining.complaint] if begins and draining.complaint else []
        return (
            *(emit(leaving, reasons.ANNOTATION_IGNORED, told, EventType.WARNING) for told in ignored),
            *(emit(leaving, reasons.SHUTDOWN_STARTED, _begins(ref, terms)) for ref in begins),
            *(emit(leaving, reasons.SHUTDOWN_COMPLETE, f"{COMPLETE} ({ref.key.name})") for ref in ends),
        )

    def revived(self, desired: Iterable[Ref]) -> Plan:
        """What was draining and is asked for again."""
        found = (
            (ref, self.context.of_kind(ref.kind).get(ref.key)) for ref in desired if ref.kind in WORKLOADS
        )
        return tuple(
            forget_started(ref)
            for ref, seen in found
            if seen is not None and not {STARTED, ASKED}.isdisjoint(seen.metadata.annotations)
        )


def forced_removal(shard: ShardView, workloads: Sequence[Surplus]) -> Plan:
    """What a living Shard says of workloads that it takes away by force."""
    if not workloads:
        return ()
    names = ", ".join(each.ref.key.name for each in workloads)
    told = f"Deleted by force: {names}; skipped: {SKIPPED}, and the question who leads"
    ref = Ref(KIND, Key(shard.metadata.namespace, shard.metadata.name))
    return (Emit(ref, reasons.FORCE_DELETED, told, EventType.WARNING, shard.metadata.uid),)


def _begins(workload: Ref, terms: Terms) -> str:
    grace = terms.grace
    usual = grace.pooler_seconds if workload.kind == STATEFUL_SET else grace.default_seconds
    period = shutdown_period(terms.annotations, usual, grace)
    return f"Graceful shutdown started, waiting {show_duration(period.seconds)} ({workload.key.name})"


def _conditions(shard: ShardView, waits_for: str) -> list[Condition]:
    """Draining, while something is; and that it is over, once it was told."""
    generation = shard.metadata.generation
    if waits_for:
        told = f"{WAITING_FOR_CONNECTIONS} ({waits_for})"
        return [Condition(each, TRUE, reasons.DRAINING, told, generation) for each in BOTH]
    known = read_conditions(shard.status.conditions)
    over = [each for each in BOTH if find_condition(known, each) is not None]
    return [Condition(each, FALSE, reasons.DRAINED, "every workload is gone", generation) for each in over]


def _cell(surplus: Surplus) -> str:
    return str(surplus.seen.metadata.labels.get(CELL, ""))


def _by_cell(workloads: Iterable[Surplus]) -> list[Surplus]:
    return sorted(workloads, key=_cell)
