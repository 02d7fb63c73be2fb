"""Applies one object of a Tenant and returns its progress. An object that fails stops no other.

An object that no cache holds is created by one call that fails if it exists; only then is it read and compared.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from steward.kube.clock import Clock
from steward.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    FieldConflict,
    Forbidden,
    Invalid,
    KubeError,
    NoSuchKind,
    TooManyRequests,
    Unauthorized,
)
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.runtime.plan.executor import WRITES, StepEffect
from steward.runtime.plan.steps import Delete, Emit
from steward.tenants import reasons
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.tenant.apply_context import ApplyContext, may_be_foreign
from steward.tenants.controllers.tenant.conflict_policy import OwnershipConflict
from steward.tenants.controllers.tenant.object_writer import ObjectWriter
from steward.tenants.controllers.tenant.observe import ObjectReader, ObservedObject
from steward.tenants.controllers.tenant.state import ApplyRecord, updated_record
from steward.tenants.labels import CREATED_ONCE
from steward.tenants.metrics import ERROR, SUCCESS, TenantMetrics
from steward.tenants.objects.access import Refusal
from steward.tenants.objects.api_errors import describe_api_error, immutable_fields
from steward.tenants.objects.desired import DesiredObject
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.objects.ownership import (
    duplicate_conflict_message,
    field_conflict_message,
    is_of_namesake,
    may_touch,
)
from steward.tenants.objects.patches import changed_paths
from steward.tenants.objects.permissions import denial_message
from steward.tenants.status.progress import (
    ObservedReadiness,
    ResourceProgress,
    ResourceState,
    resource_progress,
)

log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 5.0
MAX_RETRY_SECONDS: Final = 60.0
SOON: Final = 1.0
_NOT_APPLIED: Final = (reasons.APPLY_FAILED, reasons.PERMISSION_DENIED, reasons.RESOURCE_CONFLICT)


class ObjectApplier:
    """Applies the objects of all Tenants."""

    def __init__(self, reader: ObjectReader, clock: Clock, metrics: TenantMetrics) -> None:
        self.reader = reader
        self._clock = clock
        self._metrics = metrics
        self._writer = ObjectWriter(reader, clock)

    async def apply(self, desired: DesiredObject, context: ApplyContext) -> ResourceProgress:
        blocked = self._precheck(desired, context)
        if blocked is not None:
            return blocked
        try:
            progress = await self._create_or_update(desired, context)
        except OwnershipConflict as conflict:
            progress = _conflicted(desired, str(conflict))
        except Conflict:
            message = "was changed by another client at the same time"
            progress = ResourceProgress(desired.id, ResourceState.WAITING, message, SOON)
        except (ApiError, NoSuchKind) as error:
            if isinstance(error, TooManyRequests | Unauthorized):
                raise
            progress = _failed(desired, error)
        self._count_conflict(desired, context, progress)
        progress = self._with_backoff(progress, context)
        result = ERROR if progress.event_reason in _NOT_APPLIED else SUCCESS
        self._metrics.count_attempt(desired.ref.kind.kind, result, desired.resource.conflict_policy)
        return progress

    def _with_backoff(self, progress: ResourceProgress, context: ApplyContext) -> ResourceProgress:
        """An object that has failed for long is retried less often: a whole fleet of them would load the API server."""
        since = context.state.failing_since
        if not progress.state.has_failed:
            since.pop(progress.id, None)
            return progress
        elapsed = self._clock.monotonic() - since.setdefault(progress.id, self._clock.monotonic())
        return progress._replace(recheck_after=retry_backoff(progress.recheck_after, elapsed))

    def _precheck(self, desired: DesiredObject, context: ApplyContext) -> ResourceProgress | None:
        """The progress of an object that may not be written at all; None if it may."""
        refusal = context.access.refusal(desired)
        if refusal is not None:
            return _refused(desired, context, refusal)
        if desired.ref.kind in context.unserved:
            message = f"{desired.ref}: {context.unserved[desired.ref.kind]}"
            return ResourceProgress(
                desired.id, ResourceState.FAILED, message, RETRY_SECONDS, reasons.APPLY_FAILED
            )
        if desired.id in context.duplicates:
            return _conflicted(
                desired, duplicate_conflict_message(desired.ref, context.duplicates[desired.id])
            )
        if not desired.is_complete:
            return ResourceProgress(
                desired.id, ResourceState.WAITING, "its values are not available yet", SOON
            )
        return None

    def _count_conflict(
        self, desired: DesiredObject, context: ApplyContext, progress: ResourceProgress
    ) -> None:
        """Counts a conflict when it begins, not at every reconcile."""
        conflicted = context.state.conflicted
        if progress.state is not ResourceState.CONFLICTED:
            conflicted.discard(desired.id)
        elif desired.id not in conflicted:
            conflicted.add(desired.id)
            policy = desired.resource.conflict_policy
            self._metrics.count_conflict(context.tenant.key, desired.ref.kind.kind, policy)

    async def _create_or_update(self, desired: DesiredObject, context: ApplyContext) -> ResourceProgress:
        created = await self._create(desired, context)
        return await self._update(desired, context) if created is None else created

    async def _create(self, desired: DesiredObject, context: ApplyContext) -> ResourceProgress | None:
        """None where the object exists, or may exist: then it has to be read first."""
        if self.reader.may_exist(desired.ref) or may_be_foreign(desired, context):
            return None
        try:
            effect = await self._logged(desired, lambda: self._writer.create(desired, context))
        except AlreadyExists:
            return None
        live = self.reader.read_cached(desired.ref)
        if effect not in WRITES or live is None:
            return None
        return await self._progress(desired, context, live, effect)

    async def _update(self, desired: DesiredObject, context: ApplyContext) -> ResourceProgress:
        live = await self.reader.read(desired.ref)
        if (
            live is not None
            and live.meta.deletion_timestamp is not None
            and may_touch(live.meta, context.owner)
        ):
            return ResourceProgress(
                desired.id, ResourceState.WAITING, "is being deleted, and is created again afterwards", SOON
            )
        if live is not None and is_of_namesake(live.meta, context.owner):
            await self._require_tenant(context)
        await self._writer.prepare_takeover(desired, context, live)
        if live is not None and desired.is_created_once and is_created_once(live.meta, context.owner):
            return await self._progress(desired, context, live, StepEffect.UNCHANGED)
        try:
            effect = await self._logged(desired, lambda: self._writer.write(desired, context, live))
        except Invalid as error:
            if live is None or not immutable_fields(error) or not desired.may_be_recreated:
                raise
            return await self._recreate(desired, context, live, error)
        await self._writer.report_takeover(desired, context, live)
        written = self.reader.read_cached(desired.ref) or await self.reader.read(desired.ref)
        if written is None:
            return ResourceProgress(
                desired.id, ResourceState.WAITING, "was deleted right after it was applied", SOON
            )
        return await self._progress(desired, context, written, effect)

    async def _require_tenant(self, context: ApplyContext) -> None:
        """Raises a Conflict where the API server has another Tenant of this name than the cache: it was restored from a
        backup. With the owner that the cache has, the garbage collector would delete the object."""
        tenant = await self.reader.read_manifest(context.tenant)
        if tenant is None or tenant["metadata"]["uid"] != context.owner.uid:
            raise Conflict(409, "Conflict", f"{context.tenant} is another one than the cached one", {})

    async def _progress(
        self, desired: DesiredObject, context: ApplyContext, live: ObservedObject, effect: StepEffect
    ) -> ResourceProgress:
        """Records the apply and derives the progress from the object's readiness."""
        now = to_timestamp(self._clock.now())
        done = ApplyRecord(live.meta.uid, effect in WRITES, context.generation, now)
        record = updated_record(desired.applied_object(), context.state.records.get(desired.ref), done)
        context.state.records[desired.ref] = record
        context.state.note_applied(desired.ref, context.generation, effect, self._clock.monotonic())
        readiness = await self.reader.resource_readiness(desired.resource, desired.ref, live)
        changed_at = done.now if record.changed_at is UNSET else record.changed_at
        progress = resource_progress(
            desired.resource, ObservedReadiness(readiness, changed_at, self._clock.now())
        )
        return self._with_polling(desired, progress)

    def _with_polling(self, desired: DesiredObject, progress: ResourceProgress) -> ResourceProgress:
        """`readyWhen` reads fields that no cache holds: an object that is not watched is polled."""
        if not desired.resource.has_readiness_rule or self.reader.is_watched(desired.ref.kind):
            return progress
        after = progress.recheck_after
        return progress._replace(recheck_after=min(RETRY_SECONDS, after or RETRY_SECONDS))

    async def _logged(self, desired: DesiredObject, write: Callable[[], Awaitable[StepEffect]]) -> StepEffect:
        """At debug level, logs which fields a write changed: their paths, never their values."""
        if not log.isEnabledFor(logging.DEBUG):
            return await write()
        before = await self.reader.read_manifest(desired.ref)
        effect = await write()
        if effect in WRITES:
            paths = changed_paths(before, await self.reader.read_manifest(desired.ref))
            log.debug("applied %s", desired.ref, extra={"effect": effect.value, "changed": paths})
        return effect

    async def _recreate(
        self, desired: DesiredObject, context: ApplyContext, live: ObservedObject, error: Invalid
    ) -> ResourceProgress:
        fields = ", ".join(immutable_fields(error))
        message = f"{desired.ref} is recreated: {fields} cannot be changed on an existing object"
        await context.write(Delete(desired.ref, live.meta.uid, message))
        context.state.settled_generation = 0
        await context.write(Emit(context.tenant, reasons.RESOURCE_RECREATED, message))
        return ResourceProgress(desired.id, ResourceState.WAITING, message, SOON)


def retry_backoff(seconds: float | None, elapsed: float) -> float | None:
    """Seconds until the next try of an object that has failed for `elapsed` seconds."""
    if seconds is None:
        return None
    return max(seconds, min(elapsed / 4, MAX_RETRY_SECONDS))


def is_created_once(meta: ObjectMeta, owner: TenantOwner) -> bool:
    """Whether it was created once for this Tenant. One that was created for another Tenant has to be taken over first,
    and only the API server knows whether that is possible."""
    return meta.annotations.get(CREATED_ONCE) == "true" and may_touch(meta, owner)


def _refused(desired: DesiredObject, context: ApplyContext, refusal: Refusal) -> ResourceProgress:
    """Without a retry: a change of what it depends on wakes the Tenant."""
    if refusal.is_pending:
        return ResourceProgress(desired.id, ResourceState.WAITING, refusal.message)
    record = context.state.records.get(desired.ref)
    is_applied = record is not None and bool(record.uid)
    kept = ". It was applied before and stays as it is" if is_applied else ""
    return ResourceProgress(
        desired.id, ResourceState.DENIED, refusal.message + kept, event_reason=reasons.PERMISSION_DENIED
    )


def _conflicted(desired: DesiredObject, message: str) -> ResourceProgress:
    return ResourceProgress(
        desired.id, ResourceState.CONFLICTED, message, RETRY_SECONDS, reasons.RESOURCE_CONFLICT
    )


def _failed(desired: DesiredObject, error: KubeError) -> ResourceProgress:
    if isinstance(error, FieldConflict):
        return _conflicted(desired, field_conflict_message(desired.ref, error))
    if isinstance(error, Forbidden) and error.user:
        message = denial_message(desired.ref, error)
        return ResourceProgress(
            desired.id, ResourceState.DENIED, message, RETRY_SECONDS, reasons.PERMISSION_DENIED
        )
    message = describe_api_error(desired.ref, error)
    return ResourceProgress(desired.id, ResourceState.FAILED, message, RETRY_SECONDS, reasons.APPLY_FAILED)
