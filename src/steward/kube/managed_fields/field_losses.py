"""Remembers which of our fields other managers have taken, and who: what a conflict of the API server would say.

A client that changes a field that we applied becomes its manager, and our entry in managedFields loses it. The cache
sees both, so that an apply that takes the field back can be sent with force at once. Without that every repair costs
two requests: one that the API server rejects with the names of the managers, and one with force.

A client that changes the merge key of a list item, such as the port number of a Service, makes another item of it. Ours
has no owner then, and an apply, which cannot know that both are the same, is rejected for two items of one name. The
last version of such an object is kept, so that a patch can restore the key at once.

Only fields that another manager owns now are remembered, until we own them again. A field of the list may also be one
that we stopped to apply: `taken_fields` compares it with what is to be applied.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from steward.kube.managed_fields.ownership import FieldSet, ManagedEntry, OwnedFields, managed_entries
from steward.kube.objects.kinds import Manifest

K = TypeVar("K")
FieldPath = tuple[str, ...]
"""The keys of a FieldsV1 entry, from its root to a leaf."""
Losses = Mapping[FieldPath, str]
"""The fields of an object that we have lost, with their managers."""
TakenFields = tuple[tuple[str, str], ...]
"""Managers, each with a field that it has taken, as conflicts of the API server have them."""

ManagerTree = tuple[str, dict[str, Any]]
"""A manager and its FieldsV1 entry."""

NO_LOSSES: Final[Losses] = {}
_UNOWNED: Final = ""

_fields = msgspec.json.Decoder(dict[str, Any])


class ChangedKeys(NamedTuple):
    """An object in which others removed named list items of ours, or gave them another merge key."""

    names: tuple[FieldPath, ...]
    """Of the items, as we applied them."""
    managers: TakenFields
    """The managers that own items of these lists now."""
    body: bytes
    """The object."""


class FieldLosses(Generic[K]):
    """The lost fields of the objects of one cache, by key, with the managers that own them now."""

    def __init__(self, manager: str) -> None:
        self._manager = manager
        self._lost: dict[K, dict[FieldPath, str]] = {}
        self._changed_keys: dict[K, ChangedKeys] = {}

    def observe(
        self, key: K, before: OwnedFields | None, after: OwnedFields | None, body: bytes | msgspec.Raw
    ) -> None:
        """A new version of an object. Cheap while its field set stays the same and nothing was lost."""
        known = self._lost.get(key)
        if known is None and (before is None or (after is not None and after.fields is before.fields)):
            return
        candidates = (set(known or ()) | _leaves_of(before)) - _leaves_of(after)
        entries = [entry for entry in managed_entries(body) if not self._is_ours(entry)]
        trees = [(entry.manager, _fields.decode(entry.fields_v1)) for entry in entries]
        lost = _owners(candidates, trees)
        names = tuple(path for path in sorted(candidates) if path not in lost and _is_item_name(path))
        self.forget(key)
        if lost or names:
            self._lost[key] = lost | dict.fromkeys(names, _UNOWNED)
        if names:
            self._changed_keys[key] = ChangedKeys(names, _list_owners(names, trees), bytes(body))

    def forget(self, key: K) -> None:
        self._lost.pop(key, None)
        self._changed_keys.pop(key, None)

    def get(self, key: K) -> Losses:
        lost = self._lost.get(key)
        if lost is None:
            return NO_LOSSES
        return {path: manager for path, manager in lost.items() if manager != _UNOWNED}

    def changed_keys(self, key: K) -> ChangedKeys | None:
        return self._changed_keys.get(key)

    def _is_ours(self, entry: ManagedEntry) -> bool:
        return entry.manager == self._manager or bool(entry.subresource)


def taken_fields(losses: Losses, manifest: Manifest) -> TakenFields:
    """The lost fields that an apply of the manifest would take back."""
    return tuple(
        (manager, format_path(path)) for path, manager in losses.items() if has_field(manifest, path)
    )


def _is_item_name(path: FieldPath) -> bool:
    """Whether it is the name of an item that has other merge keys, as ports have."""
    if len(path) < 2 or path[-1] != "f:name" or not path[-2].startswith("k:"):
        return False
    return "name" not in _fields.decode(path[-2].removeprefix("k:"))


def _list_owners(names: tuple[FieldPath, ...], trees: list[ManagerTree]) -> TakenFields:
    return tuple(
        (manager, format_path(path)) for path in names for manager, tree in trees if _owns(tree, path[:-2])
    )


def _owners(lost: set[FieldPath], trees: list[ManagerTree]) -> dict[FieldPath, str]:
    owners = {path: [manager for manager, tree in trees if _owns(tree, path)] for path in sorted(lost)}
    return {path: managers[0] for path, managers in owners.items() if managers}


def _owns(tree: Mapping[str, Any], path: FieldPath) -> bool:
    for name in path:
        if name not in tree:
            return False
        tree = tree[name]
    return True


def _leaves_of(owned: OwnedFields | None) -> set[FieldPath]:
    return set() if owned is None else set(leaf_paths(owned.fields))


def leaf_paths(fields: FieldSet) -> Iterator[FieldPath]:
    return _leaves(_fields.decode(fields.raw), ())


def _leaves(tree: Mapping[str, Any], parent: FieldPath) -> Iterator[FieldPath]:
    for name, children in tree.items():
        if name == ".":
            continue
        if children.keys() - {"."}:
            yield from _leaves(children, (*parent, name))
        else:
            yield (*parent, name)


def has_field(value: Any, path: FieldPath) -> bool:
    """Whether the value has a field at the path, whatever it is."""
    if not path:
        return True
    return any(has_field(child, path[1:]) for child in _children(value, path[0]))


def _children(value: Any, name: str) -> list[Any]:
    kind, _, step = name.partition(":")
    if kind == "f":
        return [value[step]] if isinstance(value, dict) and step in value else []
    items = value if isinstance(value, list) else []
    if kind == "k":
        keys = _fields.decode(step)
        return [item for item in items if isinstance(item, dict) and _has_keys(item, keys)]
    if kind == "v":
        return [item for item in items if item == msgspec.json.decode(step)]
    return items[int(step) : int(step) + 1]


def _has_keys(item: Mapping[str, Any], keys: Mapping[str, Any]) -> bool:
    """A key that the item leaves out has its default."""
    return all(item.get(key, expected) == expected for key, expected in keys.items())


def format_path(path: FieldPath) -> str:
    """As the API server writes it: `.spec.ports[port=80,protocol="TCP"].name`."""
    return "".join(map(_format_step, path))


def _format_step(name: str) -> str:
    kind, _, value = name.partition(":")
    if kind == "f":
        return f".{value}"
    if kind == "k":
        keys = _fields.decode(value)
        return (
            "[" + ",".join(f"{key}={msgspec.json.encode(keys[key]).decode()}" for key in sorted(keys)) + "]"
        )
    return f"[={value}]" if kind == "v" else f"[{value}]"
