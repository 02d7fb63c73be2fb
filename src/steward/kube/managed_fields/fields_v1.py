"""A FieldsV1 entry of managedFields as a tree, and the walk of that tree beside an object.

The API writes a set of paths as nested JSON: `f:name` is a field, `k:{...}` an item of a list with keys, `v:...` a
value of a set, `i:n` an item by position, `.` the parent itself. An entry without children owns the whole value
below it: a scalar, an atomic list or map, or one that was empty when it was applied.

`collect` returns, in the order of the tree, what an object holds at the owned paths; the same tree gives the same
order for every object, so two objects are compared value by value without their paths.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from steward.kube.objects.canonical import Canonical, Path, canonical_for, is_atomic_map
from steward.kube.objects.kinds import Kind

ABSENT: Final = object()
# The one key of built-in lists that has a default.
_USUAL: Final = {"protocol": "TCP"}


class Leaf:
    """A value owned whole."""

    __slots__ = ("canonical", "is_atomic", "path")

    def __init__(self, path: Path, canonical: Canonical, is_atomic: bool) -> None:
        self.path = path
        self.canonical = canonical
        self.is_atomic = is_atomic
        """Known to be atomic: a map here is owned whole, not just for being empty once."""

    def collect(self, value: Any, out: list[Any]) -> None:
        out.append(self.canonical(value))

    def blank(self, out: list[Any]) -> None:
        out.append(None)

    def leaves(self) -> Iterator[Path]:
        yield self.path


class Branch:
    """A map of which some fields are owned."""

    __slots__ = ("_steps", "children", "path")

    def __init__(self, path: Path, children: dict[str, "Node"]) -> None:
        self.path = path
        self.children = children
        # Most children are leaves: they are spelt on the spot, without a call between.
        self._steps = [
            (name, child, child.canonical if isinstance(child, Leaf) else None)
            for name, child in children.items()
        ]

    def collect(self, value: Any, out: list[Any]) -> None:
        if type(value) is not dict:
            self.blank(out)
            return
        get = value.get
        for name, child, canonical in self._steps:
            held = get(name)
            if held is None:
                child.blank(out)
            elif canonical is not None:
                out.append(canonical(held))
            else:
                child.collect(held, out)

    def blank(self, out: list[Any]) -> None:
        for child in self.children.values():
            child.blank(out)

    def leaves(self) -> Iterator[Path]:
        for child in self.children.values():
            yield from child.leaves()


class KeyedList:
    """A list whose items are told apart by some of their fields; the order of our items counts as a value."""

    __slots__ = ("children", "keys", "path")

    def __init__(self, path: Path, keys: tuple[str, ...], children: dict[tuple[Any, ...], "Node"]) -> None:
        self.path = path
        self.keys = keys
        self.children = children

    def collect(self, value: Any, out: list[Any]) -> None:
        if type(value) is not list:
            self.blank(out)
            return
        items = self.find(value)
        out.append(self._order(items))
        for identity, child in self.children.items():
            item = items.get(identity)
            if item is None:
                child.blank(out)
            else:
                child.collect(item, out)

    def find(self, items: list[Any]) -> dict[tuple[Any, ...], Any]:
        """The owned items among those of a list, in the list's order."""
        found: dict[tuple[Any, ...], Any] = {}
        for item in items:
            identity = self.identify(item)
            if identity is not None:
                found[identity] = item
        return found

    def identify(self, item: Any) -> tuple[Any, ...] | None:
        if type(item) is not dict:
            return None
        identity = tuple([item.get(key, ABSENT) for key in self.keys])
        try:
            if identity in self.children:
                return identity
        except TypeError:
            # A key that is no scalar: the server will say so.
            return None
        return self._by_default(identity) if ABSENT in identity else None

    def _by_default(self, given: tuple[Any, ...]) -> tuple[Any, ...] | None:
        # A key that the manifest leaves out has the schema's default in FieldsV1 (a port's protocol is TCP).
        usual = tuple(
            _USUAL.get(key) if mine is ABSENT else mine for key, mine in zip(self.keys, given, strict=True)
        )
        if usual in self.children:
            return usual
        fits = [
            identity
            for identity in self.children
            if all(mine is ABSENT or mine == theirs for mine, theirs in zip(given, identity, strict=True))
        ]
        return fits[0] if len(fits) == 1 else None

    def _order(self, found: dict[tuple[Any, ...], Any]) -> str | None:
        if len(self.children) < 2:
            return None
        place = {identity: number for number, identity in enumerate(self.children)}
        return ",".join(str(place[identity]) for identity in found)

    def blank(self, out: list[Any]) -> None:
        out.append(None)
        for child in self.children.values():
            child.blank(out)

    def leaves(self) -> Iterator[Path]:
        yield (*self.path, "order")
        for child in self.children.values():
            yield from child.leaves()


class ValueSet:
    """A list that is a set of scalars: which of our values it holds."""

    __slots__ = ("path", "values")

    def __init__(self, path: Path, values: frozenset[Any]) -> None:
        self.path = path
        self.values = values

    def collect(self, value: Any, out: list[Any]) -> None:
        held = value if type(value) is list else ()
        ours = sorted(str(item) for item in held if type(item) not in (dict, list) and item in self.values)
        out.append("\0".join(ours))

    def blank(self, out: list[Any]) -> None:
        out.append("")

    def leaves(self) -> Iterator[Path]:
        yield self.path


class Positions:
    """A list whose items are owned by their place."""

    __slots__ = ("children", "path")

    def __init__(self, path: Path, children: dict[int, "Node"]) -> None:
        self.path = path
        self.children = children

    def collect(self, value: Any, out: list[Any]) -> None:
        held = value if type(value) is list else []
        for place, child in self.children.items():
            if place < len(held):
                child.collect(held[place], out)
            else:
                child.blank(out)

    def blank(self, out: list[Any]) -> None:
        for child in self.children.values():
            child.blank(out)

    def leaves(self) -> Iterator[Path]:
        for child in self.children.values():
            yield from child.leaves()


Node = Leaf | Branch | KeyedList | ValueSet | Positions


def parse_fields(kind: Kind, raw: bytes) -> Node:
    """The tree of one managedFields entry of an object of this kind."""
    return _node(kind, (), msgspec.json.decode(raw))


def _node(kind: Kind, path: Path, entry: dict[str, Any]) -> Node:
    members = {name: below for name, below in entry.items() if name != "."}
    if not members:
        return (
            Branch(path, {}) if not path else Leaf(path, canonical_for(kind, path), is_atomic_map(kind, path))
        )
    match next(iter(members))[:2]:
        case "f:":
            return _branch(kind, path, members)
        case "k:":
            return _keyed_list(kind, path, members)
        case "v:":
            return ValueSet(path, frozenset(msgspec.json.decode(name[2:]) for name in members))
        case "i:":
            return Positions(
                path, {int(name[2:]): _node(kind, (*path, name), below) for name, below in members.items()}
            )
        case other:
            raise ValueError(f"managedFields of {kind}: unknown path element {other!r} at {'.'.join(path)}")


def _branch(kind: Kind, path: Path, members: dict[str, Any]) -> Branch:
    return Branch(path, {name[2:]: _node(kind, (*path, name[2:]), below) for name, below in members.items()})


def _keyed_list(kind: Kind, path: Path, members: dict[str, Any]) -> KeyedList:
    identities = {name: msgspec.json.decode(name[2:], type=dict[str, Any]) for name in members}
    keys = tuple(next(iter(identities.values())))
    children = {
        tuple(identity.get(key, ABSENT) for key in keys): _node(kind, (*path, name), members[name])
        for name, identity in identities.items()
    }
    return KeyedList(path, keys, children)
