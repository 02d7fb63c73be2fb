"""Deletes or orphans objects that are no longer desired, as the deletion policy recorded on each of them says.

An object that cannot be deleted is reported by name and stays recorded, so the next reconcile tries again. Foreign
objects, by their labels and owner references, are never touched.
"""

from collections.abc import Iterable
from typing import NamedTuple

from steward.kube.client.client import Client
from steward.kube.clock import Clock
from steward.kube.errors import ApiError, Conflict, Forbidden, NoSuchKind, TransportError
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.kube.objects.patches import MergePatch
from steward.runtime.plan.executor import PlanExecutor
from steward.runtime.plan.steps import Delete, Emit, Patch, Plan, Step
from steward.tenants import reasons
from steward.tenants.controllers.common.concurrency import gather_all
from steward.tenants.controllers.tenant.observe import ObjectReader, ObservedObject
from steward.tenants.labels import REMOVED_FROM_TEMPLATE
from steward.tenants.names import is_path_segment
from steward.tenants.objects.api_errors import describe_api_error, is_denied_by_admission
from steward.tenants.objects.orphans import (
    AppliedRef,
    OrphanAction,
    TenantOwner,
    is_owned,
    orphan_action,
    orphan_patch,
)


class PruneContext(NamedTuple):
    """Why objects are pruned, and on behalf of which Tenant."""

    tenant: Ref
    owner: TenantOwner
    executor: PlanExecutor
    reason: str


class PruneResult(NamedTuple):
    """What became of one object."""

    applied: AppliedRef
    is_gone: bool
    """Deleted, orphaned, or foreign."""
    problem: str = ""
    is_hidden: bool = False
    """The operator has no permission to read it."""
    is_denied: bool = False
    """An admission webhook or policy denies its deletion."""


class Pruner:
    def __init__(self, client: Client, reader: ObjectReader, clock: Clock) -> None:
        self._client = client
        self._reader = reader
        self._clock = clock

    async def prune(self, objects: Iterable[AppliedRef], context: PruneContext) -> list[PruneResult]:
        """Concurrently: the objects do not depend on each other."""
        return await gather_all(self._prune(applied, context) for applied in objects)

    async def _prune(self, applied: AppliedRef, context: PruneContext) -> PruneResult:
        if not (is_path_segment(applied.name) and is_path_segment(applied.namespace)):
            return PruneResult(applied, is_gone=True)  # it was never created
        kinds = await self._possible_kinds(applied)
        if len(kinds) > 1:
            versions = " or ".join(sorted(kind.api_version for kind in kinds))
            problem = (
                f"{applied.key}: its apiVersion is not recorded and may be {versions}. "
                "Delete the object by hand, and the Tenant with force-delete"
            )
            return PruneResult(applied, is_gone=False, problem=problem)
        if not kinds:
            return PruneResult(applied, is_gone=True)
        return await self._prune_kind(applied, kinds[0], context)

    async def _prune_kind(self, applied: AppliedRef, kind: Kind, context: PruneContext) -> PruneResult:
        ref = Ref(kind, Key(applied.namespace, applied.name))
        try:
            is_namespaced = (await self._client.discovery.resource(kind)).namespaced
            ref = ref if is_namespaced else Ref(kind, Key("", applied.name))
            return await self._delete_or_orphan(applied, ref, context)
        except NoSuchKind:
            return PruneResult(applied, is_gone=True)  # the objects are deleted with their kind
        except Conflict:
            return PruneResult(applied, is_gone=False)  # it changed since it was read: try again
        except (ApiError, TransportError) as error:
            problem = describe_api_error(ref, error)
            return PruneResult(
                applied, is_gone=False, problem=problem, is_denied=is_denied_by_admission(error)
            )

    async def _delete_or_orphan(self, applied: AppliedRef, ref: Ref, context: PruneContext) -> PruneResult:
        try:
            live = await self._reader.read(ref)
        except Forbidden as error:
            return PruneResult(applied, is_gone=False, problem=describe_api_error(ref, error), is_hidden=True)
        if live is None or not is_owned(live.meta, context.owner):
            return PruneResult(applied, is_gone=True)
        action = orphan_action(live.meta, context.owner)
        if action is OrphanAction.IGNORE:
            return PruneResult(applied, is_gone=False)  # it is terminating already
        plan = (self._step(action, ref, live, context), *_events(action, ref, context))
        await context.executor.execute(plan, context.tenant)
        is_gone = action is OrphanAction.RETAIN or await self._reader.read(ref) is None
        return PruneResult(applied, is_gone=is_gone)

    def _step(self, action: OrphanAction, ref: Ref, live: ObservedObject, context: PruneContext) -> Step:
        if action is OrphanAction.DELETE:
            return Delete(ref, live.meta.uid, context.reason)
        marks = orphan_patch(live.meta, context.owner, context.reason, self._clock.now())
        return Patch(ref, MergePatch(marks))

    async def _possible_kinds(self, applied: AppliedRef) -> tuple[Kind, ...]:
        """The Go operator recorded no apiVersion: discovery lists the kinds of that name."""
        if applied.api_version:
            return (Kind(applied.api_version, applied.kind),)
        return await self._client.discovery.kinds_named(applied.kind)


def _events(action: OrphanAction, ref: Ref, context: PruneContext) -> Plan:
    """When the Tenant is deleted one event of its own covers its deleted objects; all other cases are one event
    each."""
    is_orphan = context.reason == REMOVED_FROM_TEMPLATE
    if action is OrphanAction.RETAIN:
        reason = reasons.ORPHAN_RETAINED if is_orphan else reasons.RESOURCE_RETAINED
        return (Emit(context.tenant, reason, f"{ref} is retained and marked as orphaned: {context.reason}"),)
    return (Emit(context.tenant, reasons.ORPHAN_DELETED, f"{ref} was deleted: {context.reason}"),) * is_orphan
