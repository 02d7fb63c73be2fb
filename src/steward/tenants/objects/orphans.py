"""Objects that a Tenant applied and no longer desires: whether to delete or orphan them. Pure.

The status records an object before it is applied, so it may name objects that were never created, or that are foreign.
Only objects whose labels or owner references name this Tenant are changed. An object that is still desired under
another id is no orphan, and neither is a key that still contains `{{`: no object ever had such a name.
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
    ORPHANED_FROM,
    ORPHANED_REASON,
    TENANT,
    TENANT_NAMESPACE,
)

_API_VERSIONS: Final = {kind.kind: kind.api_version for kind in (*KINDS, kinds.ROLE, kinds.ROLE_BINDING)}


class TenantOwner(NamedTuple):
    """The Tenant that owns a set of objects."""

    name: str
    namespace: str
    uid: str
    bucket: str = ""
    """Set with `--shard`: the label value by which each process watches only the objects of its part of the fleet."""


class OrphanAction(StrEnum):
    IGNORE = "Leave"
    """It is foreign, or terminating already."""
    DELETE = "Delete"
    RETAIN = "Retain"


class AppliedRef(NamedTuple):
    """An object that was applied. `api_version` is empty where the record has only the kind, and that is not one of the
    built-in kinds: then discovery has to find it."""

    api_version: str
    kind: str
    namespace: str
    name: str
    id: str

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}@{self.id}"

    def is_same_object(self, other: "AppliedRef") -> bool:
        """Versions of one group serve the same objects; where a group is unknown, the safe answer is yes."""
        if self[1:4] != other[1:4]:
            return False
        if not self.api_version or not other.api_version:
            return True
        return Kind(self.api_version, self.kind).group == Kind(other.api_version, other.kind).group


def parse_key(key: str) -> AppliedRef | None:
    """Parses `Kind/namespace/name@id`; None where no object can have that name."""
    kind, _, rest = key.partition("/")
    namespace, _, named = rest.partition("/")
    name, _, identifier = named.partition("@")
    if not kind or not name or "{{" in key:
        return None
    return AppliedRef(_API_VERSIONS.get(kind, ""), kind, namespace, name, identifier)


def applied_ref(record: AppliedObject) -> AppliedRef:
    return AppliedRef(record.api_version, record.kind, record.namespace, record.name, record.id)


def recorded_objects(applied: Iterable[AppliedObject], keys: Iterable[str]) -> tuple[AppliedRef, ...]:
    """Every recorded object once, from the records of this operator and the keys of the Go operator."""
    full = [applied_ref(found) for found in applied]
    known = {found.key for found in full}
    parsed = [parse_key(key) for key in keys if key not in known]
    named = [found for found in full if "{{" not in found.key]
    return tuple(dict.fromkeys([*named, *(found for found in parsed if found is not None)]))


def find_orphans(recorded: Iterable[AppliedRef], desired: Collection[AppliedRef]) -> tuple[AppliedRef, ...]:
    by_name: dict[tuple[str, ...], list[AppliedRef]] = {}
    for found in desired:
        by_name.setdefault(found[1:4], []).append(found)
    return tuple(
        found
        for found in recorded
        if not any(found.is_same_object(other) for other in by_name.get(found[1:4], ()))
    )


def is_owned(meta: ObjectMeta, owner: TenantOwner) -> bool:
    tracked = (meta.labels.get(TENANT), meta.labels.get(TENANT_NAMESPACE))
    return tracked == (owner.name, owner.namespace) or any(
        reference.uid == owner.uid for reference in meta.owner_references
    )


def orphan_action(meta: ObjectMeta, owner: TenantOwner) -> OrphanAction:
    """Follows the policy annotation of the object: the template no longer contains the resource."""
    if not is_owned(meta, owner) or meta.deletion_timestamp is not None:
        return OrphanAction.IGNORE
    return OrphanAction.RETAIN if meta.annotations.get(DELETION_POLICY) == "Retain" else OrphanAction.DELETE


def orphan_patch(meta: ObjectMeta, owner: TenantOwner, reason: str, now: float) -> dict[str, Any]:
    """A merge patch that orphans an object: removes its tracking, adds the orphan label, and keeps other owners."""
    others = [reference for reference in meta.owner_references if reference.uid != owner.uid]
    metadata: dict[str, Any] = {
        "resourceVersion": meta.resource_version,
        "labels": {TENANT: None, TENANT_NAMESPACE: None, ORPHANED: "true"},
        "annotations": {
            ORPHANED_AT: to_timestamp(now),
            ORPHANED_FROM: owner.namespace,
            ORPHANED_REASON: reason,
        },
    }
    if len(others) != len(meta.owner_references):
        metadata["ownerReferences"] = [reference_manifest(reference) for reference in others]
    return {"metadata": metadata}


def reference_manifest(reference: Any) -> dict[str, Any]:
    written = {
        "apiVersion": reference.api_version,
        "kind": reference.kind,
        "name": reference.name,
        "uid": reference.uid,
    }
    flags = {"controller": reference.controller, "blockOwnerDeletion": reference.block_owner_deletion}
    return written | {name: True for name, is_set in flags.items() if is_set}


def adoption_patch(meta: ObjectMeta) -> dict[str, Any] | None:
    """A merge patch that removes the orphan label and annotations; None where there are none."""
    labels = _removals(meta.labels, (ORPHANED,))
    annotations = _removals(meta.annotations, (ORPHANED_AT, ORPHANED_FROM, ORPHANED_REASON))
    if not labels and not annotations:
        return None
    changed = {"labels": labels, "annotations": annotations}
    return {"metadata": {name: marks for name, marks in changed.items() if marks}}


def _removals(found: Mapping[str, str], names: Iterable[str]) -> dict[str, None]:
    return {name: None for name in names if name in found}
