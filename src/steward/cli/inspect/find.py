"""Finds a node of the trees by KIND/NAME or by a name alone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from steward.cli.inspect.object_tree import KINDS, TreeNode
from steward.cli.object_names import matches_kind

Trees = tuple[TreeNode, ...]


class NotFoundInTrees(LookupError):
    """No node, or several nodes, have this name: the message says which."""


def parse_name(what: str) -> tuple[str, str]:
    """The kind, "" if none is given, and the name. Raises ValueError for a kind that is not shown."""
    kind, slash, name = what.rpartition("/")
    if slash and not (kind and name):
        raise ValueError(f"{what} is not KIND/NAME: try multigrescluster/{kind or name}")
    if kind and not any(matches_kind(kind, shown.kind) for shown in KINDS):
        shown = ", ".join(shown.kind.lower() for shown in KINDS)
        raise ValueError(f"{kind} is not a kind that Steward shows; there are: {shown}")
    return kind, name


def find_node(trees: Trees, what: str) -> TreeNode:
    """The node of this name. Of several with a bare name, the one that is nearest to a root, if there is only one."""
    kind, name = parse_name(what)
    found = sorted(_matching(trees, kind, name, 0), key=lambda pair: pair[0])
    if not found:
        raise NotFoundInTrees("")
    nearest = [node for depth, node in found if depth == found[0][0]]
    if not kind and len(nearest) > 1:
        names = ", ".join(
            f"{each.object.ref.kind.kind.lower()}/{name} in {each.object.ref.key.namespace}"
            for each in nearest
        )
        raise NotFoundInTrees(f"{name} is the name of several objects: {names}")
    return with_tenants(nearest[0], trees)


def _matching(trees: Trees, kind: str, name: str, depth: int) -> Iterator[tuple[int, TreeNode]]:
    for node in trees:
        ref = node.object.ref
        if ref.key.name == name and (not kind or matches_kind(kind, ref.kind.kind)):
            yield depth, node
        yield from _matching(node.children, kind, name, depth + 1)


def with_tenants(node: TreeNode, trees: Trees) -> TreeNode:
    """A TenantTemplate with its Tenants as children, so that its cause is found among them; their registry owns them
    in the trees."""
    key = node.object.ref.key
    if node.object.ref.kind.kind != "TenantTemplate":
        return node
    tenants = (
        child
        for root in trees
        for child in root.children
        if child.object.ref.kind.kind == "Tenant" and child.object.template == str(key)
    )
    return node._replace(children=tuple(tenants))


def node_finder(what: str) -> Callable[[Trees], Trees]:
    """Selects the node of this name, for `read_trees_with_pods`."""

    def find(trees: Trees) -> Trees:
        try:
            return (find_node(trees, what),)
        except NotFoundInTrees:
            return ()

    return find
