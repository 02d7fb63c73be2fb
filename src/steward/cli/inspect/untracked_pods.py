"""Adds pods of workloads from tenant templates, which carry only the labels of the template.

Only pods of failing workloads, and of the few workloads of a named object, are read: there may be thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from steward.cli.inspect.fetch import read_objects
from steward.cli.inspect.object_tree import TreeNode, TreeObject, build_trees
from steward.cli.inspect.why import find_cause
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.options import ListQuery

_FEW_WORKLOADS = 20
WORKLOADS = (kinds.DEPLOYMENT, kinds.STATEFUL_SET)


Trees = tuple[TreeNode, ...]


def all_trees(trees: Trees) -> Trees:
    return trees


async def read_trees_with_pods(
    client: Client, namespace: str, explained: Callable[[Trees], Trees] = all_trees
) -> Trees:
    """Trees in which a workload that is the cause of a problem has its pods as children.

    `explained` selects the nodes whose causes are found: one registry has many Tenants, each with a cause of its own.
    Nodes that a user has named have the pods of all their workloads, if these are few.
    """
    objects = await read_objects(client, namespace)
    trees = build_trees(objects)
    chosen = explained(trees)
    causes = {find_cause(node).object for node in chosen if not node.is_healthy}
    named = set() if explained is all_trees else _few_workloads(chosen)
    pods = [
        pod
        for each in causes | named
        if each.ref.kind in WORKLOADS
        for pod in await pods_of_workload(client, each.ref, each.uid)
    ]
    return build_trees([*objects, *pods]) if pods else trees


def _few_workloads(nodes: Trees) -> set[TreeObject]:
    """The workloads without pods in the trees; none if there are many."""
    found = {leaf.object for node in nodes for leaf in _leaves(node) if leaf.object.ref.kind in WORKLOADS}
    return found if len(found) <= _FEW_WORKLOADS else set()


def _leaves(node: TreeNode) -> Iterator[TreeNode]:
    if not node.children:
        yield node
    for child in node.children:
        yield from _leaves(child)


async def pods_of_workload(client: Client, ref: Ref, uid: str) -> list[Manifest]:
    try:
        workload = await client.get(ref.kind, ref.key)
    except NotFound:
        return []
    labels = workload["spec"]["selector"].get("matchLabels") or {}
    if not labels:
        return []
    selector = ",".join(f"{name}={value}" for name, value in labels.items())
    listing = await client.list(kinds.POD, ListQuery(namespace=ref.key.namespace, label_selector=selector))
    return [_owned_by(uid, pod) for pod in listing.items]


def _owned_by(uid: str, pod: Manifest) -> Manifest:
    """The pod with the workload as its owner, without a ReplicaSet in between."""
    owner = {"uid": uid, "controller": True, "kind": "", "name": "", "apiVersion": ""}
    metadata = {**pod["metadata"], "ownerReferences": [owner]}
    return {**pod, "apiVersion": "v1", "kind": "Pod", "metadata": metadata}
