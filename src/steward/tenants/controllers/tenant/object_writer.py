"""Writes one object by its patch strategy, and handles conflicts with other managers.

An apply is first sent without force, so the API server reports which fields other managers own. A field that the
operator applied before is taken back; a field that another manager owned before the operator ever applied it stays with
that manager, and is a conflict unless conflictPolicy is Force. Where the cache shows that others took fields that were
applied before, the answer is known, and the apply is sent with force at once. Where it shows that others changed the
merge key of a list item, one patch restores the key, and the apply that owns it again follows at the next reconcile:
until then hundreds of other repairs precede it.
"""

import logging
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from steward.kube.apply.repair import repair_manager
from steward.kube.apply.repair_patches import restore_key_operations
from steward.kube.clock import Clock
from steward.kube.errors import Conflict, FieldConflict, Invalid, NotFound
from steward.kube.managed_fields.field_losses import ChangedKeys, taken_fields
from steward.kube.objects.kinds import SECRET, Manifest, ref_of
from steward.kube.objects.meta import Metadata
from steward.kube.objects.patches import JsonPatch, MergePatch
from steward.runtime.plan.executor import WRITES, StepEffect
from steward.runtime.plan.steps import Apply, Create, Patch
from steward.tenants.api.resource import GeneratedValue
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.tenant.apply_context import ApplyContext, was_applied
from steward.tenants.controllers.tenant.conflict_policy import (
    ConflictPolicy,
    FieldOwners,
    OwnershipConflict,
)
from steward.tenants.controllers.tenant.ignore_fields import IgnoredFieldSeeder, apply_entry
from steward.tenants.controllers.tenant.merge_replace import ObjectPatcher, PatchAccess
from steward.tenants.controllers.tenant.observe import ObjectReader, ObservedObject
from steward.tenants.labels import FIELD_MANAGER
from steward.tenants.objects.desired import DesiredObject, tracking_labels
from steward.tenants.objects.ignore_fields import ignored_paths, without_fields
from steward.tenants.objects.orphans import adoption_patch
from steward.tenants.objects.ownership import (
    field_managers,
    fields_taken_message,
    foreign_managers,
    is_orphan,
    may_touch,
    release_patch,
    without_our_managers,
)
from steward.tenants.objects.patches import changed_paths
from steward.tenants.rendering.generated_values import generated_values, keep_live_values

log = logging.getLogger(__name__)


class ObjectWriter:
    def __init__(self, reader: ObjectReader, clock: Clock) -> None:
        self._reader = reader
        self._policy = ConflictPolicy(clock)
        self._patcher = ObjectPatcher(reader)

    async def create(self, desired: DesiredObject, context: ApplyContext) -> StepEffect:
        """Never changes an object that exists: an apply raises AlreadyExists, a create returns UNCHANGED."""
        if desired.resource.patch_strategy != "apply":
            return await context.write(Create(desired.manifest))
        return await context.write(Apply(desired.manifest, force=False, only_if_absent=True))

    async def prepare_takeover(
        self, desired: DesiredObject, context: ApplyContext, live: ObservedObject | None
    ) -> None:
        """Raises for a foreign object unless conflictPolicy is Force and the Tenant may have it; removes the orphan
        labels of an orphan, and LynqNodes as its owners."""
        if live is None:
            return
        await self._require_takeover(desired, context, live)
        released = release_patch(live.meta)
        if released is not None:
            await context.write(Patch(desired.ref, MergePatch(released)))
        adoption = adoption_patch(live.meta)
        if adoption is not None and is_orphan(live.meta):
            adoption["metadata"].setdefault("labels", {}).update(tracking_labels(context.owner))
            await context.write(Patch(desired.ref, MergePatch(adoption)))

    async def _require_takeover(
        self, desired: DesiredObject, context: ApplyContext, live: ObservedObject
    ) -> None:
        access = context.access
        if not access.needs_takeover(desired.ref, live.meta):
            return
        if problem := access.identity_problem(desired.ref, live.meta):
            raise OwnershipConflict(problem)
        if not may_touch(live.meta, context.owner):
            await self._require_read_access(desired, context)
            self._policy.require_object(desired, live, context.owner.namespace)
        manifest = await self._reader.read_manifest(desired.ref)
        if manifest is not None and (problem := access.content_problem(desired.ref, manifest)):
            raise OwnershipConflict(problem)

    async def _require_read_access(self, desired: DesiredObject, context: ApplyContext) -> None:
        """Raises Forbidden if the service account may not read the object. The operator has found it with rights of
        its own: without this, the conflict would tell the author of a template which objects exist elsewhere."""
        if context.access.scope.service_account:
            with suppress(NotFound):
                await context.client.get(desired.ref.kind, desired.ref.key, Metadata)

    async def report_takeover(
        self, desired: DesiredObject, context: ApplyContext, live: ObservedObject | None
    ) -> None:
        """Once it is written: the object was foreign before."""
        if live is None or may_touch(live.meta, context.owner):
            return
        self._policy.note_object_taken(desired, live)
        await context.warn_of_force(f"{desired.ref} was taken over, by conflictPolicy: Force")

    async def write(
        self, desired: DesiredObject, context: ApplyContext, live: ObservedObject | None
    ) -> StepEffect:
        if live is not None and generated_values(desired.resource):
            desired = await self._keep_generated_values(desired)
        if desired.resource.patch_strategy != "apply":
            return await self._patch(desired, context, live)
        expressions = desired.resource.ignore_fields
        places = () if expressions is UNSET else ignored_paths(desired.manifest, expressions)
        if not places or desired.is_created_once:
            return await self._apply(desired.manifest, desired, context, live)
        seeder = IgnoredFieldSeeder(self._reader, context.write)
        seeded = await seeder.seed(desired.manifest, places)
        applied = await self._apply(without_fields(desired.manifest, places), desired, context, live)
        await seeder.release(desired.manifest, places)
        return seeded if seeded in WRITES else applied

    async def _keep_generated_values(self, desired: DesiredObject) -> DesiredObject:
        """With the generated values of the live Secret: whatever is in use is never replaced by the operator."""
        live = await self._reader.read_manifest(desired.ref)
        if live is None or desired.ref.kind != SECRET:
            return desired
        values = generated_values(desired.resource)
        taken = _taken_keys(live, values) if desired.resource.patch_strategy == "apply" else ()
        manifest = keep_live_values(desired.manifest, values, live, taken)
        return desired._replace(manifest=manifest, live_version=live["metadata"]["resourceVersion"])

    async def _patch(
        self, desired: DesiredObject, context: ApplyContext, live: ObservedObject | None
    ) -> StepEffect:
        def require_restorable(before: Manifest, after: Manifest) -> FieldOwners:
            paths = changed_paths(before, after)
            owners = field_managers(before, paths) if was_applied(desired, context) else ()
            return self._policy.require_restorable(desired.ref, owners)

        def note_restored(owners: FieldOwners) -> None:
            self._policy.note_fields_restored(desired.ref, owners)

        access = PatchAccess(context.client, context.write, require_restorable, note_restored)
        return await self._patcher.patch(desired, live, access)

    async def _apply(
        self, manifest: Manifest, desired: DesiredObject, context: ApplyContext, live: ObservedObject | None
    ) -> StepEffect:
        if was_applied(desired, context):
            changed = self._reader.changed_keys(desired.ref)
            if changed is not None and await self._restore_keys(manifest, changed, context):
                return StepEffect.REQUEUED  # the watch event of the patch wakes the Tenant
            taken = taken_fields(self._reader.lost_fields(desired.ref), manifest)
            if taken:
                forced_apply = Apply(manifest, resource_version=desired.live_version)
                return await self._take_back(forced_apply, taken, context)
        forced: FieldOwners = ()
        try:
            return await context.write(Apply(manifest, force=False, resource_version=desired.live_version))
        except FieldConflict as error:
            forced = self._fields_to_take(desired, context, error)
        except Invalid:
            if not was_applied(desired, context):
                raise
        # Only a forced apply is repaired when fields that other managers left make the API server reject it.
        effect = await context.write(Apply(manifest, force=True, resource_version=desired.live_version))
        log.debug("took back fields of %s", desired.ref)
        if forced and live is not None and may_touch(live.meta, context.owner):
            await context.warn_of_force(fields_taken_message(desired.ref, forced))
        return effect

    async def _restore_keys(self, manifest: Manifest, changed: ChangedKeys, context: ApplyContext) -> bool:
        """Whether list items got the merge keys of the manifest back. Not if the object has changed since it was seen:
        the API server then says what to repair."""
        ref, live = ref_of(manifest), msgspec.json.decode(changed.body)
        operations = restore_key_operations(manifest, live, changed.names)
        if not operations:
            return False
        owners = self._policy.require_restorable(ref, without_our_managers(changed.managers))
        patch = JsonPatch.at_version(live["metadata"]["resourceVersion"], operations)
        try:
            await context.write(Patch(ref, patch, manager=repair_manager(FIELD_MANAGER)))
        except (Conflict, Invalid):
            return False
        self._policy.note_fields_restored(ref, owners)
        return True

    async def _take_back(self, apply: Apply, taken: FieldOwners, context: ApplyContext) -> StepEffect:
        """With force at once: the cache shows what the API server's conflict would."""
        owners = self._policy.require_restorable(apply.ref, without_our_managers(taken))
        effect = await context.write(apply)
        if effect in WRITES:
            self._policy.note_fields_restored(apply.ref, owners)
        return effect

    def _fields_to_take(
        self, desired: DesiredObject, context: ApplyContext, error: FieldConflict
    ) -> FieldOwners:
        """Raises unless the fields may be taken; returns those that only conflictPolicy: Force allows to take."""
        if not was_applied(desired, context):
            return self._policy.require_fields(desired, error)
        self._policy.note_fields_taken(desired.ref, foreign_managers(error))
        return ()


def _taken_keys(live: Manifest, values: Iterable[GeneratedValue]) -> frozenset[str]:
    """The generated keys that other managers own: applying them too would be a write that changes nothing."""
    owned = (apply_entry(live, FIELD_MANAGER) or {}).get("f:data") or {}
    return frozenset(value.key for value in values if f"f:{value.key}" not in owned)
