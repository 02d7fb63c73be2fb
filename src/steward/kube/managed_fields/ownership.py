"""The fields of an object that our field manager owns, in a form small enough to keep for every cached object.

The cache does not keep whole objects. For each object it keeps the set of owned fields (one shared value for a fleet of
similar objects) and a digest of their values, taken when the object was decoded. That is enough to know whether an
apply would change anything, because the API server takes a field away from us when another client changes its value.
"""

import re
import sys
from collections.abc import Collection
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from steward.kube.managed_fields.fields_v1 import Node, parse_fields_v1
from steward.kube.objects.canonical import Path, is_atomic_map
from steward.kube.objects.kinds import Kind, Manifest

_encode = msgspec.json.Encoder(order="sorted").encode

# An owner reference is a list item keyed by the owner's uid, which would make each object's field set different.
_OWNER_UID: Final = re.compile(rb'k:\{\\"uid\\":\\"([^"\\]+)\\"\}')
_PART_SIZE: Final = 12
_CONTAINERS: Final = frozenset((dict, list))


class FieldSet:
    """The owned paths of an object, as the API server wrote them. Interned: equal sets are the same Python object."""

    __slots__ = ("__weakref__", "kind", "raw")

    def __init__(self, kind: Kind, raw: bytes) -> None:
        self.kind = kind
        self.raw = raw

    @property
    def tree(self) -> Node:
        return _tree(self.kind, self.raw)

    @property
    def paths(self) -> list[Path]:
        """The path of each value that is collected along the tree."""
        return _paths(self.kind, self.raw)

    @property
    def shared_maps(self) -> frozenset[int]:
        """Positions of values that may be maps with entries of other managers: we own a map that we applied empty."""
        return _shared_maps(self.kind, self.raw)


@lru_cache(maxsize=2048)
def _tree(kind: Kind, raw: bytes) -> Node:
    return parse_fields_v1(kind, raw)


@lru_cache(maxsize=2048)
def _paths(kind: Kind, raw: bytes) -> list[Path]:
    return list(_tree(kind, raw).leaf_paths())


@lru_cache(maxsize=2048)
def _shared_maps(kind: Kind, raw: bytes) -> frozenset[int]:
    paths = _paths(kind, raw)
    return frozenset(position for position, path in enumerate(paths) if not is_atomic_map(kind, path))


_interned: WeakValueDictionary[tuple[Kind, bytes], FieldSet] = WeakValueDictionary()


def intern_field_set(kind: Kind, raw: bytes) -> FieldSet:
    known = _interned.get((kind, raw))
    if known is None:
        known = FieldSet(kind, raw)
        _interned[(kind, raw)] = known
    return known


class OwnedFields(Struct, frozen=True, gc=False):
    fields: FieldSet
    owners: tuple[str, ...]
    """The uids of the owner references among the fields; `fields` has numbers in their place."""
    digest: bytes
    """Of the values at these fields, by `digest_values`."""

    def has_same_scalars(self, digest: bytes) -> bool:
        return self.digest[:_PART_SIZE] == digest[:_PART_SIZE]

    def matches_except_shared_maps(self, digest: bytes) -> bool:
        return self.digest[: 2 * _PART_SIZE] == digest[: 2 * _PART_SIZE]


class Ownership(Struct, frozen=True, gc=False):
    """The fields that we own through the main resource and through the status subresource."""

    main: OwnedFields | None = None
    status: OwnedFields | None = None

    def for_subresource(self, subresource: str) -> OwnedFields | None:
        return self.status if subresource == "status" else self.main


NOT_OWNED: Final = Ownership()


class ManagedEntry(Struct, rename="camel", gc=False):
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    api_version: str = ""
    fields_v1: msgspec.Raw = msgspec.Raw(b"{}")


class ManagedMeta(Struct, rename="camel", gc=False):
    """The field managers of an object, and the resourceVersion to which they belong."""

    resource_version: str = ""
    managed_fields: list[ManagedEntry] = []


class _Managed(Struct, gc=False):
    metadata: ManagedMeta = msgspec.field(default_factory=ManagedMeta)


_managed = msgspec.json.Decoder(_Managed)


def managed_meta(body: bytes | msgspec.Raw) -> ManagedMeta:
    return _managed.decode(body).metadata


def managed_entries(body: bytes | msgspec.Raw) -> list[ManagedEntry]:
    return managed_meta(body).managed_fields


class OwnEntry(Struct, frozen=True, gc=False):
    """Our entry in managedFields, without the values of the fields."""

    fields: FieldSet
    owners: tuple[str, ...]


def own_entries(kind: Kind, entries: list[ManagedEntry], manager: str) -> dict[str, OwnEntry]:
    """Our Apply entries by subresource. An entry of another API version has other paths and does not count."""
    return {
        entry.subresource: _own_entry(kind, bytes(entry.fields_v1))
        for entry in entries
        if entry.manager == manager and entry.operation == "Apply" and entry.api_version == kind.api_version
    }


def _own_entry(kind: Kind, raw: bytes) -> OwnEntry:
    owners = tuple(map(_shared_uid, _OWNER_UID.findall(raw))) if b'{\\"uid\\"' in raw else ()
    for number, uid in enumerate(owners):
        raw = raw.replace(uid.encode(), b"#%d" % number)
    return OwnEntry(intern_field_set(kind, raw), owners)


def _shared_uid(raw: bytes) -> str:
    """The text that the cached owner references have: the objects of one owner all name it."""
    return sys.intern(raw.decode())


_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_values = msgspec.json.Decoder()
_WITH_STATUS: Final = frozenset({"metadata", "status"})


def decode_owned_part(body: bytes | msgspec.Raw, own: Collection[str]) -> Manifest:
    """The object, as far as entries for these subresources can own it. Nobody owns managedFields, and where we own only
    the status, the spec stays undecoded: those of a cluster can be hundreds of kilobytes each."""
    members = _members.decode(body)
    return {
        name: _decode_metadata(raw) if name == "metadata" else _values.decode(raw)
        for name, raw in members.items()
        if "" in own or name in _WITH_STATUS
    }


def _decode_metadata(raw: msgspec.Raw) -> Any:
    members = _members.decode(raw)
    return {name: _values.decode(value) for name, value in members.items() if name != "managedFields"}


def owned_fields(entry: OwnEntry, obj: Manifest) -> OwnedFields:
    return owned_fields_with(entry, owned_values(entry, obj))


def owned_fields_with(entry: OwnEntry, values: list[Any]) -> OwnedFields:
    """Like `owned_fields`, for values that were collected before."""
    return OwnedFields(entry.fields, entry.owners, digest_values(values, entry.fields.shared_maps))


def owned_values(entry: OwnEntry | OwnedFields, obj: Manifest) -> list[Any]:
    """The object's value at each owned path, in canonical form."""
    values: list[Any] = []
    entry.fields.tree.collect(with_numbered_owners(obj, entry.owners), values)
    return values


def with_numbered_owners(obj: Manifest, owners: tuple[str, ...]) -> Manifest:
    """The object with owner uids replaced by numbers, as in the field set."""
    metadata = obj.get("metadata")
    if not owners or not isinstance(metadata, dict):
        return obj
    number = {uid: f"#{position}" for position, uid in enumerate(owners)}
    references = [_numbered(reference, number) for reference in metadata.get("ownerReferences") or ()]
    return {**obj, "metadata": {**metadata, "ownerReferences": references}}


def _numbered(reference: Any, number: dict[str, str]) -> Any:
    if not isinstance(reference, dict) or reference.get("uid") not in number:
        return reference
    return {**reference, "uid": number[reference["uid"]]}


def is_container(value: Any) -> bool:
    return type(value) in _CONTAINERS


def digest_values(values: list[Any], shared_maps: Collection[int] = ()) -> bytes:
    """Two parts, scalars and containers, and a third part for shared maps that are not empty.

    An empty shared map counts as absent: the API server drops many of them.
    """
    if not any(type(value) in _CONTAINERS for value in values):
        return _digest(values) + _NO_CONTAINERS
    maps = {
        position: value
        for position, value in enumerate(values)
        if type(value) is dict and position in shared_maps
    }
    deep = [
        value for position, value in enumerate(values) if type(value) in _CONTAINERS and position not in maps
    ]
    scalars = [
        (None if position in maps else True) if type(value) in _CONTAINERS else value
        for position, value in enumerate(values)
    ]
    filled = [(position, value) for position, value in maps.items() if value]
    return _digest(scalars) + _digest(deep) + (_digest(filled) if filled else b"")


def _digest(values: list[Any]) -> bytes:
    return blake2b(_encode(values), digest_size=_PART_SIZE).digest()


_NO_CONTAINERS: Final = _digest([])
