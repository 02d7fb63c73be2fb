"""Whether a manifest, once applied, would give us exactly the fields that we own already. Pure.

The server makes the set of owned fields from the manifest and the schema. We have no schema, but we have the set that
it made last time: its tree shows which lists have keys and which values are atomic. Three things it does not show, and
they are answered with doubts for the caller to settle: an empty list that is in no set (it has keys, or is not
owned yet), a map that is owned whole (it is atomic, or was empty when it was applied), and a top-level status
(a subresource of its own, which the server ignores, or a field like others).
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from steward.kube.managed_fields.fields_v1 import Branch, KeyedList, Leaf, Node, Positions, ValueSet
from steward.kube.objects.canonical import Path


class Vanishes(Struct, frozen=True, gc=False):
    """Holds if what is at this path leaves no trace in the set of owned fields."""

    path: Path


class Atomic(Struct, frozen=True, gc=False):
    """Holds if the map at this path is one value."""

    path: Path


Doubt = Vanishes | Atomic
Doubts = list[Doubt] | None
"""None when the sets certainly differ."""


def doubts_about(tree: Node, desired: Any) -> Doubts:
    """What must hold for the desired fields to be the owned ones; nothing when they are, None when they cannot be."""
    doubts: list[Doubt] = []
    return doubts if _same(tree, desired, doubts) else None


def refuted_by(tree: Node, applied: Any) -> Iterator[Doubt]:
    """What cannot hold, seen in the fields that the server gave us for a manifest."""
    if isinstance(tree, Branch):
        yield Atomic(tree.path)
    if isinstance(tree, Leaf) and applied == []:
        yield Vanishes(tree.path)
    for child, value in _pairs(tree, applied):
        yield from refuted_by(child, value)


def _pairs(node: Node, value: Any) -> Iterator[tuple[Node, Any]]:
    """The children that the manifest speaks of, each with what it says."""
    if isinstance(node, Branch) and type(value) is dict:
        yield from ((child, value[name]) for name, child in node.children.items() if name in value)
    if isinstance(node, KeyedList) and type(value) is list:
        yield from ((node.children[identity], item) for identity, item in node.find(value).items())


def _same(node: Node, value: Any, doubts: list[Doubt]) -> bool:
    match node:
        case Leaf():
            if type(value) is dict and value and not node.is_atomic:
                doubts.append(Atomic(node.path))
            return True
        case Branch():
            return type(value) is dict and _same_map(node, value, doubts)
        case KeyedList():
            return type(value) is list and _same_items(node, value, doubts)
        case ValueSet():
            return (
                type(value) is list
                and len(value) == len(node.values)
                and all(_is_in(node, item) for item in value)
            )
        case Positions():
            return type(value) is list and _same_places(node, value, doubts)


def _same_map(node: Branch, value: dict[str, Any], doubts: list[Doubt]) -> bool:
    found = 0
    for name, child in node.children.items():
        if name not in value or not _same(child, value[name], doubts):
            return False
        found += 1
    if found == len(value):
        return True
    return all(
        _leaves_no_trace((*node.path, name), held, doubts)
        for name, held in value.items()
        if name not in node.children
    )


def _leaves_no_trace(path: Path, value: Any, doubts: list[Doubt]) -> bool:
    if value == [] or path == ("status",):
        doubts.append(Vanishes(path))
        return True
    if type(value) is dict and value:
        return all(_leaves_no_trace((*path, name), held, doubts) for name, held in value.items())
    return False


def _same_items(node: KeyedList, items: list[Any], doubts: list[Doubt]) -> bool:
    found = node.find(items)
    if len(found) != len(node.children) or len(items) != len(found):
        return False
    return all(_same(node.children[identity], item, doubts) for identity, item in found.items())


def _is_in(node: ValueSet, item: Any) -> bool:
    return type(item) not in (dict, list) and item in node.values


def _same_places(node: Positions, items: list[Any], doubts: list[Doubt]) -> bool:
    if len(items) != len(node.children):
        return False
    return all(_same(child, items[place], doubts) for place, child in node.children.items())
