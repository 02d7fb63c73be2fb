"""Chooses the containers whose logs are shown: of a cluster, a shard or a Tenant, by role. Pure, but for the reads.

Pods of a cluster are in the tree of its objects. Pods of a Tenant's workloads carry only the labels of its template,
and are found by the selectors of the workloads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from steward.cli.inspect.fetch import read_objects
from steward.cli.inspect.find import NotFoundInTrees, find_node, parse_name
from steward.cli.inspect.object_tree import TreeNode, build_trees
from steward.cli.object_names import matches_kind
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import (
    DEPLOYMENT,
    POD,
    STATEFUL_SET,
    Key,
    Manifest,
    key_of_manifest,
    ref_of,
)
from steward.kube.objects.options import ListQuery
from steward.multigres.objects import etcd, gateway, multiadmin, orchestrator, pool
from steward.multigres.objects.metadata import COMPONENT_LABEL

PRIMARY, REPLICA = "primary", "replica"
COMPONENTS: Final = {
    "server": (pool.COMPONENT,),
    "gateway": (gateway.COMPONENT,),
    "orchestrator": (orchestrator.COMPONENT,),
    "admin": (multiadmin.COMPONENT, multiadmin.WEB_COMPONENT),
    "topology": (etcd.COMPONENT,),
}
ROLES: Final = (PRIMARY, REPLICA, *COMPONENTS)
_WORKLOADS = (DEPLOYMENT, STATEFUL_SET)


class LogTarget(NamedTuple):
    """One container of a pod; `uid` tells a pod from an earlier one of the same name."""

    pod: Key
    uid: str
    container: str

    @property
    def label(self) -> str:
        return f"{self.pod.name}/{self.container}"


class LogFilter(NamedTuple):
    """`role` and `container` are empty for all."""

    role: str = ""
    container: str = ""


def log_targets(pods: Iterable[Manifest], primaries: Sequence[str], chosen: LogFilter) -> list[LogTarget]:
    """The containers that match, in the order of their pods."""
    matching = sorted((pod for pod in pods if has_role(pod, primaries, chosen.role)), key=key_of_manifest)
    return [
        LogTarget(key_of_manifest(pod), str(pod["metadata"]["uid"]), name)
        for pod in matching
        for name in _containers(pod, chosen.container)
    ]


def has_role(pod: Manifest, primaries: Sequence[str], role: str) -> bool:
    component = (pod["metadata"].get("labels") or {}).get(COMPONENT_LABEL, "")
    if role == PRIMARY:
        return pod["metadata"]["name"] in primaries
    if role == REPLICA:
        return component in COMPONENTS["server"] and pod["metadata"]["name"] not in primaries
    return not role or component in COMPONENTS[role]


def _containers(pod: Manifest, wanted: str) -> Iterator[str]:
    """Without init containers that have ended, unless one is asked for."""
    spec = pod.get("spec") or {}
    for container in spec.get("initContainers") or ():
        is_sidecar = container.get("restartPolicy") == "Always"
        if container["name"] == wanted or (not wanted and is_sidecar):
            yield container["name"]
    for container in spec.get("containers") or ():
        if wanted in ("", container["name"]):
            yield container["name"]


async def read_log_targets(client: Client, namespace: str, what: str, chosen: LogFilter) -> list[LogTarget]:
    """Raises as `find_node` does, unless a pod or workload has that name: its Tenant may be in another namespace."""
    objects = await read_objects(client, namespace)
    try:
        node = find_node(build_trees(objects), what)
    except NotFoundInTrees as error:
        single = [] if str(error) else await _pods_of_single(client, namespace, what)
        if not single:
            raise
        return log_targets(single, (), chosen)
    known = {found.ref for found in node.walk()}
    pods = [each for each in objects if each["kind"] == POD.kind and ref_of(each) in known]
    pods += await _other_pods(client, objects, node, {key_of_manifest(pod) for pod in pods})
    return log_targets(pods, node.primaries, chosen)


async def _pods_of_single(client: Client, namespace: str, what: str) -> list[Manifest]:
    """The pod of this name, or the pods of the workload of this name."""
    kind, name = parse_name(what)
    for known in (POD, *_WORKLOADS):
        if not matches_kind(kind, known.kind):
            continue
        try:
            live = await client.get(known, Key(namespace, name))
        except NotFound:
            return []
        if known == POD:
            return [live]
        query = ListQuery(namespace=namespace, label_selector=_selector(live))
        return list((await client.list(POD, query)).items) if query.label_selector else []
    return []


async def _other_pods(
    client: Client, objects: Iterable[Manifest], node: TreeNode, known: set[Key]
) -> list[Manifest]:
    """Pods of workloads without pods in the tree."""
    bare = {each.object.ref for each in _nodes(node) if _has_no_pods(each)}
    found: dict[Key, Manifest] = {}
    for workload in objects:
        if ref_of(workload) in bare and (selector := _selector(workload)):
            query = ListQuery(namespace=workload["metadata"]["namespace"], label_selector=selector)
            found |= {key_of_manifest(pod): pod for pod in (await client.list(POD, query)).items}
    return [pod for key, pod in found.items() if key not in known]


def _nodes(node: TreeNode) -> Iterator[TreeNode]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _has_no_pods(node: TreeNode) -> bool:
    return node.object.ref.kind in _WORKLOADS and all(found.ref.kind != POD for found in node.walk())


def _selector(workload: Manifest) -> str:
    labels = workload["spec"]["selector"].get("matchLabels") or {}
    return ",".join(f"{name}={value}" for name, value in labels.items())
