"""Renders object trees as text: problems are expanded, healthy siblings of a kind are folded into one line. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_tree import Health, TreeNode

MARKS = {Health.READY: "✓", Health.WAITING: "…", Health.FAILED: "✗"}


Fold = Callable[[tuple[TreeNode, ...]], Iterator[TreeNode | str]]
"""Chooses how children are drawn: a node by itself, or one line for many."""


class TreeLine(NamedTuple):
    health: Health
    text: str


def render_trees(trees: tuple[TreeNode, ...], now: float, fold: Fold | None = None) -> list[TreeLine]:
    chosen = fold or fold_healthy
    return [line for node in trees for line in _root_lines(node, now, chosen)]


def _root_lines(node: TreeNode, now: float, fold: Fold) -> Iterator[TreeLine]:
    yield TreeLine(node.object.health, _node_text(node, now, with_namespace=True))
    if not node.is_healthy or node.children:
        yield from _child_lines(node, "", now, fold)


def _child_lines(node: TreeNode, indent: str, now: float, fold: Fold) -> Iterator[TreeLine]:
    entries = list(fold(node.children))
    for number, entry in enumerate(entries):
        is_last = number == len(entries) - 1
        branch, child_indent = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        if isinstance(entry, str):
            yield TreeLine(Health.READY, f"{indent}{branch}{entry}")
            continue
        yield TreeLine(entry.object.health, indent + branch + _node_text(entry, now, with_namespace=False))
        yield from _child_lines(entry, indent + child_indent, now, fold)


def unfolded(children: tuple[TreeNode, ...]) -> Iterator[TreeNode | str]:
    """Draws every child."""
    return iter(children)


def fold_healthy(children: tuple[TreeNode, ...]) -> Iterator[TreeNode | str]:
    """Draws unhealthy children one by one, and the healthy children of a kind as one line."""
    for kind, siblings in groupby(children, key=lambda child: child.object.ref.kind.kind):
        listed = list(siblings)
        healthy = [child for child in listed if child.is_healthy]
        yield from (child for child in listed if not child.is_healthy)
        if len(healthy) == 1:
            yield f"{MARKS[Health.READY]} {kind} {healthy[0].object.ref.key.name}"
        elif healthy:
            yield f"{MARKS[Health.READY]} {len(healthy)} × {kind}"


def _node_text(node: TreeNode, now: float, *, with_namespace: bool) -> str:
    obj = node.object
    name = str(obj.ref.key) if with_namespace else obj.ref.key.name
    message = f": {obj.message}" if obj.message else ""
    since = format_age(obj.since, now)
    age = f" ({since})" if since else ""
    return f"{MARKS[obj.health]} {obj.ref.kind.kind} {name}{message}{age}"
