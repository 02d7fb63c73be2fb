"""Adds pods of workloads from tenant templates, which carry only the labels of the template.

Only pods of failing workloads are read: there may be thousands of workloads.
"""

from __future__ import annotations

from collections.abc import Callable

from steward.cli.inspect.fetch import read_objects
from steward.cli.inspect.object_tree import TreeNode, build_trees
from steward.cli.inspect.why import find_cause
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.options import ListQuery

_WORKLOADS = (kinds.DEPLOYMENT, kinds.STATEFUL_SET)


Trees = tuple[TreeNode, ...]


def all_trees(trees: Trees) -> Trees:
    return trees


async def read_trees_with_pods(
    client: Client, namespace: str, explained: Callable[[Trees], Trees] = all_trees
) -> Trees:
    """Trees in which a workload that is the cause of a problem has its pods as children.

    `explained` selects the nodes whose causes are found: one registry has many Tenants, each with a cause of its own.
    """
    objects = await read_objects(client, namespace)
    trees = build_trees(objects)
    causes = {find_cause(node).object for node in explained(trees) if not node.is_healthy}
    pods = [
        pod
        for cause in causes
        if cause.ref.kind in _WORKLOADS
        for pod in await _pods_of_workload(client, cause.ref, cause.uid)
    ]
    return build_trees([*objects, *pods]) if pods else trees


async def _pods_of_workload(client: Client, ref: Ref, uid: str) -> list[Manifest]:
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
