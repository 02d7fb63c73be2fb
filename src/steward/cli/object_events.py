"""Events of an object and of everything below it. The selection is pure.

Events are matched by kind, namespace and name, not by uid: those of an earlier pod of the same name explain the present
one. Pods of workloads from tenant templates carry only labels of the template, and pods that are gone are in no list:
both are matched by the names that Kubernetes gives them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from steward.cli.inspect.object_tree import TreeNode
from steward.cli.object_names import matches_kind
from steward.kube.client.client import Client
from steward.kube.errors import Forbidden
from steward.kube.objects.kinds import DEPLOYMENT, EVENT, STATEFUL_SET, Key, Manifest, Ref
from steward.kube.objects.options import ListQuery

NAMED_ALONE = ("MultigresCluster", "TenantRegistry", "TenantTemplate", "Tenant")
"""The kinds that a name without a kind may mean."""
_FEW_NAMESPACES = 20
_SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]"  # the letters of generated names
_POD, _REPLICA_SET, _CLAIM = "Pod", "ReplicaSet", "PersistentVolumeClaim"


class ObjectEvent(NamedTuple):
    """`time` is when it happened last, `times` how often it is known to have happened."""

    time: str
    type: str
    kind: str
    key: Key
    reason: str
    message: str
    times: int
    uid: str


def read_event(manifest: Manifest) -> ObjectEvent:
    """Events of old and new reporters: the API server fills the fields of the other kind with null."""
    series, about = manifest.get("series") or {}, manifest.get("regarding") or {}
    times = (
        series.get("lastObservedTime"),
        manifest.get("deprecatedLastTimestamp"),
        manifest.get("eventTime"),
        manifest["metadata"].get("creationTimestamp"),
    )
    return ObjectEvent(
        next((str(time) for time in times if time), ""),
        str(manifest.get("type") or "Normal"),
        str(about.get("kind") or ""),
        Key(str(about.get("namespace") or ""), str(about.get("name") or "")),
        str(manifest.get("reason") or ""),
        _one_line(str(manifest.get("note") or "")),
        int(series.get("count") or manifest.get("deprecatedCount") or 1),
        str(manifest["metadata"]["uid"]),
    )


def _one_line(text: str) -> str:
    """Without line breaks and control characters: everybody who may create events chooses their text."""
    return "".join(each if each.isprintable() else "?" for each in " ".join(text.split()))


def find_nodes(trees: Iterable[TreeNode], what: str) -> list[TreeNode]:
    """The nodes named `KIND/NAME` or `NAME`, none of which is below another; all trees if `what` is empty."""
    if not what:
        return list(trees)
    kind, _, name = what.rpartition("/")
    return list(_named_nodes(trees, kind, name))


def _named_nodes(trees: Iterable[TreeNode], kind: str, name: str) -> Iterator[TreeNode]:
    for node in trees:
        ref = node.object.ref
        is_kind = matches_kind(kind, ref.kind.kind) if kind else ref.kind.kind in NAMED_ALONE
        if is_kind and ref.key.name == name:
            yield node
        else:
            yield from _named_nodes(node.children, kind, name)


class EventFilter:
    """Selects the events of the objects of some trees."""

    def __init__(self, nodes: Iterable[TreeNode]) -> None:
        refs = [found.ref for node in nodes for found in node.walk()]
        self._named = {(ref.kind.kind, ref.key) for ref in refs}
        self._patterns: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
        for ref in refs:
            for kind, pattern in _generated_names(ref):
                self._patterns.setdefault(kind, []).append((ref.key.namespace, re.compile(pattern)))

    def matches(self, event: ObjectEvent) -> bool:
        if (event.kind, event.key) in self._named:
            return True
        return any(
            namespace == event.key.namespace and pattern.fullmatch(event.key.name)
            for namespace, pattern in self._patterns.get(event.kind, ())
        )


def _generated_names(ref: Ref) -> tuple[tuple[str, str], ...]:
    """Kinds and names that Kubernetes gives to the objects of a workload."""
    name = re.escape(ref.key.name)
    if ref.kind == DEPLOYMENT:
        replica_set = f"{name}-{_SUFFIX}{{1,10}}"
        return (_REPLICA_SET, replica_set), (_POD, f"{replica_set}-{_SUFFIX}{{5}}")
    if ref.kind == STATEFUL_SET:
        return (_POD, rf"{name}-\d+"), (_CLAIM, rf".+-{name}-\d+")
    return ()


def select_events(nodes: Iterable[TreeNode], events: Iterable[Manifest]) -> list[ObjectEvent]:
    """The events of these nodes and of everything below them, oldest first."""
    chosen = EventFilter(nodes)
    return sorted(event for event in map(read_event, events) if chosen.matches(event))


def other_namespaces(nodes: Iterable[TreeNode], home: str) -> list[str]:
    """The namespaces of Tenants' objects that are not in `home`; none if there are many. Pure."""
    found = {obj.ref.key.namespace for node in nodes for obj in node.walk()} - {"", home}
    return sorted(found) if len(found) <= _FEW_NAMESPACES else []


async def read_allowed_events(client: Client, namespace: str) -> list[Manifest]:
    """None for a user who may not list them."""
    try:
        return await read_events(client, namespace)
    except Forbidden:
        return []


async def read_events(client: Client, namespace: str) -> list[Manifest]:
    return list((await client.list(EVENT, ListQuery(namespace=namespace))).items)


def event_dict(event: ObjectEvent) -> dict[str, Any]:
    return {
        "time": event.time,
        "type": event.type,
        "kind": event.kind,
        "namespace": event.key.namespace,
        "name": event.key.name,
        "reason": event.reason,
        "message": event.message,
        "count": event.times,
    }


def event_cells(event: ObjectEvent) -> list[str]:
    """One line of the table."""
    count = f" (×{event.times})" if event.times > 1 else ""
    time = f"{event.time[:19]}Z" if event.time else "-"
    return [time, event.type, f"{event.kind} {event.key}", event.reason, event.message + count]
