"""From the bytes of an object to the view that a cache keeps, and what we own of it."""

import sys
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import force_setattr

from steward.kube.cache.rules import CacheRule
from steward.kube.managed_fields.fields_v1 import Branch
from steward.kube.managed_fields.ownership import (
    NOT_OURS,
    Claim,
    OwnedFields,
    Ownership,
    claims,
    managed_entries,
    owned_fields,
)
from steward.kube.objects.meta import HasMetadata, ObjectMeta

T = TypeVar("T", bound=HasMetadata)

Body = bytes | msgspec.Raw

_whole = msgspec.json.Decoder(dict[str, object])


class ViewDecoder(Generic[T]):
    def __init__(self, rule: CacheRule[T]) -> None:
        self._rule = rule
        self._view = msgspec.json.Decoder(rule.view)

    def view(self, body: Body) -> T:
        reduce = self._rule.reduce
        obj = self._view.decode(body if reduce is None else reduce(bytes(body)))
        _share_strings(obj.metadata)
        return obj

    def ownership(self, body: Body, obj: T, old: T | None, before: Ownership) -> Ownership:
        """What we own of the object; `old` and `before` are its last version, which spares most of the work."""
        if not self._rule.owned_by:
            return NOT_OURS
        ours = claims(self._rule.kind, managed_entries(body), self._rule.owned_by)
        if not ours:
            return NOT_OURS
        if old is not None and _only_status_moved(ours, before, old.metadata, obj.metadata):
            return before
        whole = _whole.decode(body)
        return Ownership(_owned(ours.get(""), whole), _owned(ours.get("status"), whole))


def _owned(claim: Claim | None, whole: dict[str, object]) -> OwnedFields | None:
    return None if claim is None else owned_fields(claim, whole)


def _only_status_moved(ours: dict[str, Claim], before: Ownership, old: ObjectMeta, new: ObjectMeta) -> bool:
    """Whether nothing that we own can have changed, judged by metadata alone.

    The server counts the generation up on every change of the spec; where an object has none, or where we own
    more than its spec and metadata, the values must be looked at.
    """
    claim, known = ours.get(""), before.main
    if claim is None or known is None or len(ours) > 1 or before.status is not None:
        return False
    if claim.fields is not known.fields or claim.owners != known.owners or not new.generation:
        return False
    tree = claim.fields.tree
    return (
        isinstance(tree, Branch)
        and tree.children.keys() <= {"metadata", "spec"}
        and (old.uid, old.generation, old.labels, old.annotations, old.owner_references, old.finalizers)
        == (new.uid, new.generation, new.labels, new.annotations, new.owner_references, new.finalizers)
    )


def _share_strings(meta: ObjectMeta) -> None:
    """Thousands of objects carry the same namespace and label values: one string serves them all."""
    force_setattr(meta, "namespace", sys.intern(meta.namespace))
    labels = meta.labels
    if type(labels) is dict:
        for name, value in labels.items():
            labels[name] = sys.intern(value)
