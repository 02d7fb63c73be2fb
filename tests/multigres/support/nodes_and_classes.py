"""Nodes and a storage class beyond those of the local control plane, for manifests that name others.

They stay when a test is over: pods of other tests may have come to the nodes, and would be moved with them.
"""

from typing import Any

from steward.kube.objects.kinds import Manifest
from steward.local.kwok.volumes import PROVISIONER
from tests.support.kubectl import Kubectl

LATE_ZONE = "late"
PRINTED_ZONES = ("us-east-1a", "us-east-1b", "us-east-1c", "us-west-2a")
PRINTED_CLASS = "standard-gp3"
# The last of the ranges of which the local control plane gives its own nodes the first.
_POD_RANGES = {zone: f"10.{250 + place}.0.0/18" for place, zone in enumerate((*PRINTED_ZONES, LATE_ZONE))}


def node(zone: str, **spec: Any) -> Manifest:
    """The only node of its zone."""
    name = f"node-{zone}"
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": zone,
    }
    pods = {"podCIDR": _POD_RANGES[zone], "podCIDRs": [_POD_RANGES[zone]]}
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {**pods, **spec}}


def as_the_design_prints(kubectl: Kubectl) -> None:
    """The zones and the storage class of the printed manifests."""
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": PRINTED_CLASS},
        "provisioner": PROVISIONER,
        "allowVolumeExpansion": True,
    }
    items = [storage_class, *map(node, PRINTED_ZONES)]
    apply(kubectl, {"apiVersion": "v1", "kind": "List", "items": items})


def apply(kubectl: Kubectl, document: Manifest) -> None:
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", document=document)
