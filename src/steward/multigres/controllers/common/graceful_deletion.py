"""The graceful deletion that Cell, Shard and TopoServer share.

    deletion request -> ShutdownStarted -> workloads drain, stage by stage -> the remaining steps of the kind
    -> ShutdownComplete -> the finalizer is removed, and the garbage collector deletes the rest

Every step is derived from the live objects: after a restart the next process continues where the last one stopped.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import to_builtins

from steward.kube.errors import Conflict, NotFound
from steward.kube.objects.conditions import FALSE, TRUE, Condition, is_true
from steward.kube.objects.durations import format_duration
from steward.kube.objects.kinds import DEPLOYMENT, SERVICE, Key, Kind, Ref
from steward.kube.objects.meta import HasMetadata, ObjectMeta, controller_of
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.reporting import ReportedStatus
from steward.multigres.deletion.annotations import (
    effective_annotations,
    mark_started_step,
    shutdown_period,
    shutdown_start,
    started_annotations,
)
from steward.multigres.deletion.draining import (
    RECHECK_SECONDS,
    DeletionTerms,
    DrainingWorkload,
    DrainPlan,
    DrainStage,
    Workload,
    delete_ownerless_pod,
    plan_drain,
    pods_of_workload,
)
from steward.multigres.deletion.ownerless_objects import is_ownerless
from steward.multigres.objects.metadata import CLUSTER_LABEL, FINALIZER
from steward.multigres.status.conditions import (
    DRAINING,
    ObjectHealth,
    StatusContext,
    common_status,
    read_conditions,
)
from steward.multigres.views import PodView
from steward.runtime.plan.finalizers import remove_finalizer
from steward.runtime.plan.steps import Delete, Emit, EventType, Plan, Requeue, Status
from steward.runtime.reconcile import RequeueAfter, Result

WAITING_FOR_CONNECTIONS = "Waiting for connections to close"
COMPLETE = "Graceful shutdown complete, proceeding with deletion"
SERVICE_REMOVED = "its pods are about to end"
SOON_SECONDS = 0.05


class DeletingObject(NamedTuple):
    """An object that is being deleted, with its previous status, its default shutdown period and its stages."""

    ref: Ref
    meta: ObjectMeta
    status: ReportedStatus
    default_seconds: float
    stages: Sequence[DrainStage]
    drain_conditions: tuple[str, ...] = (DRAINING,)
    """The condition types that report whether it drains."""
    other_conditions: tuple[Condition, ...] = ()


class GracefulDeletion:
    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self.context = context
        self._clusters = context.store(rules.cluster)
        self._deployments = context.store(rules.deployment)
        self._sets = context.store(rules.stateful_set)
        self._services = context.store(rules.service)

    async def execute(self, plan: Plan, ref: Ref) -> Result:
        """Other controllers delete objects at the same time: one that is gone or has changed is not an error."""
        try:
            return (await self.context.executor.execute(plan, ref)).result
        except (NotFound, Conflict):
            return RequeueAfter(RECHECK_SECONDS)

    def terms(self, meta: ObjectMeta) -> DeletionTerms:
        cluster = self._clusters.get(Key(meta.namespace, meta.labels.get(CLUSTER_LABEL, "")))
        inherited = {} if cluster is None else cluster.metadata.annotations
        annotations = effective_annotations(meta.annotations, inherited)
        requested_at = 0.0 if meta.deletion_timestamp is None else from_timestamp(meta.deletion_timestamp)
        context = self.context
        return DeletionTerms(
            annotations, context.grace, context.clock.now(), context.connections, requested_at
        )

    def draining_workloads(
        self, kind: Kind, owner: ObjectMeta, pods: Iterable[PodView]
    ) -> list[DrainingWorkload]:
        """The workloads of one kind that belong to an object, with their pods."""
        store = self._deployments if kind == DEPLOYMENT else self._sets
        known = list(pods)
        owned = sorted(store.by_owner(owner.uid), key=lambda live: live.metadata.name)
        return [self.draining_workload(kind, live, known) for live in owned if controls(owner, live)]

    def draining_workload(self, kind: Kind, live: Workload, pods: Iterable[PodView]) -> DrainingWorkload:
        # The Service of a StatefulSet gives its pods their DNS names: it stays until the end.
        services = self._service_deletes(live) if kind == DEPLOYMENT else ()
        return DrainingWorkload(kind, live, pods_of_workload(live, pods), services)

    def _service_deletes(self, workload: Workload) -> tuple[Delete, ...]:
        owner, labels = controller_of(workload.metadata), workload.metadata.labels
        if owner is not None:
            services = self._services.by_owner(owner.uid)
        else:
            others = self._services.list(workload.metadata.namespace)
            services = [live for live in others if is_ownerless(live.metadata)]
        return tuple(_delete_service(live.metadata) for live in services if live.metadata.labels == labels)

    def plan(self, deleting: DeletingObject, terms: DeletionTerms) -> Plan | None:
        """The steps until every workload is gone; None when they are."""
        start = self.start_steps(deleting, terms)
        drain = plan_drain(deleting.stages, terms)
        if drain.waits_for:
            return (*start, *self.draining_status(deleting, drain))
        # The annotation has changed the object: it must be read again before its finalizer is removed.
        return (*start, Requeue(SOON_SECONDS)) if start else None

    def force_plan(self, deleting: DeletingObject, skipped: str) -> Plan:
        message = f"Deleted by force; skipped: {skipped}"
        pods = (pod for stage in deleting.stages for pod in stage.ownerless_pods)
        return (
            *(delete_ownerless_pod(pod) for pod in pods if pod.metadata.deletion_timestamp is None),
            deletion_event(deleting, reasons.FORCE_DELETED, message, EventType.WARNING),
            *remove_finalizer(deleting.ref, deleting.meta, FINALIZER),
        )

    def start_steps(self, deleting: DeletingObject, terms: DeletionTerms) -> Plan:
        """Annotates the object with the start of its shutdown, once."""
        start = shutdown_start(deleting.meta.annotations, terms.now, terms.requested_at)
        if start.at is not None:
            return ()
        period = shutdown_period(terms.annotations, deleting.default_seconds, terms.grace)
        # The two stages of a Shard have different periods: one annotation would apply to both.
        single = period.seconds if len(deleting.stages) == 1 else None
        message = f"Graceful shutdown started, waiting {format_duration(period.seconds)}"
        problems = (text for text in (start.problem, period.problem) if text)
        return (
            *(
                deletion_event(deleting, reasons.ANNOTATION_IGNORED, text, EventType.WARNING)
                for text in problems
            ),
            mark_started_step(deleting.ref, started_annotations(terms.now, single)),
            deletion_event(deleting, reasons.SHUTDOWN_STARTED, message),
        )

    def draining_status(self, deleting: DeletingObject, drain: DrainPlan) -> Plan:
        count = "" if drain.connections is None else f"; {drain.connections} open"
        message = f"{WAITING_FOR_CONNECTIONS} ({drain.waits_for}{count})"
        conditions = _drain_conditions(deleting, TRUE, message)
        plan: Plan = (*drain.steps, *self.status_steps(deleting, conditions, message))
        if is_true(read_conditions(deleting.status.conditions), DRAINING):
            return plan
        return (*plan, deletion_event(deleting, reasons.DRAINING, WAITING_FOR_CONNECTIONS))

    def blocked_status(self, deleting: DeletingObject, message: str) -> Plan:
        """For an object whose workloads are drained while it waits for something else."""
        drained = _drain_conditions(deleting, FALSE, "every workload is gone")
        return (*self.status_steps(deleting, drained, message), Requeue(RECHECK_SECONDS))

    def complete(self, deleting: DeletingObject, terms: DeletionTerms) -> Plan:
        start = shutdown_start(deleting.meta.annotations, terms.now, terms.requested_at)
        if start.at is not None:
            seconds = max(0.0, terms.now - start.at)
            self.context.deletion_metrics.observe_shutdown(deleting.ref.kind.kind, seconds)
        return (
            deletion_event(deleting, reasons.SHUTDOWN_COMPLETE, COMPLETE),
            *remove_finalizer(deleting.ref, deleting.meta, FINALIZER),
        )

    def status_steps(self, deleting: DeletingObject, conditions: Iterable[Condition], message: str) -> Plan:
        context = StatusContext(deleting.meta, deleting.status.conditions, self.context.now())
        previous: dict[str, Any] = to_builtins(deleting.status)
        health = ObjectHealth("Progressing", reasons.DRAINING, message, False, False)
        status = common_status(context, health, (*deleting.other_conditions, *conditions))
        return (Status(deleting.ref, {**previous, **status}),)


def deletion_event(
    deleting: DeletingObject, reason: str, message: str, type_: EventType = EventType.NORMAL
) -> Emit:
    return Emit(deleting.ref, reason, message, type_, deleting.meta.uid)


def _delete_service(meta: ObjectMeta) -> Delete:
    ref = Ref(SERVICE, Key(meta.namespace, meta.name))
    return Delete(ref, meta.uid, SERVICE_REMOVED, resource_version=meta.resource_version)


def _drain_conditions(deleting: DeletingObject, status: str, message: str) -> list[Condition]:
    reason = reasons.DRAINING if status == TRUE else reasons.DRAINED
    generation = deleting.meta.generation
    types = deleting.drain_conditions
    return [Condition(type_, status, reason, message, generation) for type_ in types]


def controls(owner: ObjectMeta, live: HasMetadata) -> bool:
    controller = controller_of(live.metadata)
    return controller is not None and controller.uid == owner.uid
