"""The patch strategies `merge` and `replace`: create the object if it does not exist, patch it if that changes
anything.

A dry run shows what a patch would change. A patch that changes nothing is remembered for the object's version, so an
unchanged object costs no request.
"""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import msgspec

from steward.kube.bounded_cache import LruCache
from steward.kube.client.client import Client
from steward.kube.errors import Invalid
from steward.kube.objects.kinds import Manifest
from steward.kube.objects.patches import Patch as AnyPatch
from steward.runtime.plan.executor import StepEffect
from steward.runtime.plan.steps import Create, Patch, Step
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.tenant.conflict_policy import FieldOwners
from steward.tenants.controllers.tenant.observe import ObjectReader, ObservedObject
from steward.tenants.objects.api_errors import immutable_fields
from steward.tenants.objects.desired import DesiredObject
from steward.tenants.objects.ignore_fields import ignored_paths, with_live_fields, without_fields
from steward.tenants.objects.patches import (
    is_unchanged,
    json_merge_patch,
    merge_patch,
    merged_with_live,
    replace_patch,
)

NO_OPS_CACHED: Final = 20_000

_ObjectVersion = tuple[str, str, bytes]
"""Uid and resourceVersion of the object, and the encoded manifest."""


class PatchAccess(NamedTuple):
    """The clients with the Tenant's permissions, and the conflict rules."""

    client: Client
    write: Callable[[Step], Awaitable[StepEffect]]
    require_restorable: Callable[[Manifest, Manifest], FieldOwners]
    """Given the live object and what the patch makes of it: who owns the changed fields. Raises where a manager sets
    them again and again."""
    note_restored: Callable[[FieldOwners], None]
    """Called once the patch is written."""


class ObjectPatcher:
    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._no_ops: LruCache[_ObjectVersion, bool] = LruCache(NO_OPS_CACHED)

    async def patch(
        self, desired: DesiredObject, live: ObservedObject | None, access: PatchAccess
    ) -> StepEffect:
        if live is None:
            return await access.write(Create(desired.manifest))
        encoded = msgspec.json.encode(desired.manifest, order="deterministic")
        if self._no_ops.get((live.meta.uid, live.meta.resource_version, encoded)):
            return StepEffect.UNCHANGED
        manifest = await self._reader.read_manifest(desired.ref)
        if manifest is None:
            return await access.write(Create(desired.manifest))
        patch, patched = await _accepted_patch(desired, manifest, access.client)
        if not is_unchanged(manifest, patched):
            owners = access.require_restorable(manifest, patched)
            effect = await access.write(Patch(desired.ref, patch))
            access.note_restored(owners)
            return effect
        meta = manifest["metadata"]
        self._no_ops.set((meta["uid"], meta["resourceVersion"], encoded), True)
        return StepEffect.UNCHANGED


async def _accepted_patch(
    desired: DesiredObject, live: Manifest, client: Client
) -> tuple[AnyPatch, Manifest]:
    """A patch that the API server accepts, and the object that it makes."""
    manifest = _with_ignored_fields(desired, live)
    preferred = _preferred_patch(desired, manifest, live)
    try:
        return preferred, await _dry_run(desired, preferred, client)
    except Invalid as error:
        fallback = _fallback_patch(desired, manifest, live, error)
        if fallback is None:
            raise
        try:
            return fallback, await _dry_run(desired, fallback, client)
        except Invalid:
            raise error from None


async def _dry_run(desired: DesiredObject, patch: AnyPatch, client: Client) -> Manifest:
    patched: Manifest = msgspec.json.decode(await client.patch(desired.ref, patch, dry_run=True))
    return patched


def _with_ignored_fields(desired: DesiredObject, live: Manifest) -> Manifest:
    """A merge leaves ignored fields out; a replacement has their live values."""
    expressions = desired.resource.ignore_fields
    if expressions is UNSET or not expressions:
        return desired.manifest
    if desired.resource.patch_strategy == "merge":
        return without_fields(desired.manifest, ignored_paths(desired.manifest, expressions))
    return with_live_fields(desired.manifest, live, expressions)


def _preferred_patch(desired: DesiredObject, manifest: Manifest, live: Manifest) -> AnyPatch:
    is_merge = desired.resource.patch_strategy == "merge"
    return merge_patch(manifest, live) if is_merge else replace_patch(manifest, live)


def _fallback_patch(
    desired: DesiredObject, manifest: Manifest, live: Manifest, error: Invalid
) -> AnyPatch | None:
    """For a merge, one that sets lists as a whole; for a replacement, one that keeps immutable fields."""
    if desired.resource.patch_strategy == "merge":
        return json_merge_patch(manifest, live)
    if not immutable_fields(error):
        return None
    return replace_patch(merged_with_live(manifest, live), live)
