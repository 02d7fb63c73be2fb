"""Deletes a Tenant: its objects in the reverse order of their dependencies, then its finalizer.

Objects that no other depends on are deleted first, and a level is only started when the one before it is deleted. The
finalizer stays until the last object is: the status names objects that cannot be deleted, and nothing is left behind in
another namespace. The annotation `kubernetes-tenants.org/force-delete` is the way out: every deletion is tried once,
and the finalizer is removed.
"""

from collections.abc import Collection
from typing import Final, NamedTuple, NoReturn

from steward.kube.errors import KubeError
from steward.kube.objects.conditions import READY, find_condition
from steward.kube.objects.kinds import Key
from steward.runtime.plan.executor import PlanExecutor
from steward.runtime.plan.finalizers import remove_finalizer
from steward.runtime.plan.steps import Emit, EventType, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.tenants import reasons
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.tenant.prune import PruneContext, Pruner, PruneResult
from steward.tenants.controllers.tenant.report import TenantReporter
from steward.tenants.labels import FORCE_DELETE, TENANT_DELETED, TENANT_FINALIZER
from steward.tenants.objects.dependencies import deletion_levels, dependency_edges
from steward.tenants.objects.desired import ObjectScope, desired_objects, resources_of, shape_problem
from steward.tenants.objects.orphans import AppliedRef, applied_ref
from steward.tenants.status.tenant import TenantProblem, deletion_status, problem_status

WAIT_SECONDS: Final = 1.0
DENIED_RETRY_SECONDS: Final = 30.0
"""A change of the object triggers the next attempt earlier."""
_DELETION_REASONS: Final = (
    reasons.TENANT_DELETING,
    reasons.TENANT_DELETION_DENIED,
    reasons.TENANT_DELETION_FAILED,
)


class DeletionFailed(KubeError):
    """Some objects could not be deleted; the queue retries with backoff."""


class DeletionProgress(NamedTuple):
    """The objects of a Tenant that are not deleted yet, and why some cannot be."""

    remaining: tuple[AppliedRef, ...] = ()
    problems: tuple[str, ...] = ()
    is_denied: bool = False
    """Admission denies the deletion of all of these: no failure, an object is protected."""

    @property
    def is_complete(self) -> bool:
        return not self.remaining

    @property
    def message(self) -> str:
        if self.problems:
            shown = "; ".join(self.problems[:3])
            return (
                f'{shown}. Fix this, or set the annotation {FORCE_DELETE}: "true" to leave the object behind'
            )
        names = ", ".join(f"{each.kind} {Key(each.namespace, each.name)}" for each in self.remaining[:3])
        return f"waits until {names} is deleted"


class TenantDeletion:
    def __init__(self, reporter: TenantReporter, pruner: Pruner) -> None:
        self._reporter = reporter
        self._executor = reporter.executor
        self._pruner = pruner

    async def reconcile(
        self, document: TenantDocument, executor: PlanExecutor, refused: Collection[str] = ()
    ) -> Result:
        """`executor` has the Tenant's permissions and deletes its objects; events and status are the operator's own.
        `refused`: ids of resources that the Tenant may not write."""
        if not document.has_finalizer:
            return DONE
        if not self._is_reported(document):
            deleting = Emit(document.ref, reasons.TENANT_DELETING, "its objects are being deleted")
            await self._executor.execute((deleting,), document.ref)
        context = PruneContext(document.ref, document.owner, executor, TENANT_DELETED)
        progress = await delete_objects(self._pruner, document, context, refused)
        if not progress.is_complete:
            return await self._report_progress(document, progress)
        message = "its objects are deleted, or retained as their deletionPolicy says"
        deleted = Emit(document.ref, reasons.TENANT_DELETED, message)
        plan = (deleted, *remove_finalizer(document.ref, document.metadata, TENANT_FINALIZER))
        await self._executor.execute(plan, document.ref)
        return DONE

    def _is_reported(self, document: TenantDocument) -> bool:
        """Whether the status reports the deletion already: then the event was emitted before."""
        return self._reported_reason(document) in _DELETION_REASONS

    def _reported_reason(self, document: TenantDocument) -> str:
        ready = find_condition(self._reporter.previous_status(document).conditions, READY)
        return "" if ready is None else ready.reason

    async def _report_progress(self, document: TenantDocument, progress: DeletionProgress) -> Result:
        """The start of the deletion and failures are reported at once, the objects that remain only after a while."""
        if progress.is_denied:
            return await self._wait_for_permission(document, progress.message)
        if progress.problems:
            await self._fail(document, progress.message)
        status = deletion_status(self._reporter.previous_status(document), progress.message)
        is_reported = self._is_reported(document)
        if not is_reported or not self._reporter.throttle_seconds(document.ref, status):
            await self._executor.execute((Status(document.ref, status),), document.ref)
        return RequeueAfter(WAIT_SECONDS)

    async def _wait_for_permission(self, document: TenantDocument, message: str) -> Result:
        reason = reasons.TENANT_DELETION_DENIED
        is_new = self._reported_reason(document) != reason
        denied = (Emit(document.ref, reason, message, EventType.WARNING),) * is_new
        status = deletion_status(self._reporter.previous_status(document), message, reason)
        await self._executor.execute((*denied, Status(document.ref, status)), document.ref)
        return RequeueAfter(DENIED_RETRY_SECONDS)

    async def _fail(self, document: TenantDocument, message: str) -> NoReturn:
        failed = Emit(document.ref, reasons.TENANT_DELETION_FAILED, message, EventType.WARNING)
        problem = TenantProblem(reasons.TENANT_DELETION_FAILED, message)
        status = Status(document.ref, problem_status(self._reporter.previous_status(document), problem))
        await self._executor.execute((failed, status), document.ref)
        raise DeletionFailed(message)


async def delete_objects(
    pruner: Pruner, document: TenantDocument, context: PruneContext, refused: Collection[str] = ()
) -> DeletionProgress:
    """Deletes level by level, and stops at the first that is not deleted yet unless the deletion is forced."""
    for level in levels_to_delete(document, refused):
        results = await pruner.prune(level, context)
        remaining = [each for each in results if is_remaining(each, document)]
        if remaining and not is_forced(document):
            return deletion_progress(remaining)
    return DeletionProgress()


def deletion_progress(remaining: list[PruneResult]) -> DeletionProgress:
    problems = [each for each in remaining if each.problem]
    return DeletionProgress(
        tuple(each.applied for each in remaining),
        tuple(each.problem for each in problems),
        bool(problems) and all(each.is_denied for each in problems),
    )


def is_forced(document: TenantDocument) -> bool:
    return document.metadata.annotations.get(FORCE_DELETE, "").lower() == "true"


def levels_to_delete(document: TenantDocument, refused: Collection[str] = ()) -> list[list[AppliedRef]]:
    """All objects that are recorded or in the spec, in the order in which they are deleted. A refused object that is
    not recorded was never applied: one of that name belongs to others, whatever its labels say."""
    by_id: dict[str, list[AppliedRef]] = {}
    unrecorded = (each for each in _objects_in_spec(document) if each.id not in refused)
    for applied in (*document.recorded_objects, *unrecorded):
        same = by_id.setdefault(applied.id, [])
        if not any(applied.is_same_object(other) for other in same):
            same.append(applied)
    levels = deletion_levels(dependency_edges(resources_of(document.spec)))
    in_levels = {id for level in levels for id in level}
    # No resource of the template depends on an object that is no longer in it.
    removed = [applied for id, objects in by_id.items() if id not in in_levels for applied in objects]
    return [removed, *([applied for id in level for applied in by_id.get(id, ())] for level in levels)]


def _objects_in_spec(document: TenantDocument) -> list[AppliedRef]:
    """The Go operator may have lost its records. A spec that is not rendered, or cannot be read, names no objects."""
    resources = resources_of(document.spec)
    if document.spec.template_generation is UNSET or shape_problem(resources):
        return []
    scope = ObjectScope(document.owner, (), None)
    return [each.applied_ref for each in desired_objects(resources, scope)]


def is_remaining(result: PruneResult, document: TenantDocument) -> bool:
    """An object that the operator may not read was never applied by it, since it reads first: a ClusterRole that was
    denied must not block its Tenant for ever. Unless its uid is recorded, or the Go operator has recorded it."""
    if not result.is_hidden:
        return not result.is_gone
    uids = [record.uid for record in document.records if result.applied.is_same_object(applied_ref(record))]
    if uids:
        return any(uids)
    return any(result.applied.is_same_object(each) for each in document.recorded_objects)
