"""Writes the status and events of a Tenant: as its objects become ready, before it gets more, and on failures.

While objects become ready, status writes are throttled (see `runtime.status.throttle`), also the first. Every result,
ready or failed, is written at once. A repair is not reported while it takes effect: a Deployment whose replicas were
put back is not ready until its controller has observed that, and the statuses of hundreds of Tenants would delay the
repairs of others. For the same reason an object that was put back keeps its record while it is ready.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

import msgspec

from steward.kube.objects.conditions import READY, is_true
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.runtime.plan.steps import Emit, Plan, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.runtime.status.throttle import StatusThrottle, StatusUpdate, content_hash
from steward.tenants import reasons
from steward.tenants.api.tenant import AppliedObject
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.tenant.events import (
    problem_warnings,
    progress_warnings,
    ready_events,
    restored_events,
    warning_events,
    warnings_before_start,
)
from steward.tenants.controllers.tenant.prune import PruneResult
from steward.tenants.controllers.tenant.state import TenantState, WarningEvent
from steward.tenants.objects.desired import DesiredObject
from steward.tenants.objects.orphans import AppliedRef
from steward.tenants.status.pause import MESSAGE, is_reported, paused_status
from steward.tenants.status.progress import ResourceProgress, ResourceState
from steward.tenants.status.tenant import (
    PreviousStatus,
    TenantProblem,
    count_resources,
    initial_status,
    is_urgent,
    problem_status,
    status_fields,
    tenant_status,
    unfinished_ids,
)

REMAINING_RETRY_SECONDS: Final = 5.0
REPAIR_SECONDS: Final = 3.0
"""For how long a Tenant whose objects were put back may become ready again before its status says that it is not."""
MAX_REPAIR_SECONDS: Final = 30.0
"""As long as that while objects of other Tenants wait for a repair: their repairs precede this report."""
RECHECK_SECONDS: Final = 1.0


class TenantSnapshot(NamedTuple):
    """A Tenant in one reconcile: as it was read, its state, and its desired objects."""

    document: TenantDocument
    state: TenantState
    desired: tuple[DesiredObject, ...]


class TenantReporter:
    def __init__(self, context: TenantsContext, unrepaired: Collection[Key] = ()) -> None:
        self._unrepaired = unrepaired
        self.executor = context.executor
        self._now = context.now
        self._monotonic = context.clock.monotonic
        self._throttle = StatusThrottle(context.clock)

    def previous_status(self, document: TenantDocument) -> PreviousStatus:
        return PreviousStatus(document.recorded_status, document.metadata.generation, self._now())

    async def record_desired(self, snapshot: TenantSnapshot, orphans: Iterable[AppliedRef]) -> TenantSnapshot:
        """Records new objects in the status before they are created. The snapshot then has the status as written. The
        objects of a Tenant without a status are recorded by its spec."""
        document = snapshot.document
        recorded = set(document.recorded_objects)
        if all(each.applied_ref in recorded for each in snapshot.desired):
            return snapshot
        records = [*_desired_records(snapshot), *_remaining_records(orphans, document)]
        status = initial_status(self.previous_status(document), len(snapshot.desired), records)
        await self.executor.execute((Status(document.ref, status),), document.ref)
        self._throttle.record(document.ref, _update(status))
        return snapshot._replace(document=document.with_status(status))

    async def record_interrupted(self, document: TenantDocument) -> None:
        """The first status of a Tenant that could not be applied because of an error, which is retried: without a
        status its spec could not change, and a changed template may be the cure."""
        if document.is_reported:
            return
        status = initial_status(self.previous_status(document), len(document.records), document.records)
        await self.executor.execute((Status(document.ref, status),), document.ref)
        self._throttle.record(document.ref, _update(status))

    async def report_problem(
        self, document: TenantDocument, state: TenantState, problem: TenantProblem
    ) -> None:
        previous = self.previous_status(document)
        events = _new_warnings(document, state, previous, problem_warnings(problem))
        status = Status(document.ref, problem_status(previous, problem))
        await self.executor.execute((*events, status), document.ref)

    async def report_pause(self, document: TenantDocument) -> None:
        previous = status_fields(document.recorded_status)
        status = paused_status(previous, document.metadata.generation, self._now())
        event = () if is_reported(previous) else (Emit(document.ref, reasons.PAUSED, MESSAGE),)
        await self.executor.execute((*event, Status(document.ref, status)), document.ref)

    async def report(
        self, snapshot: TenantSnapshot, progress: list[ResourceProgress], remaining: list[PruneResult]
    ) -> Result:
        document, state = snapshot.document, snapshot.state
        previous = self.previous_status(document)
        progress = [*progress, *map(_failed_deletion, (each for each in remaining if each.problem))]
        records = _remaining_records((each.applied for each in remaining), document)
        status = tenant_status(previous, progress, [*_reported_records(snapshot, progress), *records])
        events = _new_warnings(document, state, previous, progress_warnings(progress))
        steps: Plan = (
            *events,
            *restored_events(document.ref, state.restored),
            *ready_events(document.ref, previous.conditions, progress),
        )
        wait = self._seconds_until_write(snapshot, status, progress)
        if not wait:
            steps = (*steps, Status(document.ref, status))
        await self.executor.execute(steps, document.ref)
        state.restored.clear()
        if count_resources(progress).is_ready:
            state.settled_generation = document.metadata.generation
            state.repaired_at.clear()
        if not wait:
            state.records.clear()  # the status holds them now, and the next reconcile reads it
        retries = [each.recheck_after for each in progress if each.recheck_after is not None]
        retries += [REMAINING_RETRY_SECONDS] * bool(records) + [wait] * bool(wait)
        return RequeueAfter(min(retries)) if retries else DONE

    def _seconds_until_write(
        self, snapshot: TenantSnapshot, status: Manifest, progress: list[ResourceProgress]
    ) -> float:
        ref, previous = snapshot.document.ref, self.previous_status(snapshot.document)
        if not count_resources(progress).unfinished:
            self.forget(ref)
            return 0.0
        if not snapshot.document.is_reported and not count_resources(progress).is_degraded:
            return self.throttle_seconds(ref, status)
        if wait := self._seconds_of_repair(snapshot, previous, progress):
            return wait
        if is_urgent(previous, status):
            self._throttle.record(ref, _update(status))
            return 0.0
        return self.throttle_seconds(ref, status)

    def _seconds_of_repair(
        self, snapshot: TenantSnapshot, previous: PreviousStatus, progress: list[ResourceProgress]
    ) -> float:
        """How long the objects that were put back may still take, if nothing else keeps a ready Tenant from it."""
        unfinished = unfinished_ids(progress)
        waiting = [each.ref for each in snapshot.desired if each.id in unfinished]
        repaired_at = snapshot.state.repaired_at
        is_repair = is_true(previous.conditions, READY) and len(waiting) == len(unfinished)
        if not is_repair or count_resources(progress).is_degraded or not repaired_at.keys() >= set(waiting):
            return 0.0
        elapsed = self._monotonic() - min(repaired_at[ref] for ref in waiting)
        if self._unrepaired and REPAIR_SECONDS <= elapsed < MAX_REPAIR_SECONDS:
            return RECHECK_SECONDS
        return max(0.0, REPAIR_SECONDS - elapsed)

    def throttle_seconds(self, ref: Ref, status: Manifest) -> float:
        """How long a status that only reports progress has to wait; 0 means that it is written now, and counts."""
        update = _update(status)
        wait = self._throttle.seconds_to_wait(ref, update)
        if not wait:
            self._throttle.record(ref, update)
        return wait

    def forget(self, ref: Ref) -> None:
        """The Tenant is ready, failed or deleted: no throttled status is left to write."""
        self._throttle.forget(ref)


def _update(status: Manifest) -> StatusUpdate:
    return StatusUpdate(content_hash(status))


def _failed_deletion(result: PruneResult) -> ResourceProgress:
    return ResourceProgress(
        result.applied.key, ResourceState.UNDELETED, result.problem, event_reason=reasons.APPLY_FAILED
    )


def _new_warnings(
    document: TenantDocument, state: TenantState, previous: PreviousStatus, warnings: frozenset[WarningEvent]
) -> Plan:
    emitted = state.warnings
    if emitted is None:
        emitted = warnings_before_start(warnings, previous.conditions)
    state.warnings = warnings
    return warning_events(document.ref, warnings, emitted)


def _desired_records(snapshot: TenantSnapshot) -> list[AppliedObject]:
    records = []
    for each in snapshot.desired:
        known = snapshot.state.records.get(each.ref)
        records.append(known if known is not None and known.id == each.id else each.applied_object())
    return records


def _reported_records(snapshot: TenantSnapshot, progress: list[ResourceProgress]) -> list[AppliedObject]:
    """Of an object that is ready, and was applied in this generation before, as the status has it."""
    reported = {each.id: each for each in snapshot.document.records if snapshot.document.is_reported}
    ready = {each.id for each in progress if each.state is ResourceState.READY}
    return [
        reported[record.id]
        if record.id in ready and is_same_application(record, reported.get(record.id))
        else record
        for record in _desired_records(snapshot)
    ]


def is_same_application(record: AppliedObject, reported: AppliedObject | None) -> bool:
    """Whether both are about the same object name and generation: only the time, or the uid after a deletion, may
    differ."""
    if reported is None or not reported.uid:
        return False
    return msgspec.structs.replace(record, uid=reported.uid, changed_at=reported.changed_at) == reported


def _remaining_records(objects: Iterable[AppliedRef], document: TenantDocument) -> list[AppliedObject]:
    """The records of objects that are being pruned: kept until they are deleted."""
    known = {(each.kind, each.namespace, each.name, each.id): each for each in document.records}
    return [
        known.get(each[1:5])
        or AppliedObject(
            api_version=each.api_version,
            kind=each.kind,
            namespace=each.namespace,
            name=each.name,
            id=each.id,
        )
        for each in objects
    ]
