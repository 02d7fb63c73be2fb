"""Dry runs of the objects of Tenants that a sync would create, change or delete."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

import msgspec

from steward.cli.lint.template_checks import object_problems
from steward.cli.preview.secret_masking import mask_message
from steward.cli.preview.tenant_objects import (
    Conflicting,
    is_payload,
    is_tenant,
    object_step,
    objects_of_deleted,
    orphan_ref,
    tenant_document,
    tenant_outlines,
    tenant_problem,
)
from steward.cli.preview.text import PreviewEntry, manifest_diff, preview_entry
from steward.kube.client.client import Client
from steward.kube.errors import ApiError, FieldConflict, Invalid, NoSuchKind, NotFound
from steward.kube.objects.kinds import NAMESPACE, Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.dry_run import DryRunExecutor, DryRunOutcome, DryRunResult
from steward.runtime.plan.steps import Apply, Create, Delete, Patch, step_target
from steward.tenants.api.resource import TResource
from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.common.document_cache import DocumentCache
from steward.tenants.labels import FIELD_MANAGER
from steward.tenants.objects.api_errors import describe_api_error, immutable_fields
from steward.tenants.objects.desired import (
    DesiredObject,
    ObjectScope,
    desired_objects,
    kinds_of,
    resources_of,
)
from steward.tenants.objects.orphans import AppliedRef, OrphanAction, find_orphans, is_owned, orphan_action

_CONCURRENT_TENANTS: Final = 8
_RETAINED: Final = "is retained and marked as orphaned"
_NOT_DESIRED: Final = "the template no longer makes it"
_STAND_IN: Final = "steward-preview"
_TYPED_PATCH: Final = "failed to create typed patch object"
"""How the API server begins when a field of an applied object is unknown or has the wrong type."""


class TenantDryRun:
    def __init__(self, client: Client, documents: DocumentCache) -> None:
        self._client = client
        self._documents = documents
        self._executor = DryRunExecutor(client, FIELD_MANAGER)

    async def entries(self, results: Iterable[DryRunResult]) -> list[PreviewEntry]:
        """The effects of a sync: each Tenant, and its objects."""
        listed = list(results)
        tenants = frozenset(ref.key for each in listed if (ref := step_target(each.step)) and is_tenant(ref))
        shown = [each for each in listed if not is_payload(step_target(each.step), tenants)]
        slots = asyncio.Semaphore(_CONCURRENT_TENANTS)
        found = await asyncio.gather(*(self._limited(slots, each) for each in shown))
        return [entry for entries in found for entry in entries]

    async def _limited(self, slots: asyncio.Semaphore, result: DryRunResult) -> list[PreviewEntry]:
        async with slots:
            return await self._result_entries(result)

    async def _result_entries(self, result: DryRunResult) -> list[PreviewEntry]:
        step = result.step
        if isinstance(step, Apply) and is_tenant(step.ref):
            return await self._tenant_entries(step.manifest, result)
        if isinstance(step, Delete) and is_tenant(step.ref) and result.before is not None:
            return [*preview_entry(result), *_deleted_entries(step.ref, result.before)]
        return preview_entry(result)

    async def _tenant_entries(self, manifest: Manifest, result: DryRunResult) -> list[PreviewEntry]:
        document = tenant_document(manifest, await self._read(ref_of(manifest)))
        if problem := tenant_problem(document):
            return [PreviewEntry(DryRunOutcome.REJECTED, document.ref, message=problem)]
        if result.outcome not in (DryRunOutcome.CREATE, DryRunOutcome.CHANGE):
            return preview_entry(result)
        return [*_outline_entries(document.ref, result), *await self._object_entries(document)]

    async def _object_entries(self, document: TenantDocument) -> list[PreviewEntry]:
        resources = resources_of(document.spec)
        payload = await self._documents.get_payload(document)
        scope = ObjectScope(document.owner, await self._cluster_scoped(resources), payload)
        desired = desired_objects(resources, scope)
        orphans = find_orphans(document.recorded_objects, [each.applied_ref for each in desired])
        created = frozenset(each.ref.key.name for each in desired if each.ref.kind == NAMESPACE)
        found = [entry for each in orphans for entry in await self._orphan_entries(each, document)]
        for each in desired:
            found += await self._object_entry(each, document, created)
        return found

    async def _cluster_scoped(self, resources: list[TResource]) -> frozenset[Kind]:
        found = set()
        for kind in kinds_of(resources):
            try:
                if not (await self._client.discovery.resource(kind)).namespaced:
                    found.add(kind)
            except NoSuchKind:
                continue
        return frozenset(found)

    async def _orphan_entries(self, orphan: AppliedRef, tenant: TenantDocument) -> list[PreviewEntry]:
        ref = orphan_ref(orphan)
        live = await self._read(ref) if orphan.api_version else None
        if live is None:
            return []
        meta = msgspec.convert(live["metadata"], ObjectMeta)
        action = orphan_action(meta, tenant.owner) if is_owned(meta, tenant.owner) else OrphanAction.IGNORE
        if action is OrphanAction.DELETE:
            step = Delete(ref, meta.uid, _NOT_DESIRED)
            return [
                entry
                for result in await self._executor.execute((step,), tenant.ref)
                for entry in preview_entry(result)
            ]
        message = f"{_RETAINED}: {_NOT_DESIRED}"
        is_retained = action is OrphanAction.RETAIN
        return [PreviewEntry(DryRunOutcome.CHANGE, ref, message=message)] * is_retained

    async def _object_entry(
        self, desired: DesiredObject, tenant: TenantDocument, created: frozenset[str]
    ) -> list[PreviewEntry]:
        try:
            step = object_step(desired, await self._read(desired.ref), tenant)
            if isinstance(step, Conflicting):
                return [PreviewEntry(DryRunOutcome.REJECTED, desired.ref, message=step.message)]
            return [] if step is None else await self._dry_run(step, desired, tenant, created)
        except (ApiError, NoSuchKind) as error:
            return [_rejection(desired, error)]

    async def _dry_run(
        self,
        step: Apply | Create | Patch,
        desired: DesiredObject,
        tenant: TenantDocument,
        created: frozenset[str],
    ) -> list[PreviewEntry]:
        try:
            return preview_entry(await self._executor.require(step))
        except NotFound:
            if desired.ref.key.namespace not in created:
                raise
            await self._check_stand_in(desired, tenant)
            return [PreviewEntry(DryRunOutcome.CREATE, desired.ref)]
        except Invalid as error:
            if not immutable_fields(error) or not desired.may_be_recreated:
                raise
            fields = ", ".join(immutable_fields(error))
            message = f"it is created again: {fields} cannot be changed on an existing object"
            return [PreviewEntry(DryRunOutcome.DELETE, desired.ref, message=message)]

    async def _check_stand_in(self, desired: DesiredObject, tenant: TenantDocument) -> None:
        """Creates, as a dry run, the same object in the namespace of the Tenant: the API server checks no object of a
        namespace that does not exist yet."""
        metadata = {"name": _STAND_IN, "namespace": tenant.metadata.namespace}
        await self._executor.require(Create({**desired.manifest, "metadata": metadata}))

    async def _read(self, ref: Ref) -> Manifest | None:
        try:
            return await self._client.get(ref.kind, ref.key)
        except (NotFound, NoSuchKind):
            return None


def describe_schema_problems(manifest: Manifest) -> str:
    """What `lint` says of the object; "" if it finds nothing."""
    return "; ".join(f"{each.field.lstrip('.')}: {each.message}" for each in object_problems(manifest, ""))


def _rejection(desired: DesiredObject, error: ApiError | NoSuchKind) -> PreviewEntry:
    text = describe_api_error(desired.ref, error).removeprefix(f"{desired.ref}: ")
    if isinstance(error, FieldConflict):
        text = f"{text}. Its other fields stay as they are"
    if _TYPED_PATCH in text:
        text = describe_schema_problems(desired.manifest) or text
    return PreviewEntry(DryRunOutcome.REJECTED, desired.ref, message=mask_message(text, desired.manifest))


def _outline_entries(tenant: Ref, result: DryRunResult) -> list[PreviewEntry]:
    """The Tenant itself, if more of it would change than its objects."""
    if result.before is None or result.after is None:
        return [PreviewEntry(result.outcome, tenant)]
    diff = tuple(manifest_diff(*tenant_outlines(result.before, result.after)))
    return [PreviewEntry(result.outcome, tenant, diff)] if diff else []


def _deleted_entries(tenant: Ref, live: Manifest) -> list[PreviewEntry]:
    found = []
    for each in objects_of_deleted(live):
        outcome = DryRunOutcome.CHANGE if each.is_retained else DryRunOutcome.DELETE
        message = f"{_RETAINED if each.is_retained else 'it is deleted'} with {tenant}"
        found.append(PreviewEntry(outcome, each.ref, message=message))
    return found
