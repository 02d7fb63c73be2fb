"""Builds trees of objects from owner references, with the health of each object. Pure.

The parent of an object is its controller. The parent of a Tenant is the registry named by its label: Tenants have no
owner reference to the registry, so that deleting a registry does not delete its Tenants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec

from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind, Manifest, Ref, kind_of, ref_of
from steward.kube.objects.readiness import Failed, NotReady, readiness_of
from steward.multigres.status.pod_problems import pod_problem
from steward.multigres.views import PodView

TENANTS = "operator.kubernetes-tenants.org/v1"
MULTIGRES = "multigres.com/v1alpha1"
REGISTRY_LABEL = "kubernetes-tenants.org/registry"
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
    kinds.PERSISTENT_VOLUME_CLAIM,
)
"""The kinds that are read, in the order in which siblings are shown."""
_CUSTOM_KINDS = tuple(kind for kind in KINDS if kind.api_version in (MULTIGRES, TENANTS))
NOT_RECONCILED = "no operator has reconciled it yet"


class Health(IntEnum):
    """Worst first: sorting puts problems on top."""

    FAILED = 0
    WAITING = 1
    READY = 2


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


class TreeNode(NamedTuple):
    object: TreeObject
    children: tuple[TreeNode, ...]

    def walk(self) -> Iterator[TreeObject]:
        yield self.object
        for child in self.children:
            yield from child.walk()

    @property
    def is_healthy(self) -> bool:
        return all(obj.health is Health.READY for obj in self.walk())


def build_trees(objects: Iterable[Manifest]) -> tuple[TreeNode, ...]:
    """Builds the trees; objects without a root among the objects are left out."""
    found = [_tree_object(manifest) for manifest in objects]
    registries = {
        (obj.ref.key.namespace, obj.ref.key.name): obj.uid
        for obj in found
        if obj.ref.kind.kind == "TenantRegistry"
    }
    found = [_with_registry_owner(obj, registries) for obj in found]
    children: dict[str, list[TreeObject]] = {}
    for obj in found:
        children.setdefault(obj.owner, []).append(obj)
    uids = {obj.uid for obj in found}
    roots = [obj for obj in found if obj.ref.kind in ROOTS and obj.owner not in uids]
    return tuple(_build_node(root, children) for root in sorted(roots, key=_sort_key))


def _build_node(obj: TreeObject, children: dict[str, list[TreeObject]]) -> TreeNode:
    nodes = (_build_node(child, children) for child in sorted(children.get(obj.uid, ()), key=_sort_key))
    return TreeNode(obj, tuple(nodes))


def _sort_key(obj: TreeObject) -> tuple[int, int, str]:
    return obj.health, KINDS.index(obj.ref.kind), str(obj.ref.key)


def _with_registry_owner(obj: TreeObject, registries: dict[tuple[str, str], str]) -> TreeObject:
    if obj.ref.kind.kind != "Tenant":
        return obj
    return obj._replace(owner=registries.get((obj.ref.key.namespace, obj.owner), ""))


def _tree_object(manifest: Manifest) -> TreeObject:
    meta = manifest["metadata"]
    health, message = _object_health(manifest)
    return TreeObject(
        ref_of(manifest), meta["uid"], _owner_uid(manifest), health, message, _health_since(manifest)
    )


def _owner_uid(manifest: Manifest) -> str:
    meta = manifest["metadata"]
    if manifest["kind"] == "Tenant":
        return str((meta.get("labels") or {}).get(REGISTRY_LABEL, ""))
    owners = meta.get("ownerReferences") or []
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def _object_health(manifest: Manifest) -> tuple[Health, str]:
    if kind_of(manifest) == kinds.PERSISTENT_VOLUME_CLAIM:
        phase = (manifest.get("status") or {}).get("phase", "")
        return (Health.READY, "") if phase == "Bound" else (Health.WAITING, f"is {phase or 'new'}")
    if kind_of(manifest) == kinds.POD and (pod_health := _pod_health(manifest)):
        return pod_health
    if kind_of(manifest) in _CUSTOM_KINDS and not (manifest.get("status") or {}).get("conditions"):
        return Health.WAITING, NOT_RECONCILED
    degraded = _condition(manifest, "Degraded")
    if degraded is not None and degraded.get("status") == "True":
        return Health.FAILED, str(degraded.get("message", ""))
    held = _condition(manifest, "DeletionHeld")
    if held is not None and held.get("status") == "True":
        return Health.FAILED, str(held.get("message", ""))
    readiness = readiness_of(manifest)
    if isinstance(readiness, Failed):
        return Health.FAILED, readiness.message
    if rejected := _rejected_rows_message(manifest):
        return Health.FAILED, rejected
    return (
        (Health.WAITING, _waiting_message(manifest, readiness.message))
        if isinstance(readiness, NotReady)
        else (Health.READY, "")
    )


def _rejected_rows_message(manifest: Manifest) -> str:
    """The number of rejected rows of a registry, and the first of them; "" if there are none."""
    status = manifest.get("status") or {}
    rows, count = status.get("rejected") or (), status.get("rejectedRows", 0)
    if not rows:
        return ""
    first = f"row {rows[0].get('uid')!r}: {rows[0].get('reason')}"
    return (
        f"{count} row is rejected: {first}"
        if count == 1
        else f"{count} rows are rejected, among them {first}"
    )


def _pod_health(manifest: Manifest) -> tuple[Health, str] | None:
    view = msgspec.convert(manifest, PodView)
    if problem := pod_problem(view):
        return Health.FAILED, problem
    scheduled = _condition(manifest, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        # Only the first sentence: the rest is about preemption and claims, and changes all the time.
        reason = str(scheduled.get("message", "")).partition(". ")[0]
        return Health.WAITING, f"cannot be scheduled: {reason}"
    return None


def _waiting_message(manifest: Manifest, default: str) -> str:
    ready = _condition(manifest, "Ready")
    if ready is not None and ready.get("status") != "True" and ready.get("message"):
        return str(ready["message"])
    return default


def _health_since(manifest: Manifest) -> str:
    for type_ in ("DeletionHeld", "Degraded", "Stalled", "Ready"):
        condition = _condition(manifest, type_)
        if condition is not None and (condition.get("status") == "True" or type_ == "Ready"):
            return str(condition.get("lastTransitionTime", ""))
    return str(manifest["metadata"].get("creationTimestamp", ""))


def _condition(manifest: Manifest, type_: str) -> dict[str, Any] | None:
    status = manifest.get("status")
    listed = status.get("conditions") if isinstance(status, dict) else None
    return next((each for each in listed or () if each.get("type") == type_), None)
