"""The objects below an object, as `steward tree` draws them: problems by name, healthy siblings folded. Pure."""

from __future__ import annotations

from itertools import islice
from typing import Final

from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.render import fold_healthy
from steward.cli.inspect.why import find_cause
from steward.page.models.structs import Model, ObjectLink, health_word, object_link

SHOWN_CHILDREN: Final = 200


class TreePart(Model, frozen=True):
    """An object with its parts; or, without an object, a line about several healthy ones."""

    health: str
    text: str
    object: ObjectLink | None = None
    parts: tuple[TreePart, ...] = ()


def tree_parts(node: TreeNode) -> tuple[TreePart, ...]:
    return tuple(_part(entry) for entry in islice(fold_healthy(node.children), SHOWN_CHILDREN))


def _part(entry: TreeNode | str) -> TreePart:
    if isinstance(entry, str):
        return TreePart("ready", entry.partition(" ")[2])
    obj = entry.object
    text = obj.message if find_cause(entry) is entry else ""
    return TreePart(health_word(entry.worst_health), text, object_link(obj.ref), tree_parts(entry))
