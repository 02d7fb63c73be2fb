"""Renders object trees as text: problems are expanded, healthy siblings of a kind are folded into one line. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import NamedTuple

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_health import BEING_DELETED, Health
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.why import find_cause

SHOWN_PRIMARIES = 3
MARKS = {Health.READY: "✓", Health.WAITING: "…", Health.FAILED: "✗"}
UPDATE_WAITS = "an update waits"


Fold = Callable[[tuple[TreeNode, ...]], Iterator[TreeNode | str]]
"""Chooses how children are drawn: a node by itself, or one line for many."""


class TreeLine(NamedTuple):
    health: Health
    text: str


def render_trees(trees: tuple[TreeNode, ...], now: float, fold: Fold | None = None) -> list[TreeLine]:
    chosen = fold or fold_healthy
    return [line for node in trees for line in _root_lines(node, now, chosen)]


def _root_lines(node: TreeNode, now: float, fold: Fold) -> Iterator[TreeLine]:
    yield TreeLine(node.worst_health, _node_text(node, now, node.object.ref.key.namespace, is_root=True))
    yield from _child_lines(node, "", now, fold)


def _child_lines(node: TreeNode, indent: str, now: float, fold: Fold) -> Iterator[TreeLine]:
    entries = list(fold(node.children))
    home = node.object.ref.key.namespace
    for number, entry in enumerate(entries):
        is_last = number == len(entries) - 1
        branch, child_indent = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        if isinstance(entry, str):
            yield TreeLine(Health.READY, f"{indent}{branch}{entry}")
            continue
        yield TreeLine(entry.worst_health, indent + branch + _node_text(entry, now, home))
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
            name, primaries = healthy[0].object.ref.key.name, describe_primaries(healthy[0].primaries)
            yield f"{MARKS[Health.READY]} {kind} {name}{primaries}"
        elif healthy:
            yield f"{MARKS[Health.READY]} {len(healthy)} × {kind}"


def _node_text(node: TreeNode, now: float, home: str, *, is_root: bool = False) -> str:
    """The namespace is shown where it is not that of the parent."""
    obj = node.object
    name = str(obj.ref.key) if is_root or obj.ref.key.namespace != home else obj.ref.key.name
    primary = f", {obj.role}" if obj.role else describe_primaries([obj.primary] if obj.primary else [])
    # A parent repeats the message of the cause below it: it is shown there, once.
    message = f": {obj.message.rstrip('.')}" if obj.message and find_cause(node) is node else ""
    update = f"; {UPDATE_WAITS}" if obj.has_pending_update and not obj.is_terminating else ""
    deletion = f"; {BEING_DELETED}" if obj.is_terminating and not message else ""
    suspended = f"; {obj.suspension}" if obj.suspension else ""
    rollout = f"; {describe_waiting(obj.waiting_tenants)}" if obj.waiting_tenants else ""
    since = format_age(obj.since, now)
    age = f" ({since})" if since else ""
    notes = f"{deletion}{suspended}{update}{rollout}"
    return f"{MARKS[node.worst_health]} {obj.ref.kind.kind} {name}{primary}{message}{age}{notes}"


def describe_waiting(count: int) -> str:
    return f"{count} Tenant{'s wait' if count > 1 else ' waits'} for others of the rollout, as maxSkew says"


def describe_primaries(pods: list[str]) -> str:
    """Names the primaries of some shards; "" if there are none."""
    if not pods:
        return ""
    more = f" and {len(pods) - SHOWN_PRIMARIES} more" if len(pods) > SHOWN_PRIMARIES else ""
    noun = "primary" if len(pods) == 1 else "primaries"
    return f", {noun} {', '.join(pods[:SHOWN_PRIMARIES])}{more}"


def fit_lines(lines: list[TreeLine], width: int, height: int) -> list[TreeLine]:
    """As many lines as the terminal has, none wider than it: the roots stay on the screen."""
    cut = [line._replace(text=_cut(line.text, width)) for line in lines]
    if len(cut) <= height:
        return cut
    shown, hidden = cut[: height - 1], cut[height - 1 :]
    worst = min(line.health for line in hidden)
    more = f"{MARKS[worst]} {len(hidden)} more lines; a name or a taller terminal shows them"
    return [*shown, TreeLine(worst, _cut(more, width))]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"
