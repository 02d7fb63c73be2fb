"""Goes on where labels end: pods of a workload that a template made carry the template's labels, and none of ours.

Only the workload at fault is looked into: a fleet has thousands of them.
"""

from __future__ import annotations

from steward.cli.inspect.fetch import read_objects
from steward.cli.inspect.object_tree import Branch, families
from steward.cli.inspect.why import cause_of
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.options import ListQuery

_WORKLOADS = (kinds.DEPLOYMENT, kinds.STATEFUL_SET)


async def dug_families(client: Client, namespace: str) -> tuple[Branch, ...]:
    """Families, in which each cause that is a workload without pods has got them."""
    objects = await read_objects(client, namespace)
    found = families(objects)
    causes = {cause_of(branch).member for branch in found if not branch.is_well}
    further = [
        pod
        for cause in causes
        if cause.ref.kind in _WORKLOADS
        for pod in await _pods(client, cause.ref, cause.uid)
    ]
    return families([*objects, *further]) if further else found


async def _pods(client: Client, ref: Ref, uid: str) -> list[Manifest]:
    try:
        workload = await client.get(ref.kind, ref.key)
    except NotFound:
        return []
    labels = workload["spec"]["selector"].get("matchLabels") or {}
    if not labels:
        return []
    selector = ",".join(f"{name}={value}" for name, value in labels.items())
    listing = await client.list(kinds.POD, ListQuery(namespace=ref.key.namespace, label_selector=selector))
    return [_below(uid, pod) for pod in listing.items]


def _below(uid: str, pod: Manifest) -> Manifest:
    """As if it belonged to the workload at once, without a ReplicaSet in between."""
    owner = {"uid": uid, "controller": True, "kind": "", "name": "", "apiVersion": ""}
    metadata = {**pod["metadata"], "ownerReferences": [owner]}
    return {**pod, "apiVersion": "v1", "kind": "Pod", "metadata": metadata}
