"""Decides whether applying a manifest would give us exactly the fields that we own already. Pure.

The API server derives the set of owned fields from the manifest and the schema. We do not read the schema, but the
tree of the set that we own shows which lists have keys and which values are atomic. Three things it does not show. They
become questions about the schema, which the caller answers from what the server did before:

- an empty list that is not in the set: it is a keyed list, or not owned yet;
- a map that is owned as one value: it is atomic, or was empty when it was applied;
- a top-level status: it is a subresource, which the server ignores here, or a field like others.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from steward.kube.managed_fields.fields_v1 import (
    IndexedListNode,
    KeyedListNode,
    LeafNode,
    MapNode,
    Node,
    SetNode,
)
from steward.kube.objects.canonical import Path


class Untracked(Struct, frozen=True, gc=False):
    """Does the value at this path leave no entry in the set of owned fields?"""

    path: Path


class AtomicMap(Struct, frozen=True, gc=False):
    """Is the map at this path owned as one value?"""

    path: Path


SchemaQuestion = Untracked | AtomicMap
SchemaQuestions = list[SchemaQuestion] | None
"""None when the field sets certainly differ."""


def schema_questions(tree: Node, desired: Any) -> SchemaQuestions:
    """The questions to which the answer must be yes for the desired fields to be exactly the owned ones."""
    questions: list[SchemaQuestion] = []
    return questions if _matches(tree, desired, questions) else None


def refuted_questions(tree: Node, applied: Any) -> Iterator[SchemaQuestion]:
    """The questions that this field set, which the server derived from the applied manifest, answers with no."""
    if isinstance(tree, MapNode):
        yield AtomicMap(tree.path)
    if isinstance(tree, LeafNode) and applied == []:
        yield Untracked(tree.path)
    for child, value in _applied_children(tree, applied):
        yield from refuted_questions(child, value)


def _applied_children(node: Node, value: Any) -> Iterator[tuple[Node, Any]]:
    """The child nodes that the manifest has a value for, each with that value."""
    if isinstance(node, MapNode) and type(value) is dict:
        yield from ((child, value[name]) for name, child in node.children.items() if name in value)
    if isinstance(node, KeyedListNode) and type(value) is list:
        yield from ((node.children[identity], item) for identity, item in node.find_owned(value).items())


def _matches(node: Node, value: Any, questions: list[SchemaQuestion]) -> bool:
    match node:
        case LeafNode():
            if type(value) is dict and value and not node.is_atomic:
                questions.append(AtomicMap(node.path))
            return True
        case MapNode():
            return type(value) is dict and _map_matches(node, value, questions)
        case KeyedListNode():
            return type(value) is list and _items_match(node, value, questions)
        case SetNode():
            return (
                type(value) is list
                and len(value) == len(node.values)
                and all(_contains(node, item) for item in value)
            )
        case IndexedListNode():
            return type(value) is list and _positions_match(node, value, questions)


def _map_matches(node: MapNode, value: dict[str, Any], questions: list[SchemaQuestion]) -> bool:
    found = 0
    for name, child in node.children.items():
        if name not in value or not _matches(child, value[name], questions):
            return False
        found += 1
    if found == len(value):
        return True
    return all(
        _may_be_untracked((*node.path, name), member, questions)
        for name, member in value.items()
        if name not in node.children
    )


def _may_be_untracked(path: Path, value: Any, questions: list[SchemaQuestion]) -> bool:
    if value == [] or path == ("status",):
        questions.append(Untracked(path))
        return True
    if type(value) is dict and value:
        return all(_may_be_untracked((*path, name), member, questions) for name, member in value.items())
    return False


def _items_match(node: KeyedListNode, items: list[Any], questions: list[SchemaQuestion]) -> bool:
    found = node.find_owned(items)
    if len(found) != len(node.children) or len(items) != len(found):
        return False
    return all(_matches(node.children[identity], item, questions) for identity, item in found.items())


def _contains(node: SetNode, item: Any) -> bool:
    return type(item) not in (dict, list) and item in node.values


def _positions_match(node: IndexedListNode, items: list[Any], questions: list[SchemaQuestion]) -> bool:
    if len(items) != len(node.children):
        return False
    return all(_matches(child, items[position], questions) for position, child in node.children.items())
