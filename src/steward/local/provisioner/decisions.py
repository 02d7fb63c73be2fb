"""What a claim or a volume needs, as values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steward.kube.objects.kinds import Manifest
from steward.kube.objects.quantity import parse_quantity
from steward.local.provisioner.classes import FIRST_CONSUMER, PROVISIONER
from steward.local.provisioner.views import ClaimView, ClassView, VolumeView

FINALIZER = "steward.local/directory"
# Written by the volume controller when a claim is to be provisioned: at once, or after a pod was scheduled.
REQUESTED = "volume.kubernetes.io/storage-provisioner"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"

_HOSTNAME, _ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_RESIZE_CONDITIONS = frozenset(
    {"Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError"}
)
_PREFIX = "pvc-"


@dataclass(frozen=True)
class Placement:
    """Where volumes are made: zones by node name, and the directory of all of them."""

    zones: Mapping[str, str]
    directory: Path


@dataclass(frozen=True)
class Provision:
    """Create this volume and its directory."""

    volume: Manifest
    directory: Path


@dataclass(frozen=True)
class Unsupported:
    """The claim cannot be provisioned; the message names the field and the cure."""

    message: str


@dataclass(frozen=True)
class Grow:
    """Set the capacity of volume and claim to `size`."""

    volume: str
    size: str


@dataclass(frozen=True)
class DeleteVolume:
    """Delete the PersistentVolume of this uid."""

    uid: str


@dataclass(frozen=True)
class ReleaseDirectory:
    """Remove the finalizer; delete `directory` first unless it is None."""

    directory: Path | None


def decide_claim(
    claim: ClaimView, storage_class: ClassView | None, volume: VolumeView | None, placement: Placement
) -> Provision | Grow | Unsupported | None:
    """`volume` is the one that the claim is bound to."""
    if claim.metadata.deletion_timestamp is not None:
        return None
    if claim.spec.volume_name:
        return _growth(claim, volume)
    if claim.metadata.annotations.get(REQUESTED) != PROVISIONER or storage_class is None:
        return None
    if message := _unsupported(claim, placement):
        return Unsupported(message)
    nodes = _nodes(claim, storage_class, placement)
    if not nodes:
        return Unsupported(
            f"no node of this cluster is in a zone that StorageClass {storage_class.metadata.name} allows: change its "
            f"allowedTopologies"
        )
    path = placement.directory / volume_name(claim)
    return Provision(_volume(claim, storage_class, nodes, path), path)


def volume_name(claim: ClaimView) -> str:
    return f"{_PREFIX}{claim.metadata.uid}"


def decide_volume(volume: VolumeView, placement: Placement) -> DeleteVolume | ReleaseDirectory | None:
    if volume.metadata.annotations.get(PROVISIONED_BY) != PROVISIONER:
        return None
    is_deleted_with_claim = volume.spec.reclaim_policy == "Delete"
    if volume.metadata.deletion_timestamp is None:
        is_released = volume.status.phase in {"Released", "Failed"}
        return DeleteVolume(volume.metadata.uid) if is_released and is_deleted_with_claim else None
    # Kubernetes' own finalizer stays while a claim uses the volume.
    if volume.metadata.finalizers != (FINALIZER,):
        return None
    return ReleaseDirectory(_own_directory(volume, placement) if is_deleted_with_claim else None)


def _own_directory(volume: VolumeView, placement: Placement) -> Path | None:
    """None for any path that this provisioner would not have chosen: users can write PersistentVolumes, too."""
    path = placement.directory / volume.metadata.name
    is_own = volume.metadata.name.startswith(_PREFIX) and volume.spec.local.path == str(path)
    return path if is_own else None


def _growth(claim: ClaimView, volume: VolumeView | None) -> Grow | None:
    if volume is None or volume.metadata.annotations.get(PROVISIONED_BY) != PROVISIONER:
        return None
    requested = claim.spec.resources.requests.get("storage", "0")
    # A claim may also be bound to a volume that is larger than it requests.
    size = max(requested, volume.spec.capacity.get("storage", "0"), key=parse_quantity)
    recorded = claim.status.capacity.get("storage")
    if recorded is None or (parse_quantity(recorded) >= parse_quantity(size) and not _is_resizing(claim)):
        return None
    return Grow(volume.metadata.name, size)


def _is_resizing(claim: ClaimView) -> bool:
    types = {condition.type for condition in claim.status.conditions}
    return bool(types & _RESIZE_CONDITIONS or claim.status.allocated_resource_statuses)


def grown_claim_status(size: str) -> Manifest:
    """Growing a directory needs no step on the node, so it is finished at once."""
    return {
        "status": {
            "capacity": {"storage": size},
            "conditions": None,
            "allocatedResources": None,
            "allocatedResourceStatuses": None,
        }
    }


def _unsupported(claim: ClaimView, placement: Placement) -> str:
    spec, node = claim.spec, claim.metadata.annotations.get(SELECTED_NODE)
    if spec.volume_mode != "Filesystem":
        return f"spec.volumeMode {spec.volume_mode} is not supported: use Filesystem"
    if spec.selector is not None:
        return "spec.selector is not supported: remove it"
    if spec.data_source is not None or spec.data_source_ref is not None:
        return "spec.dataSource is not supported: remove it and restore the data in a pod"
    if node is not None and node not in placement.zones:
        return f"the pod was scheduled to {node}, which has no volumes: schedule it to {', '.join(placement.zones)}"
    return ""


def _nodes(claim: ClaimView, storage_class: ClassView, placement: Placement) -> list[str]:
    """The nodes that can use the volume.

    All nodes are on this machine, so a directory can be used from each. An Immediate class makes volumes for all of
    them: a choice before the pod is scheduled would often be in another zone than the pod.
    """
    if storage_class.volume_binding_mode == FIRST_CONSUMER:
        return (
            [claim.metadata.annotations[SELECTED_NODE]] if SELECTED_NODE in claim.metadata.annotations else []
        )
    return [name for name, zone in placement.zones.items() if _is_allowed(name, zone, storage_class)]


def _is_allowed(node: str, zone: str, storage_class: ClassView) -> bool:
    labels = {_HOSTNAME: node, _ZONE: zone}
    terms = [term.match_label_expressions for term in storage_class.allowed_topologies]
    return not terms or any(all(labels.get(each.key) in each.values for each in term) for term in terms)


def _volume(claim: ClaimView, storage_class: ClassView, nodes: list[str], path: Path) -> Manifest:
    hosts = {"key": _HOSTNAME, "operator": "In", "values": nodes}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": volume_name(claim),
            "annotations": {PROVISIONED_BY: PROVISIONER},
            "finalizers": [FINALIZER],
        },
        "spec": {
            "accessModes": list(claim.spec.access_modes),
            "capacity": {"storage": claim.spec.resources.requests.get("storage", "0")},
            "persistentVolumeReclaimPolicy": storage_class.reclaim_policy,
            "storageClassName": storage_class.metadata.name,
            "mountOptions": list(storage_class.mount_options),
            "volumeMode": claim.spec.volume_mode,
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": claim.metadata.namespace,
                "name": claim.metadata.name,
                "uid": claim.metadata.uid,
            },
            "local": {"path": str(path)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [hosts]}]}},
        },
    }
