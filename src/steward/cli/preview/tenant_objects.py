"""What a changed Tenant does to its objects: the steps of the Tenant controller, decided by its own rules. Pure.

A Tenant's spec only describes objects; a user wants to know what becomes of the Deployment. `tenant_dry_run` executes
these steps as dry runs on the API server.

Not known here: the flags of the operator, so objects that it refuses for its template scope are not found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from steward.cli.inspect.why import shorten_message
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.dry_run import DryRunResult
from steward.runtime.plan.steps import Apply, Create, Patch
from steward.tenants.api.lists import LISTS
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.tenant import TenantSpec, TenantStatus
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.tenant.apply import is_created_once
from steward.tenants.labels import TEMPLATE_GENERATION
from steward.tenants.names import values_secret
from steward.tenants.objects.dependencies import dependency_edges, find_cycle
from steward.tenants.objects.desired import DesiredObject, resources_of, shape_problem
from steward.tenants.objects.ignore_fields import ignored_paths, with_live_fields, without_fields
from steward.tenants.objects.orphans import AppliedRef
from steward.tenants.objects.ownership import may_touch, object_conflict_message
from steward.tenants.objects.patches import merge_patch, replace_patch
from steward.tenants.rendering.generated_values import generated_values, keep_live_values

KEEPS_OBJECTS: Final = "the objects that it has stay as they are"
_LIST_FIELDS: Final = tuple(each.field for each in LISTS)
_NOT_OUTLINED: Final = ("templateGeneration", "values")


class Conflicting(NamedTuple):
    """An object that the operator would not write, and why."""

    message: str


def tenant_document(manifest: Manifest, live: Manifest | None) -> TenantDocument:
    """The Tenant after its apply, with the uid and the records of the live one."""
    metadata = manifest["metadata"]
    uid = f"new-{metadata['name']}" if live is None else live["metadata"]["uid"]
    meta = msgspec.convert({**metadata, "uid": uid}, ObjectMeta)
    status = {} if live is None else live.get("status") or {}
    spec = msgspec.json.decode(msgspec.json.encode(manifest["spec"]), type=TenantSpec)
    return TenantDocument(meta, spec, msgspec.convert(status, TenantStatus))


def tenant_problem(document: TenantDocument) -> str:
    """Why the operator would apply nothing of the Tenant; "" if it would apply its objects."""
    failure = document.spec.render_failure
    if failure is not UNSET:
        where = f"TenantTemplate {document.spec.template_ref}, resource {failure.resource!r}, {failure.field}"
        return f"cannot be rendered: {where}: {shorten_message(failure.message)}; {KEEPS_OBJECTS}"
    resources = resources_of(document.spec)
    if malformed := shape_problem(resources):
        return f"cannot be read: {malformed}; {KEEPS_OBJECTS}"
    if cycle := find_cycle(dependency_edges(resources)):
        return f"has a dependency cycle: {' -> '.join(cycle)}; {KEEPS_OBJECTS}"
    return ""


def object_step(
    desired: DesiredObject, live: Manifest | None, tenant: TenantDocument
) -> Apply | Create | Patch | Conflicting | None:
    """The step that the Tenant controller takes for the object; None if it leaves the object as it is."""
    is_apply = desired.resource.patch_strategy == "apply"
    if live is None:
        return Apply(desired.manifest, force=False) if is_apply else Create(desired.manifest)
    meta = msgspec.convert(live["metadata"], ObjectMeta)
    has_force = desired.resource.conflict_policy == "Force"
    if not may_touch(meta, tenant.owner) and not has_force:
        return Conflicting(object_conflict_message(desired.ref, meta, tenant.metadata.namespace))
    if desired.is_created_once and is_created_once(meta, tenant.owner):
        return None
    manifest = _with_generated_values(desired, live)
    if is_apply:
        return Apply(_without_ignored(desired, manifest), force=has_force)
    return Patch(desired.ref, _patch_of(desired, manifest, live))


def _with_generated_values(desired: DesiredObject, live: Manifest) -> Manifest:
    values = generated_values(desired.resource)
    return keep_live_values(desired.manifest, values, live) if values else desired.manifest


def _without_ignored(desired: DesiredObject, manifest: Manifest) -> Manifest:
    expressions = desired.resource.ignore_fields
    if expressions is UNSET or desired.is_created_once:
        return manifest
    return without_fields(manifest, ignored_paths(manifest, expressions))


def _patch_of(desired: DesiredObject, manifest: Manifest, live: Manifest) -> Any:
    expressions = desired.resource.ignore_fields
    ignored = () if expressions is UNSET else expressions
    if desired.resource.patch_strategy == "merge":
        return merge_patch(without_fields(manifest, ignored_paths(manifest, ignored)), live)
    return replace_patch(with_live_fields(manifest, live, ignored), live)


def tenant_outlines(before: Manifest, after: Manifest) -> tuple[Manifest, Manifest]:
    """The Tenant without its objects, which are shown by themselves, and without counters: the policies of the objects
    that both have remain."""
    ids = _resource_ids(before) & _resource_ids(after)
    return _outline(before, ids), _outline(after, ids)


def _resource_ids(tenant: Manifest) -> set[str]:
    spec = tenant.get("spec") or {}
    return {each["id"] for name in _LIST_FIELDS for each in spec.get(name) or ()}


def _outline(tenant: Manifest, ids: set[str]) -> Manifest:
    annotations = {
        name: value
        for name, value in (tenant["metadata"].get("annotations") or {}).items()
        if name != TEMPLATE_GENERATION
    }
    spec = {name: value for name, value in (tenant.get("spec") or {}).items() if name not in _NOT_OUTLINED}
    policies = {name: _policies(spec.pop(name), ids) for name in _LIST_FIELDS if name in spec}
    metadata = {**tenant["metadata"], "annotations": annotations}
    shown = {name: value for name, value in policies.items() if value}
    return {
        "apiVersion": tenant["apiVersion"],
        "kind": tenant["kind"],
        "metadata": metadata,
        "spec": spec | shown,
    }


def _policies(resources: list[dict[str, Any]], ids: set[str]) -> list[dict[str, Any]]:
    kept = [each for each in resources if each["id"] in ids]
    return [{name: value for name, value in each.items() if name != "spec"} for each in kept]


def written_tenants(results: Iterable[DryRunResult]) -> Counter[str]:
    """By template: how many Tenants a sync would bring to another generation of it."""
    applied = [
        (each.step.manifest["spec"], ((each.before or {}).get("spec") or {}))
        for each in results
        if isinstance(each.step, Apply) and is_tenant(each.step.ref)
    ]
    return Counter(
        str(new["templateRef"])
        for new, old in applied
        if new["templateGeneration"] != old.get("templateGeneration")
    )


class DeletedObject(NamedTuple):
    """An object of a Tenant that is deleted."""

    ref: Ref
    is_retained: bool


def objects_of_deleted(tenant: Manifest) -> Iterator[DeletedObject]:
    """What becomes of the recorded objects of a live Tenant when it is deleted."""
    spec = tenant.get("spec") or {}
    retained = {
        each["id"]
        for name in _LIST_FIELDS
        for each in spec.get(name) or ()
        if each.get("deletionPolicy") == "Retain"
    }
    for each in (tenant.get("status") or {}).get("applied") or ():
        ref = Ref(Kind(each["apiVersion"], each["kind"]), Key(each.get("namespace", ""), each["name"]))
        yield DeletedObject(ref, each.get("id") in retained)


def orphan_ref(orphan: AppliedRef) -> Ref:
    return Ref(Kind(orphan.api_version, orphan.kind), Key(orphan.namespace, orphan.name))


def is_payload(ref: Ref | None, tenants: frozenset[Key]) -> bool:
    """Whether it is the Secret in which the operator keeps the payload of one of these Tenants."""
    if ref is None or ref.kind.kind != "Secret":
        return False
    return any(ref.key == Key(each.namespace, values_secret(each.name)) for each in tenants)


def is_tenant(ref: Ref | None) -> bool:
    return ref is not None and ref.kind == TENANT_KIND
