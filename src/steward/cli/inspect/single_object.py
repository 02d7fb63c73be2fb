"""Reads one object that no tree of its namespace has: its Tenant is in another namespace, or a user made it.

What runs in the namespace of a Tenant is owned by workloads with the Tenant's labels; these name the template to edit.
"""

from __future__ import annotations

from steward.cli.inspect.object_health import TENANTS
from steward.cli.inspect.object_tree import (
    KINDS,
    TENANT_LABEL,
    TENANT_NAMESPACE_LABEL,
    TreeNode,
    tree_object,
)
from steward.cli.inspect.untracked_pods import WORKLOADS, pods_of_workload
from steward.cli.object_names import matches_kind
from steward.kube.client.client import Client
from steward.kube.errors import Forbidden, NoSuchKind, NotFound
from steward.kube.objects.kinds import Key, Kind, Manifest

_TENANT = Kind(TENANTS, "Tenant")
_MOST_OWNERS = 3
"""Pod, ReplicaSet, Deployment."""


async def read_single_object(client: Client, kind: str, key: Key) -> TreeNode | None:
    """The object with its pods; None if there is none, or if the user may not read it."""
    for shown in KINDS:
        if matches_kind(kind, shown.kind) and (live := await _read(client, shown, key)):
            template = await _template_of(client, live)
            return _with_template(await _node(client, live), template)
    return None


async def _node(client: Client, live: Manifest) -> TreeNode:
    found = tree_object(live)
    has_pods = found.ref.kind in WORKLOADS
    pods = await pods_of_workload(client, found.ref, found.uid) if has_pods else []
    return TreeNode(found, tuple(TreeNode(tree_object(pod), ()) for pod in pods))


def _with_template(node: TreeNode, template: str) -> TreeNode:
    children = tuple(_with_template(child, template) for child in node.children)
    return TreeNode(node.object._replace(template=node.object.template or template), children)


async def _template_of(client: Client, live: Manifest) -> str:
    """The TenantTemplate from which the object, or what owns it, was made; "" if none was."""
    found: Manifest | None = live
    for _ in range(_MOST_OWNERS):
        if found is None:
            return ""
        meta = found["metadata"]
        labels = meta.get("labels") or {}
        if TENANT_LABEL in labels:
            home = labels.get(TENANT_NAMESPACE_LABEL) or meta["namespace"]
            tenant = await _read(client, _TENANT, Key(home, labels[TENANT_LABEL]))
            return "" if tenant is None else f"{home}/{tenant['spec'].get('templateRef')}"
        found = await _controller(client, found)
    return ""


async def _controller(client: Client, live: Manifest) -> Manifest | None:
    owners = live["metadata"].get("ownerReferences") or ()
    for owner in owners:
        if owner.get("controller"):
            kind = Kind(owner["apiVersion"], owner["kind"])
            return await _read(client, kind, Key(live["metadata"]["namespace"], owner["name"]))
    return None


async def _read(client: Client, kind: Kind, key: Key) -> Manifest | None:
    try:
        found = await client.get(kind, key)
    except (NotFound, NoSuchKind, Forbidden):
        return None
    return {**found, "apiVersion": kind.api_version, "kind": kind.kind}
