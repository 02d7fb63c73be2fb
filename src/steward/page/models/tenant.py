"""The view of a Tenant: its objects in the order of their dependencies, with the readiness of each. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_health import is_true
from steward.cli.inspect.object_tree import REGISTRY_LABEL, TreeNode, tree_object
from steward.cli.inspect.why import find_cause
from steward.kube.objects.kinds import SECRET, Key, Kind, Manifest, Ref, kind_of
from steward.kube.objects.readiness import is_ready_once_applied
from steward.page.inventory.inventory import TENANT
from steward.page.inventory.snapshot import Snapshot, node_without_parts
from steward.page.models.addresses import registry_address
from steward.page.models.now import tree_sentence
from steward.page.models.structs import Model, ObjectLink, condition_lines, health_word, object_link
from steward.page.models.timeline import timeline
from steward.page.models.trail import tenant_trail
from steward.page.models.tree import TreePart, tree_parts
from steward.tenants import reasons
from steward.tenants.api.lists import field_name, list_resources
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.tenant import TenantSpec
from steward.tenants.objects.dependencies import apply_levels, dependency_edges, find_cycle

_KEPT_REASONS = (reasons.ORPHAN_RETAINED, reasons.RESOURCE_RETAINED)


class TenantHead(Model, frozen=True):
    object: ObjectLink
    health: str
    text: str
    command: str
    uid: str
    template: ObjectLink
    registry: ObjectLink
    template_generation: int
    paused: bool
    ready: int
    desired: int
    trail: list[ObjectLink]


class GraphObject(Model, frozen=True):
    """One object of the Tenant. `text` is its readiness sentence, `policies` what differs from the defaults."""

    id: str
    object: ObjectLink
    health: str
    text: str
    changed: str
    depends_on: list[str]
    policies: list[str]
    is_comparable: bool
    parts: tuple[TreePart, ...]


def tenant_sections(snapshot: Snapshot, key: Key, tenant: Manifest) -> dict[str, Any] | None:
    node = snapshot.node(TENANT, key)
    if node is None and snapshot.is_reading:
        node = node_without_parts(tree_object(tenant), snapshot.inventory)
    if node is None:
        return None
    moments = timeline(node, snapshot.events(key.namespace), [tenant], snapshot.now)
    return {
        "head": _head(node, tenant, snapshot),
        "levels": _levels(node, tenant, snapshot.now),
        "drift": [moment for moment in moments if moment.reason == reasons.DRIFT_REVERTED],
        "kept": [moment for moment in moments if moment.reason in _KEPT_REASONS],
        "conditions": condition_lines(tenant.get("status") or {}, snapshot.now),
        "timeline": moments,
    }


def _head(node: TreeNode, tenant: Manifest, snapshot: Snapshot) -> TenantHead:
    sentence, spec, meta = tree_sentence(node, snapshot), tenant["spec"], tenant["metadata"]
    namespace, status = meta["namespace"], tenant.get("status") or {}
    registry = Key(namespace, (meta.get("labels") or {}).get(REGISTRY_LABEL, ""))
    template = Key(namespace, str(spec.get("templateRef", "")))
    return TenantHead(
        sentence.object,
        sentence.health,
        sentence.text,
        sentence.command,
        str(spec.get("uid", "")),
        ObjectLink(
            "TenantTemplate", namespace, template.name, registry_address(registry, template=template.name)
        ),
        ObjectLink(
            "TenantRegistry", namespace, registry.name, registry_address(registry) if registry.name else ""
        ),
        int(spec.get("templateGeneration") or 0),
        bool(spec.get("paused")),
        int(status.get("readyResources") or 0),
        int(status.get("desiredResources") or 0),
        tenant_trail(snapshot, node.object.ref),
    )


def _levels(node: TreeNode, tenant: Manifest, now: float) -> list[list[GraphObject]]:
    """Level by level, as they are applied; all in one level if they depend on each other in a circle."""
    resources = tenant_resources(tenant)
    edges = dependency_edges(resources.values())
    order = (tuple(edges),) if find_cycle(edges) else apply_levels(edges)
    parts = {child.object.ref: child for child in node.children}
    return [
        [_graph_object(resources[name], tenant, parts, now) for name in level if name in resources]
        for level in order
    ]


def tenant_resources(tenant: Manifest) -> dict[str, TResource]:
    spec = msgspec.convert(tenant["spec"], TenantSpec)
    return {each.resource.id: each.resource for each in list_resources(spec)}


def resource_ref(resource: TResource, tenant: Manifest) -> Ref:
    """The object as the status records it; before it is applied, as the spec names it."""
    applied = (tenant.get("status") or {}).get("applied") or ()
    for record in applied:
        if record.get("id") == resource.id:
            kind = Kind(record["apiVersion"], record["kind"])
            return Ref(kind, Key(record.get("namespace", ""), record["name"]))
    meta = resource.spec.get("metadata") or {}
    namespace = meta.get("namespace") or tenant["metadata"]["namespace"]
    return Ref(kind_of(resource.spec), Key(namespace, str(meta.get("name", ""))))


def _graph_object(
    resource: TResource, tenant: Manifest, parts: Mapping[Ref, TreeNode], now: float
) -> GraphObject:
    ref = resource_ref(resource, tenant)
    part = parts.get(ref)
    health, text = _part_state(part) if part else _recorded_state(resource, tenant)
    return GraphObject(
        resource.id,
        object_link(ref),
        health,
        text,
        format_age(_changed_at(resource, tenant), now),
        [] if resource.depend_ids is UNSET else list(resource.depend_ids),
        _policies(resource),
        ref.kind != SECRET and bool(ref.key.name),
        tree_parts(part) if part else (),
    )


def _part_state(part: TreeNode) -> tuple[str, str]:
    return health_word(part.worst_health), find_cause(part).object.message or "ready"


def _recorded_state(resource: TResource, tenant: Manifest) -> tuple[str, str]:
    """Of kinds that are not watched, what the Tenant says."""
    status = tenant.get("status") or {}
    if resource.id in (status.get("skippedResourceIds") or ()):
        return "waiting", "skipped, because a dependency has failed"
    if not any(record.get("id") == resource.id for record in status.get("applied") or ()):
        return "waiting", "not applied yet"
    if is_true(tenant, "Ready") or _is_ready_once_applied(resource):
        return "ready", "ready"
    return "waiting", "applied"


def _is_ready_once_applied(resource: TResource) -> bool:
    """Other objects may be why the Tenant is not ready."""
    return resource.ready_when is UNSET and is_ready_once_applied(kind_of(resource.spec))


def _changed_at(resource: TResource, tenant: Manifest) -> str:
    applied = (tenant.get("status") or {}).get("applied") or ()
    return next((str(each.get("changedAt", "")) for each in applied if each.get("id") == resource.id), "")


def _policies(resource: TResource) -> list[str]:
    """The policies that are not the default, as fields of the template."""
    defaults = TResource(id=resource.id, spec=resource.spec)
    names = ("creation_policy", "deletion_policy", "conflict_policy", "patch_strategy")
    found = {
        name: getattr(resource, name) for name in names if getattr(resource, name) != getattr(defaults, name)
    }
    return [f"{field_name(name)}: {value}" for name, value in found.items()]
