"""The state of a workspace at one moment: trees of objects, and the inventory behind them. Does no I/O."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from steward.cli.inspect.object_tree import TreeNode, link_trees
from steward.cli.object_events import ObjectEvent
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.page.inventory.inventory import Inventory


@dataclass(frozen=True)
class Snapshot:
    """`now` is the time for which ages are formatted, `problems` says what cannot be watched."""

    inventory: Inventory
    trees: tuple[TreeNode, ...] = ()
    version: int = 0
    now: float = field(default_factory=time.time)
    problems: tuple[str, ...] = ()
    events: Callable[[str], Iterable[ObjectEvent]] = lambda namespace: ()

    @cached_property
    def nodes(self) -> dict[Ref, TreeNode]:
        found: dict[Ref, TreeNode] = {}
        pending = list(self.trees)
        while pending:
            node = pending.pop()
            found[node.object.ref] = node
            pending.extend(node.children)
        return found

    def node(self, kind: Kind, key: Key) -> TreeNode | None:
        return self.nodes.get(Ref(kind, key))

    def manifest(self, kind: Kind, key: Key) -> Manifest | None:
        return self.inventory.manifest(kind, key)


def take_snapshot(inventory: Inventory, version: int, problems: tuple[str, ...] = ()) -> Snapshot:
    return Snapshot(inventory, link_trees(list(inventory.objects.values())), version, problems=problems)
