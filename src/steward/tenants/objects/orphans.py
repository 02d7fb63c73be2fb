"""What a Tenant once applied and no longer wants: what to do with it, and with what marks it stays.

What was applied is written down before it is applied, so the list may name objects that never came to be, or that
belong to somebody else: nothing is touched whose own labels or owner do not say that it is this Tenant's. Nor is an
object that is still wanted under another id, nor a key that still holds `{{`: no object ever had such a name.
"""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.tenants.api.lists import KINDS
from steward.tenants.api.tenant import AppliedObject
from steward.tenants.labels import (
    DELETION_POLICY,
    ORPHANED,
    ORPHANED_AT,
    ORPHANED_REASON,
    TENANT,
    TENANT_NAMESPACE,
)

_API_VERSIONS: Final = {kind.kind: kind.api_version for kind in (*KINDS, kinds.ROLE, kinds.ROLE_BINDING)}


class Owner(NamedTuple):
    """The Tenant whose objects these are."""

    name: str
    namespace: str
    uid: str
    bucket: str = ""
    """Set where the fleet is split (`--shard`): its objects carry it, and each part watches only its own."""


class Fate(StrEnum):
    LEAVE = "Leave"
    """It is not ours, or on its way out already."""
    DELETE = "Delete"
    RETAIN = "Retain"


class Applied(NamedTuple):
    """An object that was applied. `api_version` is empty where only the kind was written down, and it is none that is
    known everywhere: then only the server can tell."""

    api_version: str
    kind: str
    namespace: str
    name: str
    id: str

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}@{self.id}"

    def is_same_object(self, other: "Applied") -> bool:
        """Versions of one group show the same objects; where a group is unknown, the safe answer is yes."""
        if self[1:4] != other[1:4]:
            return False
        if not self.api_version or not other.api_version:
            return True
        return Kind(self.api_version, self.kind).group == Kind(other.api_version, other.kind).group


def parse_key(key: str) -> Applied | None:
    """`Kind/namespace/name@id`; None for what no object can be called."""
    kind, _, rest = key.partition("/")
    namespace, _, named = rest.partition("/")
    name, _, identifier = named.partition("@")
    if not kind or not name or "{{" in key:
        return None
    return Applied(_API_VERSIONS.get(kind, ""), kind, namespace, name, identifier)


def applied_of(record: AppliedObject) -> Applied:
    return Applied(record.api_version, record.kind, record.namespace, record.name, record.id)


def recorded(applied: Iterable[AppliedObject], keys: Iterable[str]) -> tuple[Applied, ...]:
    """All that was written down, by us and by the operator before us, each object once."""
    full = [applied_of(found) for found in applied]
    known = {found.key for found in full}
    parsed = [parse_key(key) for key in keys if key not in known]
    named = [found for found in full if "{{" not in found.key]
    return tuple(dict.fromkeys([*named, *(found for found in parsed if found is not None)]))


def find_orphans(before: Iterable[Applied], wanted: Collection[Applied]) -> tuple[Applied, ...]:
    by_name: dict[tuple[str, ...], list[Applied]] = {}
    for found in wanted:
        by_name.setdefault(found[1:4], []).append(found)
    return tuple(
        found
        for found in before
        if not any(found.is_same_object(other) for other in by_name.get(found[1:4], ()))
    )


def is_ours(meta: ObjectMeta, owner: Owner) -> bool:
    tracked = (meta.labels.get(TENANT), meta.labels.get(TENANT_NAMESPACE))
    return tracked == (owner.name, owner.namespace) or any(
        reference.uid == owner.uid for reference in meta.owner_references
    )


def fate_of(meta: ObjectMeta, owner: Owner) -> Fate:
    """By the policy that was written on the object when it was made: the template no longer knows."""
    if not is_ours(meta, owner) or meta.deletion_timestamp is not None:
        return Fate.LEAVE
    return Fate.RETAIN if meta.annotations.get(DELETION_POLICY) == "Retain" else Fate.DELETE


def orphan_patch(meta: ObjectMeta, owner: Owner, reason: str, now: float) -> dict[str, Any]:
    """A merge patch that lets go of an object: no longer tracked, found by its label. Owners other than us stay."""
    others = [reference for reference in meta.owner_references if reference.uid != owner.uid]
    metadata: dict[str, Any] = {
        "resourceVersion": meta.resource_version,
        "labels": {TENANT: None, TENANT_NAMESPACE: None, ORPHANED: "true"},
        "annotations": {ORPHANED_AT: to_timestamp(now), ORPHANED_REASON: reason},
    }
    if len(others) != len(meta.owner_references):
        metadata["ownerReferences"] = [_reference(reference) for reference in others]
    return {"metadata": metadata}


def _reference(reference: Any) -> dict[str, Any]:
    written = {
        "apiVersion": reference.api_version,
        "kind": reference.kind,
        "name": reference.name,
        "uid": reference.uid,
    }
    flags = {"controller": reference.controller, "blockOwnerDeletion": reference.block_owner_deletion}
    return written | {name: True for name, is_set in flags.items() if is_set}


def adoption_patch(meta: ObjectMeta) -> dict[str, Any] | None:
    """A merge patch that takes the orphan marks away; None where there are none."""
    labels = _present(meta.labels, (ORPHANED,))
    annotations = _present(meta.annotations, (ORPHANED_AT, ORPHANED_REASON))
    if not labels and not annotations:
        return None
    changed = {"labels": labels, "annotations": annotations}
    return {"metadata": {name: marks for name, marks in changed.items() if marks}}


def _present(found: Mapping[str, str], names: Iterable[str]) -> dict[str, None]:
    return {name: None for name in names if name in found}
