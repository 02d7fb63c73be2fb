"""What we own of an object, small enough to keep for every cached object.

A cache keeps no whole objects. It keeps, for each, which fields our field manager owns (one shared value for a fleet of
like objects) and a digest of what the object holds there, taken when it was decoded. That is enough to know
whether an apply would change anything, because the server itself takes a field away from us when somebody else
changes its value.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct

from steward.kube.managed_fields.fields_v1 import Node, parse_fields
from steward.kube.objects.canonical import Path, is_atomic_map
from steward.kube.objects.kinds import Kind, Manifest

_encode = msgspec.json.Encoder(order="sorted").encode

# An owner reference is a list item keyed by the owner's uid: with it no two objects of a fleet would be alike.
_UID: Final = re.compile(rb'k:\{\\"uid\\":\\"([^"\\]+)\\"\}')
_PART: Final = 12
_DEEP: Final = frozenset((dict, list))


class FieldSet:
    """The owned paths of one kind, as the server wrote them; equal ones are the same object."""

    __slots__ = ("__weakref__", "kind", "raw")

    def __init__(self, kind: Kind, raw: bytes) -> None:
        self.kind = kind
        self.raw = raw

    @property
    def tree(self) -> Node:
        return _tree(self.kind, self.raw)

    @property
    def paths(self) -> list[Path]:
        """Where each of the values comes from that are collected along the tree."""
        return _paths(self.kind, self.raw)

    @property
    def loose(self) -> frozenset[int]:
        """Which of the values, if they are maps, may hold what is not ours: we own a map that we applied empty."""
        return _loose(self.kind, self.raw)


@lru_cache(maxsize=2048)
def _tree(kind: Kind, raw: bytes) -> Node:
    return parse_fields(kind, raw)


@lru_cache(maxsize=2048)
def _paths(kind: Kind, raw: bytes) -> list[Path]:
    return list(_tree(kind, raw).leaves())


@lru_cache(maxsize=2048)
def _loose(kind: Kind, raw: bytes) -> frozenset[int]:
    paths = _paths(kind, raw)
    return frozenset(place for place, path in enumerate(paths) if not is_atomic_map(kind, path))


_known: WeakValueDictionary[tuple[Kind, bytes], FieldSet] = WeakValueDictionary()


def field_set(kind: Kind, raw: bytes) -> FieldSet:
    known = _known.get((kind, raw))
    if known is None:
        known = FieldSet(kind, raw)
        _known[(kind, raw)] = known
    return known


class OwnedFields(Struct, frozen=True, gc=False):
    fields: FieldSet
    owners: tuple[str, ...]
    """The uids of the owner references among the fields, which `fields` names by number."""
    digest: bytes
    """Of the values there, by `digest_of`."""

    def agrees_on_scalars(self, digest: bytes) -> bool:
        return self.digest[:_PART] == digest[:_PART]

    def agrees_but_for_loose_maps(self, digest: bytes) -> bool:
        return self.digest[: 2 * _PART] == digest[: 2 * _PART]


class Ownership(Struct, frozen=True, gc=False):
    """What we own by the main resource, and by its status."""

    main: OwnedFields | None = None
    status: OwnedFields | None = None

    def of(self, subresource: str) -> OwnedFields | None:
        return self.status if subresource == "status" else self.main


NOT_OURS: Final = Ownership()


class ManagedEntry(Struct, rename="camel", gc=False):
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    api_version: str = ""
    fields_v1: msgspec.Raw = msgspec.Raw(b"{}")


class ManagedMeta(Struct, rename="camel", gc=False):
    """Who owns what, in which version of the object."""

    resource_version: str = ""
    managed_fields: list[ManagedEntry] = []


class _Managed(Struct, gc=False):
    metadata: ManagedMeta = msgspec.field(default_factory=ManagedMeta)


_managed = msgspec.json.Decoder(_Managed)


def managed_meta(body: bytes | msgspec.Raw) -> ManagedMeta:
    return _managed.decode(body).metadata


def managed_entries(body: bytes | msgspec.Raw) -> list[ManagedEntry]:
    return managed_meta(body).managed_fields


class Claim(Struct, frozen=True, gc=False):
    """Our entry in managedFields, before the values are looked at."""

    fields: FieldSet
    owners: tuple[str, ...]


def claims(kind: Kind, entries: list[ManagedEntry], manager: str) -> dict[str, Claim]:
    """Our claims by subresource. One made in another version of the kind names other paths, and does not count."""
    return {
        entry.subresource: _claim(kind, bytes(entry.fields_v1))
        for entry in entries
        if entry.manager == manager and entry.operation == "Apply" and entry.api_version == kind.api_version
    }


def _claim(kind: Kind, raw: bytes) -> Claim:
    owners = tuple(uid.decode() for uid in _UID.findall(raw)) if b'{\\"uid\\"' in raw else ()
    for number, uid in enumerate(owners):
        raw = raw.replace(uid.encode(), b"#%d" % number)
    return Claim(field_set(kind, raw), owners)


def owned_fields(claim: Claim, obj: Manifest) -> OwnedFields:
    return owned_values(claim, values_of(claim, obj))


def owned_values(claim: Claim, values: list[Any]) -> OwnedFields:
    """For whoever has the values already."""
    return OwnedFields(claim.fields, claim.owners, digest_of(values, claim.fields.loose))


def values_of(claim: Claim | OwnedFields, obj: Manifest) -> list[Any]:
    """What the object holds at each owned path, in canonical form."""
    values: list[Any] = []
    claim.fields.tree.collect(with_numbered_owners(obj, claim.owners), values)
    return values


def with_numbered_owners(obj: Manifest, owners: tuple[str, ...]) -> Manifest:
    """The object with the owners' uids replaced by their numbers, as in the fields."""
    metadata = obj.get("metadata")
    if not owners or not isinstance(metadata, dict):
        return obj
    number = {uid: f"#{place}" for place, uid in enumerate(owners)}
    references = [_numbered(reference, number) for reference in metadata.get("ownerReferences") or ()]
    return {**obj, "metadata": {**metadata, "ownerReferences": references}}


def _numbered(reference: Any, number: dict[str, str]) -> Any:
    if not isinstance(reference, dict) or reference.get("uid") not in number:
        return reference
    return {**reference, "uid": number[reference["uid"]]}


def is_deep(value: Any) -> bool:
    return type(value) in _DEEP


def digest_of(values: list[Any], loose: Collection[int] = ()) -> bytes:
    """Two parts, scalars and atomic values, and a third one where a map may be empty but for what is not ours.

    An empty map that is loose counts as none at all: the server drops many of them.
    """
    if not any(type(value) in _DEEP for value in values):
        return _digest(values) + _NOTHING
    maps = {place: value for place, value in enumerate(values) if type(value) is dict and place in loose}
    deep = [value for place, value in enumerate(values) if type(value) in _DEEP and place not in maps]
    scalars = [
        (None if place in maps else True) if type(value) in _DEEP else value
        for place, value in enumerate(values)
    ]
    filled = [(place, value) for place, value in maps.items() if value]
    return _digest(scalars) + _digest(deep) + (_digest(filled) if filled else b"")


def _digest(values: list[Any]) -> bytes:
    return blake2b(_encode(values), digest_size=_PART).digest()


_NOTHING: Final = _digest([])
