"""Parses a FieldsV1 entry of managedFields into a tree, and collects the values of an object along it.

The API writes a set of paths as nested JSON: `f:name` is a field, `k:{...}` an item of a list with keys, `v:...` a
value of a set, `i:n` an item by position, `.` the parent itself. An entry without children owns the value at its path
as a whole: a scalar, an atomic list or map, or one that was empty when it was applied.

`collect` appends the values of an object at the owned paths, in the order of the tree. The order is the same for every
object, so two objects are compared value by value without their paths.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from steward.kube.objects.canonical import Canonical, Path, canonical_for, is_atomic_map
from steward.kube.objects.kinds import Kind

ABSENT: Final = object()
# The only key of built-in lists with a default.
_KEY_DEFAULTS: Final = {"protocol": "TCP"}


class LeafNode:
    """A value that is owned as a whole."""

    __slots__ = ("canonical", "is_atomic", "path")

    def __init__(self, path: Path, canonical: Canonical, is_atomic: bool) -> None:
        self.path = path
        self.canonical = canonical
        self.is_atomic = is_atomic
        """Known to be atomic: a map here is always owned as a whole, not only when it was applied empty."""

    def collect(self, value: Any, out: list[Any]) -> None:
        out.append(self.canonical(value))

    def collect_missing(self, out: list[Any]) -> None:
        out.append(None)

    def leaf_paths(self) -> Iterator[Path]:
        yield self.path


class MapNode:
    """A map of which some fields are owned."""

    __slots__ = ("_steps", "children", "path")

    def __init__(self, path: Path, children: dict[str, "Node"]) -> None:
        self.path = path
        self.children = children
        # Most children are leaves; their values are made canonical here, which saves a call for each.
        self._steps = [
            (name, child, child.canonical if isinstance(child, LeafNode) else None)
            for name, child in children.items()
        ]

    def collect(self, value: Any, out: list[Any]) -> None:
        if type(value) is not dict:
            self.collect_missing(out)
            return
        get = value.get
        for name, child, canonical in self._steps:
            member = get(name)
            if member is None:
                child.collect_missing(out)
            elif canonical is not None:
                out.append(canonical(member))
            else:
                child.collect(member, out)

    def collect_missing(self, out: list[Any]) -> None:
        for child in self.children.values():
            child.collect_missing(out)

    def leaf_paths(self) -> Iterator[Path]:
        for child in self.children.values():
            yield from child.leaf_paths()


class KeyedListNode:
    """A list whose items are identified by key fields; the order of our items counts as a value."""

    __slots__ = ("children", "keys", "path")

    def __init__(self, path: Path, keys: tuple[str, ...], children: dict[tuple[Any, ...], "Node"]) -> None:
        self.path = path
        self.keys = keys
        self.children = children

    def collect(self, value: Any, out: list[Any]) -> None:
        if type(value) is not list:
            self.collect_missing(out)
            return
        items = self.find_owned(value)
        out.append(self._item_order(items))
        for identity, child in self.children.items():
            item = items.get(identity)
            if item is None:
                child.collect_missing(out)
            else:
                child.collect(item, out)

    def find_owned(self, items: list[Any]) -> dict[tuple[Any, ...], Any]:
        """The owned items of a list, in the list's order."""
        found: dict[tuple[Any, ...], Any] = {}
        for item in items:
            identity = self.identity_of(item)
            if identity is not None:
                found[identity] = item
        return found

    def identity_of(self, item: Any) -> tuple[Any, ...] | None:
        if type(item) is not dict:
            return None
        identity = tuple([item.get(key, ABSENT) for key in self.keys])
        try:
            if identity in self.children:
                return identity
        except TypeError:
            # A key that is no scalar: the API server will reject it.
            return None
        return self._identity_with_defaults(identity) if ABSENT in identity else None

    def _identity_with_defaults(self, given: tuple[Any, ...]) -> tuple[Any, ...] | None:
        # FieldsV1 has the schema's default for a key that the manifest leaves out (a port's protocol is TCP).
        with_defaults = tuple(
            _KEY_DEFAULTS.get(key) if value is ABSENT else value
            for key, value in zip(self.keys, given, strict=True)
        )
        if with_defaults in self.children:
            return with_defaults
        matching = [
            identity
            for identity in self.children
            if all(value is ABSENT or value == owned for value, owned in zip(given, identity, strict=True))
        ]
        return matching[0] if len(matching) == 1 else None

    def _item_order(self, found: dict[tuple[Any, ...], Any]) -> str | None:
        if len(self.children) < 2:
            return None
        position = {identity: number for number, identity in enumerate(self.children)}
        return ",".join(str(position[identity]) for identity in found)

    def collect_missing(self, out: list[Any]) -> None:
        out.append(None)
        for child in self.children.values():
            child.collect_missing(out)

    def leaf_paths(self) -> Iterator[Path]:
        yield (*self.path, "order")
        for child in self.children.values():
            yield from child.leaf_paths()


class SetNode:
    """A list that is a set of scalars; the value is those of our items that it holds."""

    __slots__ = ("path", "values")

    def __init__(self, path: Path, values: frozenset[Any]) -> None:
        self.path = path
        self.values = values

    def collect(self, value: Any, out: list[Any]) -> None:
        items = value if type(value) is list else ()
        ours = sorted(str(item) for item in items if type(item) not in (dict, list) and item in self.values)
        out.append("\0".join(ours))

    def collect_missing(self, out: list[Any]) -> None:
        out.append("")

    def leaf_paths(self) -> Iterator[Path]:
        yield self.path


class IndexedListNode:
    """A list whose items are owned by their position."""

    __slots__ = ("children", "path")

    def __init__(self, path: Path, children: dict[int, "Node"]) -> None:
        self.path = path
        self.children = children

    def collect(self, value: Any, out: list[Any]) -> None:
        items = value if type(value) is list else []
        for position, child in self.children.items():
            if position < len(items):
                child.collect(items[position], out)
            else:
                child.collect_missing(out)

    def collect_missing(self, out: list[Any]) -> None:
        for child in self.children.values():
            child.collect_missing(out)

    def leaf_paths(self) -> Iterator[Path]:
        for child in self.children.values():
            yield from child.leaf_paths()


Node = LeafNode | MapNode | KeyedListNode | SetNode | IndexedListNode


def parse_fields_v1(kind: Kind, raw: bytes) -> Node:
    """The tree of one managedFields entry of an object of this kind."""
    return _node(kind, (), msgspec.json.decode(raw))


def _node(kind: Kind, path: Path, entry: dict[str, Any]) -> Node:
    members = {name: below for name, below in entry.items() if name != "."}
    if not members:
        return (
            MapNode(path, {})
            if not path
            else LeafNode(path, canonical_for(kind, path), is_atomic_map(kind, path))
        )
    match next(iter(members))[:2]:
        case "f:":
            return _map_node(kind, path, members)
        case "k:":
            return _keyed_list(kind, path, members)
        case "v:":
            return SetNode(path, frozenset(msgspec.json.decode(name[2:]) for name in members))
        case "i:":
            return IndexedListNode(
                path, {int(name[2:]): _node(kind, (*path, name), below) for name, below in members.items()}
            )
        case other:
            raise ValueError(f"managedFields of {kind}: unknown path element {other!r} at {'.'.join(path)}")


def _map_node(kind: Kind, path: Path, members: dict[str, Any]) -> MapNode:
    return MapNode(path, {name[2:]: _node(kind, (*path, name[2:]), below) for name, below in members.items()})


def _keyed_list(kind: Kind, path: Path, members: dict[str, Any]) -> KeyedListNode:
    identities = {name: msgspec.json.decode(name[2:], type=dict[str, Any]) for name in members}
    keys = tuple(next(iter(identities.values())))
    children = {
        tuple(identity.get(key, ABSENT) for key in keys): _node(kind, (*path, name), members[name])
        for name, identity in identities.items()
    }
    return KeyedListNode(path, keys, children)
