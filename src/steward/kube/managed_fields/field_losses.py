"""Remembers which of our fields other managers have taken, and who: what a conflict of the API server would say.

A client that changes a field that we applied becomes its manager, and our entry in managedFields loses it. The cache
sees both, so that an apply that takes the field back can be sent with force at once. Without that every repair costs
two requests: one that the API server rejects with the names of the managers, and one with force.

Only fields that another manager owns now are remembered, until we own them again. A field of the list may also be one
that we stopped to apply: `taken_fields` compares it with what is to be applied.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, TypeVar

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

NO_LOSSES: Final[Losses] = {}

_fields = msgspec.json.Decoder(dict[str, Any])


class FieldLosses(Generic[K]):
    """The lost fields of the objects of one cache, by key, with the managers that own them now."""

    def __init__(self, manager: str) -> None:
        self._manager = manager
        self._lost: dict[K, dict[FieldPath, str]] = {}

    def observe(
        self, key: K, before: OwnedFields | None, after: OwnedFields | None, body: bytes | msgspec.Raw
    ) -> None:
        """A new version of an object. Cheap while its field set stays the same and nothing was lost."""
        known = self._lost.get(key)
        if known is None and (before is None or (after is not None and after.fields is before.fields)):
            return
        candidates = (set(known or ()) | _leaves_of(before)) - _leaves_of(after)
        entries = [entry for entry in managed_entries(body) if not self._is_ours(entry)]
        lost = _owners(candidates, entries) if candidates else {}
        if lost:
            self._lost[key] = lost
        else:
            self.forget(key)

    def forget(self, key: K) -> None:
        self._lost.pop(key, None)

    def get(self, key: K) -> Losses:
        return self._lost.get(key, NO_LOSSES)

    def _is_ours(self, entry: ManagedEntry) -> bool:
        return entry.manager == self._manager or bool(entry.subresource)


def taken_fields(losses: Losses, manifest: Manifest) -> TakenFields:
    """The lost fields that an apply of the manifest would take back."""
    return tuple(
        (manager, format_path(path)) for path, manager in losses.items() if has_field(manifest, path)
    )


def _owners(lost: set[FieldPath], entries: list[ManagedEntry]) -> dict[FieldPath, str]:
    trees = [(entry.manager, _fields.decode(entry.fields_v1)) for entry in entries]
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
