"""The fields of claims, volumes and storage classes that the provisioner reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from steward.kube.cache.rules import CacheRule
from steward.kube.objects import kinds
from steward.kube.objects.meta import ObjectMeta

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Requests(Struct, frozen=True):
    requests: Mapping[str, str] = _NOTHING


class ClaimSpec(Struct, frozen=True, rename="camel"):
    access_modes: tuple[str, ...] = ()
    resources: Requests = Requests()
    storage_class_name: str = ""
    volume_mode: str = "Filesystem"
    volume_name: str = ""
    selector: Mapping[str, Any] | None = None
    data_source: Mapping[str, Any] | None = None
    data_source_ref: Mapping[str, Any] | None = None


class ClaimCondition(Struct, frozen=True):
    type: str = ""


class ClaimStatus(Struct, frozen=True, rename="camel"):
    phase: str = ""
    capacity: Mapping[str, str] = _NOTHING
    conditions: tuple[ClaimCondition, ...] = ()
    allocated_resource_statuses: Mapping[str, str] = _NOTHING


class ClaimView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class ClaimReference(Struct, frozen=True):
    namespace: str = ""
    name: str = ""
    uid: str = ""


class LocalSource(Struct, frozen=True):
    path: str = ""


class VolumeSpec(Struct, frozen=True, rename="camel"):
    capacity: Mapping[str, str] = _NOTHING
    claim_ref: ClaimReference = ClaimReference()
    local: LocalSource = LocalSource()
    reclaim_policy: str = field(name="persistentVolumeReclaimPolicy", default="")


class VolumeStatus(Struct, frozen=True):
    phase: str = ""


class VolumeView(Struct, frozen=True):
    metadata: ObjectMeta
    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()


class LabelTerm(Struct, frozen=True):
    key: str = ""
    values: tuple[str, ...] = ()


class TopologyTerm(Struct, frozen=True, rename="camel"):
    match_label_expressions: tuple[LabelTerm, ...] = ()


class ClassView(Struct, frozen=True, rename="camel"):
    metadata: ObjectMeta
    provisioner: str = ""
    reclaim_policy: str = "Delete"
    volume_binding_mode: str = "Immediate"
    mount_options: tuple[str, ...] = ()
    allowed_topologies: tuple[TopologyTerm, ...] = ()


CLAIMS = CacheRule(kinds.PERSISTENT_VOLUME_CLAIM, ClaimView)
VOLUMES = CacheRule(kinds.PERSISTENT_VOLUME, VolumeView)
CLASSES = CacheRule(kinds.STORAGE_CLASS, ClassView)
