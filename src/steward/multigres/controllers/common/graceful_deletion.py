"""How a Cell, a Shard and a TopoServer go: noted, drained, told, released. One course for all three.

    deletion asked for -> ShutdownStarted -> workloads drain, stage by stage -> whatever the kind still has to do
    -> ShutdownComplete -> the finalizer goes, and the garbage collector takes what is left

Every step is found again from what stands on the server: a restart in the middle goes on where the last life ended.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import to_builtins

from steward.kube.errors import Conflict, NotFound
from steward.kube.objects.conditions import FALSE, TRUE, Condition, is_true
from steward.kube.objects.kinds import DEPLOYMENT, SERVICE, Key, Kind, Ref
from steward.kube.objects.meta import HasMetadata, ObjectMeta, controller_of
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.controllers.common.context import ControllerContext, ReportedStatus
from steward.multigres.deletion.annotations import (
    note_started,
    release,
    shutdown_period,
    shutdown_start,
    started_note,
    steering,
)
from steward.multigres.deletion.draining import Draining, Going, Stage, Terms, Workload, drain, pods_of
from steward.multigres.durations import show_duration
from steward.multigres.objects.metadata import CLUSTER
from steward.multigres.status.conditions import Health, Report, common_status, read_conditions
from steward.multigres.views import PodView
from steward.runtime.plan.steps import Delete, Emit, EventType, Plan, Requeue, Status
from steward.runtime.reconcile import RequeueAfter, Result

DRAINING = "Draining"
CONNECTION_DRAINING = "ConnectionDraining"
WAITING_FOR_CONNECTIONS = "Waiting for connections to close"
COMPLETE = "Graceful shutdown complete, proceeding with deletion"
LEAVES_SERVICE = "its pods are about to end"
LOOK_AGAIN_SECONDS = 1.0
SOON_SECONDS = 0.05


class Leaving(NamedTuple):
    """An object on its way out: what its status said, the time it has unless told otherwise, and what it drains."""

    ref: Ref
    meta: ObjectMeta
    status: ReportedStatus
    default_seconds: float
    stages: Sequence[Stage]
    drains: tuple[str, ...] = (DRAINING,)
    """The conditions that say that it drains."""
    more: tuple[Condition, ...] = ()
    """What else its status says."""


class Farewell:
    def __init__(self, context: ControllerContext) -> None:
        rules = context.rules
        self.context = context
        self._clusters = context.store(rules.cluster)
        self._deployments = context.store(rules.deployment)
        self._sets = context.store(rules.stateful_set)
        self._services = context.store(rules.service)

    async def execute(self, plan: Plan, ref: Ref) -> Result:
        """Others take things away at the same time: what is gone, or has changed, before we come to it is no error."""
        try:
            return (await self.context.executor.execute(plan, ref)).result
        except (NotFound, Conflict):
            return RequeueAfter(LOOK_AGAIN_SECONDS)

    def terms(self, meta: ObjectMeta) -> Terms:
        """What holds for an object: its own annotations, else its cluster's, and the settings."""
        cluster = self._clusters.get(Key(meta.namespace, meta.labels.get(CLUSTER, "")))
        inherited = {} if cluster is None else cluster.metadata.annotations
        annotations = steering(meta.annotations, inherited)
        asked = 0.0 if meta.deletion_timestamp is None else from_timestamp(meta.deletion_timestamp)
        return Terms(
            annotations, self.context.grace, self.context.clock.now(), self.context.connections, asked
        )

    def going(self, kind: Kind, owner: ObjectMeta, pods: Iterable[PodView]) -> list[Going]:
        """The workloads of one kind that belong to an object, with their pods."""
        store = self._deployments if kind == DEPLOYMENT else self._sets
        known = list(pods)
        owned = sorted(store.by_owner(owner.uid), key=lambda seen: seen.metadata.name)
        return [self.of_workload(kind, seen, known) for seen in owned if controls(owner, seen)]

    def of_workload(self, kind: Kind, seen: Workload, pods: Iterable[PodView]) -> Going:
        # The Service of a StatefulSet gives its pods their names: it stays to the end.
        services = self._services_of(seen) if kind == DEPLOYMENT else ()
        return Going(kind, seen, pods_of(seen, pods), services)

    def _services_of(self, workload: Workload) -> tuple[Delete, ...]:
        owner = controller_of(workload.metadata)
        beside = [] if owner is None else self._services.by_owner(owner.uid)
        return tuple(
            _service(seen.metadata) for seen in beside if seen.metadata.labels == workload.metadata.labels
        )

    def course(self, leaving: Leaving, terms: Terms) -> Plan | None:
        """What is to be done until every workload is gone; None when they are."""
        begun = self.begin(leaving, terms)
        draining = drain(leaving.stages, terms)
        if draining.waits_for:
            return (*begun, *self.waiting(leaving, draining))
        # The note has changed the object: it must be seen again before it is released.
        return (*begun, Requeue(SOON_SECONDS)) if begun else None

    def by_force(self, leaving: Leaving, skipped: str) -> Plan:
        told = f"Deleted by force; skipped: {skipped}"
        return (
            emit(leaving, reasons.FORCE_DELETED, told, EventType.WARNING),
            release(leaving.ref, leaving.meta),
        )

    def begin(self, leaving: Leaving, terms: Terms) -> Plan:
        """Notes the start on the object itself, once."""
        start = shutdown_start(leaving.meta.annotations, terms.now, terms.asked)
        if start.at is not None:
            return ()
        period = shutdown_period(terms.annotations, leaving.default_seconds, terms.grace)
        # A Shard's two stages have periods of their own: one number would hold for both of them.
        single = period.seconds if len(leaving.stages) == 1 else None
        told = f"Graceful shutdown started, waiting {show_duration(period.seconds)}"
        complaints = (text for text in (start.complaint, period.complaint) if text)
        return (
            *(emit(leaving, reasons.ANNOTATION_IGNORED, text, EventType.WARNING) for text in complaints),
            note_started(leaving.ref, started_note(terms.now, single)),
            emit(leaving, reasons.SHUTDOWN_STARTED, told),
        )

    def waiting(self, leaving: Leaving, draining: Draining) -> Plan:
        told = f"{WAITING_FOR_CONNECTIONS} ({draining.waits_for})"
        plan: Plan = (*draining.steps, *self.report(leaving, _draining(leaving, TRUE, told), told))
        if is_true(read_conditions(leaving.status.conditions), DRAINING):
            return plan
        return (*plan, emit(leaving, reasons.DRAINING, WAITING_FOR_CONNECTIONS))

    def held_up(self, leaving: Leaving, told: str) -> Plan:
        """Everything is drained, and something else must end first."""
        drained = _draining(leaving, FALSE, "every workload is gone")
        return (*self.report(leaving, drained, told), Requeue(LOOK_AGAIN_SECONDS))

    def complete(self, leaving: Leaving, terms: Terms) -> Plan:
        start = shutdown_start(leaving.meta.annotations, terms.now, terms.asked)
        if start.at is not None:
            self.context.figures.ended(leaving.ref.kind.kind, max(0.0, terms.now - start.at))
        return (emit(leaving, reasons.SHUTDOWN_COMPLETE, COMPLETE), release(leaving.ref, leaving.meta))

    def report(self, leaving: Leaving, more: Iterable[Condition], told: str) -> Plan:
        report = Report(leaving.meta, leaving.status.conditions, self.context.now())
        before: dict[str, Any] = to_builtins(leaving.status)
        health = Health("Progressing", reasons.DRAINING, told, False, False)
        return (Status(leaving.ref, {**before, **common_status(report, health, (*leaving.more, *more))}),)


def emit(leaving: Leaving, reason: str, told: str, type_: EventType = EventType.NORMAL) -> Emit:
    return Emit(leaving.ref, reason, told, type_, leaving.meta.uid)


def _service(meta: ObjectMeta) -> Delete:
    ref = Ref(SERVICE, Key(meta.namespace, meta.name))
    return Delete(ref, meta.uid, LEAVES_SERVICE, resource_version=meta.resource_version)


def _draining(leaving: Leaving, status: str, told: str) -> list[Condition]:
    reason = reasons.DRAINING if status == TRUE else reasons.DRAINED
    generation = leaving.meta.generation
    return [Condition(each, status, reason, told, generation) for each in leaving.drains]


def controls(owner: ObjectMeta, seen: HasMetadata) -> bool:
    controller = controller_of(seen.metadata)
    return controller is not None and controller.uid == owner.uid
