"""The state of a workspace at one moment: trees of objects, and the inventory behind them. Does no I/O."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from steward.cli.inspect.object_health import Health, describe_ready_tenants
from steward.cli.inspect.object_tree import ROOTS, TreeNode, TreeObject, link_trees
from steward.cli.object_events import ObjectEvent
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.multigres.cache_rules import CLUSTER
from steward.page.inventory.inventory import REGISTRY, TENANT, Inventory

UNREAD_PARTS: Final = "its parts are being read"


class RootNode(TreeNode):
    """A root that remembers its worst health: a sentence about a registry asks for it five times, and each time ten
    thousand Tenants and their objects would be walked through."""

    @cached_property
    def worst_health(self) -> Health:
        return min(obj.health for obj in self.walk())


@dataclass(frozen=True)
class Forest:
    """The trees of one moment, and what is derived from them. Snapshots that differ only in time share it, so that a
    reader who comes later, or an age that is formatted again, does not walk through all objects."""

    trees: tuple[TreeNode, ...] = ()

    @cached_property
    def nodes(self) -> dict[Ref, TreeNode]:
        found: dict[Ref, TreeNode] = {}
        pending = list(self.trees)
        while pending:
            node = pending.pop()
            found[node.object.ref] = node
            pending.extend(node.children)
        return found

    @cached_property
    def tenant_health(self) -> dict[Key, Health]:
        """What `TreeNode.worst_health` computes again at each call, of all Tenants."""
        return {ref.key: node.worst_health for ref, node in self.nodes.items() if ref.kind == TENANT}

    @cached_property
    def cluster_parents(self) -> dict[Key, Ref]:
        """By cluster, the object that it is a part of."""
        return {
            child.object.ref.key: ref
            for ref, node in self.nodes.items()
            for child in node.children
            if child.object.ref.kind == CLUSTER
        }


@dataclass(frozen=True)
class Snapshot:
    """`now` is the time for which ages are formatted, `problems` says what cannot be watched.

    `objects_read` counts what has arrived of the first lists; it is None when they are complete. Until then the trees
    are roots without children.
    """

    inventory: Inventory
    forest: Forest = field(default_factory=Forest)
    version: int = 0
    now: float = field(default_factory=time.time)
    problems: tuple[str, ...] = ()
    events: Callable[[str], Iterable[ObjectEvent]] = lambda namespace: ()
    objects_read: int | None = None
    are_clusters_known: bool = False
    """Whether a cluster that is not in the inventory does not exist: the reader may list all, and they are read."""

    @property
    def trees(self) -> tuple[TreeNode, ...]:
        return self.forest.trees

    @property
    def is_reading(self) -> bool:
        return self.objects_read is not None

    def node(self, kind: Kind, key: Key) -> TreeNode | None:
        found = self.forest.nodes.get(Ref(kind, key))
        if found is None and self.is_reading:
            known = self.inventory.objects.get(Ref(kind, key))
            return None if known is None else node_without_parts(known, self.inventory)
        return found

    def manifest(self, kind: Kind, key: Key) -> Manifest | None:
        return self.inventory.manifest(kind, key)


def take_snapshot(inventory: Inventory, version: int, problems: tuple[str, ...] = ()) -> Snapshot:
    forest = Forest(tuple(RootNode(*node) for node in link_trees(list(inventory.objects.values()))))
    return Snapshot(inventory, forest, version, problems=problems)


def take_first_snapshot(inventory: Inventory, version: int) -> Snapshot:
    """Roots alone, while their parts are being read: clusters, registries and templates are few, and their statuses
    have the counts of what is below them. Clusters of Tenants are left out, because they are no roots later."""
    roots = [each for each in inventory.objects.values() if each.ref.kind in ROOTS]
    shown = [each for each in roots if each.ref.kind != CLUSTER or not each.owner]
    trees = tuple(node_without_parts(node.object, inventory) for node in link_trees(shown))
    return Snapshot(inventory, Forest(trees), version, objects_read=len(inventory.objects))


def node_without_parts(obj: TreeObject, inventory: Inventory) -> RootNode:
    """The sentence about it must not count parts that have not been read."""
    summary = obj.summary or _summary(
        inventory.manifest(REGISTRY, obj.ref.key) if obj.ref.kind == REGISTRY else None
    )
    return RootNode(obj._replace(summary=summary), ())


def _summary(registry: Manifest | None) -> str:
    if registry is None:
        return UNREAD_PARTS
    status = registry.get("status") or {}
    return describe_ready_tenants(status.get("ready", 0), status.get("desired", 0))
