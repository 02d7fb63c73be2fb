"""Decodes the JSON of an object into the view that the cache keeps, and the fields that we own."""

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Generic, TypeVar

import msgspec
from msgspec.structs import force_setattr

from steward.kube.cache.rules import CacheRule
from steward.kube.managed_fields.fields_v1 import MapNode
from steward.kube.managed_fields.ownership import (
    NOT_OWNED,
    OwnedFields,
    OwnEntry,
    Ownership,
    decode_owned_part,
    managed_entries,
    own_entries,
    owned_fields,
)
from steward.kube.objects.kinds import Manifest
from steward.kube.objects.meta import HasMetadata, ObjectMeta

T = TypeVar("T", bound=HasMetadata)

Body = bytes | msgspec.Raw

_OWNER_TEXTS: Final = ("api_version", "kind", "name", "uid")
_FEW: Final = 4
_SHORT: Final = 64


class ViewDecoder(Generic[T]):
    def __init__(self, rule: CacheRule[T]) -> None:
        self._rule = rule
        self._view = msgspec.json.Decoder(rule.view)

    def view(self, body: Body) -> T:
        reduce = self._rule.reduce
        obj = self._view.decode(body if reduce is None else reduce(bytes(body)))
        _share_values(obj.metadata)
        return obj

    def ownership(self, body: Body, obj: T, old: T | None, previous: Ownership) -> Ownership:
        """The fields that we own; `old` and `previous`, from the cached version, avoid most of the work."""
        if not self._rule.owned_by:
            return NOT_OWNED
        own = own_entries(self._rule.kind, managed_entries(body), self._rule.owned_by)
        if not self._reports(obj.metadata):
            own.pop("status", None)
        if not own:
            return NOT_OWNED
        if old is not None and _only_status_changed(own, previous, old.metadata, obj.metadata):
            return previous
        part = decode_owned_part(body, own)
        return Ownership(_owned(own.get(""), part), _owned(own.get("status"), part))

    def kept(self, ownership: Ownership, meta: ObjectMeta) -> Ownership:
        """What the store keeps of the fields that a writer found in an answer."""
        return ownership if self._reports(meta) else Ownership(ownership.main)

    def _reports(self, meta: ObjectMeta) -> bool:
        return self._rule.reports is None or self._rule.reports(meta)


def _owned(entry: OwnEntry | None, part: Manifest) -> OwnedFields | None:
    return None if entry is None else owned_fields(entry, part)


def _only_status_changed(
    own: dict[str, OwnEntry], previous: Ownership, old: ObjectMeta, new: ObjectMeta
) -> bool:
    """Whether metadata alone proves that no field that we own has changed.

    The API server increments the generation on every change of the spec. Where an object has no generation, or we own
    fields outside of spec and metadata, the values must be compared.
    """
    entry, previous_main = own.get(""), previous.main
    if entry is None or previous_main is None or len(own) > 1 or previous.status is not None:
        return False
    if entry.fields is not previous_main.fields or entry.owners != previous_main.owners or not new.generation:
        return False
    tree = entry.fields.tree
    return (
        isinstance(tree, MapNode)
        and tree.children.keys() <= {"metadata", "spec"}
        and (old.uid, old.generation, old.labels, old.annotations, old.owner_references, old.finalizers)
        == (new.uid, new.generation, new.labels, new.annotations, new.owner_references, new.finalizers)
    )


def _share_values(meta: ObjectMeta) -> None:
    """Thousands of objects have the same namespace, labels, finalizers and annotations, and the objects of one owner
    the same reference to it: keep each text once, and keys as well, of which the decoder shares only short ones.
    Without this a cached Secret of a Tenant is half as large again."""
    force_setattr(meta, "namespace", sys.intern(meta.namespace))
    if meta.creation_timestamp is not None:
        force_setattr(meta, "creation_timestamp", sys.intern(meta.creation_timestamp))
    if meta.labels:
        labels = {sys.intern(name): sys.intern(value) for name, value in meta.labels.items()}
        force_setattr(meta, "labels", labels)
    if meta.annotations and _are_short(meta.annotations):
        force_setattr(meta, "annotations", _shared_mapping(tuple(meta.annotations.items())))
    if meta.finalizers:
        force_setattr(meta, "finalizers", _shared_texts(meta.finalizers))
    for owner in meta.owner_references:
        for name in _OWNER_TEXTS:
            force_setattr(owner, name, sys.intern(getattr(owner, name)))


def _are_short(annotations: Mapping[str, str]) -> bool:
    """Long annotations are seldom equal, and the cache of shared ones must stay small."""
    return len(annotations) <= _FEW and all(len(value) <= _SHORT for value in annotations.values())


@lru_cache(maxsize=1024)
def _shared_mapping(items: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return dict(items)


@lru_cache(maxsize=1024)
def _shared_texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    return texts
