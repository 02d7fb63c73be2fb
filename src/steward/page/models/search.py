"""Search over every object that the reader sees. Pure."""

from __future__ import annotations

from typing import Final

from steward.cli.inspect.object_health import Health
from steward.cli.inspect.object_tree import ROOTS, TreeNode
from steward.kube.objects.kinds import Ref
from steward.page.inventory.inventory import TEMPLATE, TENANT
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.addresses import object_address
from steward.page.models.now import template_address
from steward.page.models.structs import Model, ObjectLink, health_word

MOST: Final = 50
_FIRST_KINDS: Final = (*ROOTS, TENANT)


class SearchHit(Model, frozen=True):
    """`text` tells what matched besides the name: the uid of a Tenant, or what the object belongs to."""

    object: ObjectLink
    health: str
    text: str


class SearchResult(Model, frozen=True):
    """`is_reading` says that more may be found when everything has been read."""

    hits: list[SearchHit]
    is_reading: bool


def search(snapshot: Snapshot, query: str) -> SearchResult:
    return SearchResult(_hits(snapshot, query), snapshot.is_reading)


def _hits(snapshot: Snapshot, query: str) -> list[SearchHit]:
    """Objects whose name, namespace or uid has every word of the query; whole names and roots first."""
    words = query.casefold().split()
    if not words:
        return []
    found: list[tuple[tuple[bool, bool, int, str], TreeNode, TreeNode]] = []
    for root in snapshot.trees:
        for node, viewed in _nodes(root, root):
            if all(word in _text(node, snapshot) for word in words):
                found.append((_rank(node, words[0]), node, viewed))
    found.sort(key=lambda each: each[0])
    return [_hit(node, viewed, snapshot) for _, node, viewed in found[:MOST]]


def _nodes(node: TreeNode, viewed: TreeNode) -> list[tuple[TreeNode, TreeNode]]:
    """Every node, with the nearest one above it that has a view."""
    pending, found = [(node, viewed)], []
    while pending:
        current, above = pending.pop()
        nearest = current if object_address(current.object.ref) else above
        found.append((current, nearest))
        pending.extend((child, nearest) for child in current.children)
    return found


def _text(node: TreeNode, snapshot: Snapshot) -> str:
    ref = node.object.ref
    facts = snapshot.inventory.tenants.get(ref.key) if ref.kind == TENANT else None
    uid = facts.uid if facts else ""
    return f"{ref.kind.kind} {ref.key.namespace}/{ref.key.name} {uid}".casefold()


def _rank(node: TreeNode, word: str) -> tuple[bool, bool, int, str]:
    ref = node.object.ref
    is_first = ref.kind in _FIRST_KINDS
    return ref.key.name != word, not is_first, _FIRST_KINDS.index(ref.kind) if is_first else 9, str(ref.key)


def _hit(node: TreeNode, viewed: TreeNode, snapshot: Snapshot) -> SearchHit:
    ref = node.object.ref
    link = ObjectLink(ref.kind.kind, ref.key.namespace, ref.key.name, _address(viewed.object.ref, snapshot))
    facts = snapshot.inventory.tenants.get(ref.key) if ref.kind == TENANT else None
    above = "" if viewed is node else f"in {viewed.object.ref.kind.kind} {viewed.object.ref.key.name}"
    text = facts.uid if facts else above
    health = node.worst_health if node.children else node.object.health
    return SearchHit(link, health_word(Health(health)), text)


def _address(ref: Ref, snapshot: Snapshot) -> str:
    template = snapshot.manifest(TEMPLATE, ref.key) if ref.kind == TEMPLATE else None
    return template_address(template) if template else object_address(ref)
