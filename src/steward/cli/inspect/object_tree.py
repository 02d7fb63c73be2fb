"""Builds trees of objects from owner references, with the health of each object. Pure.

The parent of an object is its controller. The parent of a Tenant is the registry named by its label: Tenants have no
owner reference to the registry, so that deleting a registry does not delete its Tenants. An object of a Tenant in
another namespace has no owner reference either; its labels name the Tenant. A claim of a server outlives it and has no
owner reference; its name says which StatefulSet it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from steward.cli.inspect.object_health import (
    MULTIGRES,
    TENANTS,
    Health,
    has_pending_update,
    health_since,
    is_true,
    kept_claims,
    last_backup,
    object_health,
    repository_bytes,
    server_roles,
    summarize_object,
    suspension,
    waiting_tenants,
)
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref, ref_of

REGISTRY_LABEL = "kubernetes-tenants.org/registry"
TENANT_LABEL = "kubernetes-tenants.org/tenant"
CLUSTER_LABEL = "multigres.com/cluster"
TENANT_NAMESPACE_LABEL = "kubernetes-tenants.org/tenant-namespace"
ROOTS = (
    Kind(MULTIGRES, "MultigresCluster"),
    Kind(TENANTS, "TenantRegistry"),
    Kind(TENANTS, "TenantTemplate"),
)
KINDS = (
    *ROOTS,
    *(Kind(MULTIGRES, name) for name in ("TopoServer", "Cell", "TableGroup", "Shard")),
    Kind(TENANTS, "Tenant"),
    kinds.DEPLOYMENT,
    kinds.STATEFUL_SET,
    Kind("apps/v1", "ReplicaSet"),
    kinds.POD,
    kinds.SERVICE,
    kinds.INGRESS,
    kinds.PERSISTENT_VOLUME_CLAIM,
)
"""The kinds that are read, in the order in which siblings are shown."""


class TreeObject(NamedTuple):
    """One object of a tree."""

    ref: Ref
    uid: str
    owner: str
    """The uid of the parent; "" for a root."""
    health: Health
    message: str
    since: str
    """When the health changed last, if known."""
    primary: str = ""
    """The pod of a shard's primary."""
    template: str = ""
    """The TenantTemplate of a Tenant and of all objects below it."""
    is_terminating: bool = False
    has_pending_update: bool = False
    suspension: str = ""
    """`paused`, `hibernated` or `stopped`."""
    has_held_deletion: bool = False
    summary: str = ""
    kept_claims: int = 0
    """Volume claims of a cluster that no server uses."""
    last_backup: str = ""
    repository_bytes: int | None = None
    """When the newest complete backup of a shard ended."""
    roles: tuple[tuple[str, str], ...] = ()
    """The servers of a shard, each as its pod and its role."""
    role: str = ""
    """Of a pod that is a server."""
    waiting_tenants: int = 0
    """Tenants of a template that wait for others of its rollout."""


class TreeNode(NamedTuple):
    object: TreeObject
    children: tuple[TreeNode, ...]

    def walk(self) -> Iterator[TreeObject]:
        yield self.object
        for child in self.children:
            yield from child.walk()

    @property
    def primaries(self) -> list[str]:
        """The pods of the primaries of all shards below."""
        return [obj.primary for obj in self.walk() if obj.primary]

    @property
    def oldest_backup(self) -> str:
        """When the newest backup of the shard that has waited longest for another ended; "" if one is unknown."""
        times = [obj.last_backup for obj in self.walk() if obj.ref.kind.kind == "Shard"]
        return min(times, default="")

    @property
    def repository_bytes(self) -> int | None:
        """What the backups of all shards take in their repositories; None if that of one is unknown."""
        sizes = [obj.repository_bytes for obj in self.walk() if obj.ref.kind.kind == "Shard"]
        known = [size for size in sizes if size is not None]
        return sum(known) if known and len(known) == len(sizes) else None

    @property
    def worst_health(self) -> Health:
        """The health that every verb shows for the node: a parent is not better than what it consists of."""
        return min(obj.health for obj in self.walk())

    @property
    def is_healthy(self) -> bool:
        return self.worst_health is Health.READY


def build_trees(objects: Iterable[Manifest]) -> tuple[TreeNode, ...]:
    """Builds the trees; objects without a root among the objects are left out."""
    manifests = list(objects)
    recorded = (each for manifest in manifests for each in _recorded_objects(manifest))
    return link_trees([*map(tree_object, manifests), *recorded])


def _recorded_objects(manifest: Manifest) -> Iterator[TreeObject]:
    """Objects of a ready Tenant that are not read, such as ConfigMaps, Secrets and custom resources: its status names
    them, and they are ready because it is."""
    if manifest["kind"] != "Tenant" or object_health(manifest)[0] is not Health.READY:
        return
    for record in (manifest.get("status") or {}).get("applied") or ():
        kind = Kind(record["apiVersion"], record["kind"])
        if kind not in KINDS:
            ref = Ref(kind, Key(record.get("namespace", ""), record["name"]))
            since = str(record.get("changedAt") or "")
            yield TreeObject(ref, f"recorded {ref}", manifest["metadata"]["uid"], Health.READY, "", since)


def link_trees(objects: Iterable[TreeObject]) -> tuple[TreeNode, ...]:
    found = {obj.uid: obj for obj in with_roles(list(objects))}
    parents = {_parent_name(obj): obj.uid for obj in found.values()}
    owned = [obj._replace(owner=parents.get(obj.owner, obj.owner)) for obj in found.values()]
    children: dict[str, list[TreeObject]] = {}
    for obj in owned:
        children.setdefault(obj.owner, []).append(obj)
    roots = [obj for obj in owned if obj.ref.kind in ROOTS and obj.owner not in found]
    return tuple(sorted((_build_node(root, children, "") for root in roots), key=_sort_key))


def with_roles(objects: list[TreeObject]) -> Iterator[TreeObject]:
    """Pods with the role that their shard reports."""
    roles = {(obj.ref.key.namespace, pod): role for obj in objects for pod, role in obj.roles}
    for obj in objects:
        role = roles.get((obj.ref.key.namespace, obj.ref.key.name), "") if obj.ref.kind == kinds.POD else ""
        yield obj._replace(role=role) if role else obj


def _parent_name(obj: TreeObject) -> str:
    """How a label of another object names this one as its parent."""
    return f"{obj.ref.kind.kind} {obj.ref.key}"


def _build_node(obj: TreeObject, children: dict[str, list[TreeObject]], template: str) -> TreeNode:
    named = obj if obj.template else obj._replace(template=template)
    below = (_build_node(child, children, named.template) for child in children.get(obj.uid, ()))
    return TreeNode(named, tuple(sorted(below, key=_sort_key)))


def _sort_key(node: TreeNode) -> tuple[int, int, str, str]:
    ref = node.object.ref
    rank = KINDS.index(ref.kind) if ref.kind in KINDS else len(KINDS)
    return node.worst_health, rank, ref.kind.kind, str(ref.key)


def tree_object(manifest: Manifest) -> TreeObject:
    meta = manifest["metadata"]
    health, message = object_health(manifest)
    spec = manifest.get("spec") or {}
    return TreeObject(
        ref_of(manifest),
        meta["uid"],
        _owner(manifest),
        health,
        message,
        health_since(manifest),
        primary=str((manifest.get("status") or {}).get("primary", "")),
        template=f"{meta['namespace']}/{spec.get('templateRef')}" if manifest["kind"] == "Tenant" else "",
        is_terminating="deletionTimestamp" in meta,
        has_pending_update=has_pending_update(manifest),
        suspension=suspension(manifest),
        has_held_deletion=is_true(manifest, "DeletionHeld") and not is_true(manifest, "Degraded"),
        summary=summarize_object(manifest),
        kept_claims=kept_claims(manifest),
        last_backup=last_backup(manifest),
        repository_bytes=repository_bytes(manifest),
        roles=server_roles(manifest),
        waiting_tenants=waiting_tenants(manifest),
    )


def _owner(manifest: Manifest) -> str:
    """The uid of the controller, or the name of the parent that a label names."""
    meta = manifest["metadata"]
    labels = meta.get("labels") or {}
    if manifest["kind"] == "Tenant":
        registry = labels.get(REGISTRY_LABEL)
        return f"TenantRegistry {meta['namespace']}/{registry}" if registry else ""
    owners = meta.get("ownerReferences") or []
    controller = next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")
    if not controller and manifest["kind"] == "PersistentVolumeClaim" and CLUSTER_LABEL in labels:
        return f"StatefulSet {meta['namespace']}/{_set_of_claim(meta['name'])}"
    if controller or TENANT_LABEL not in labels:
        return controller
    return f"Tenant {labels.get(TENANT_NAMESPACE_LABEL)}/{labels[TENANT_LABEL]}"


def _set_of_claim(name: str) -> str:
    """StatefulSets name their claims `{template}-{set}-{ordinal}`; our templates have names without a hyphen."""
    return name.partition("-")[2].rpartition("-")[0]
