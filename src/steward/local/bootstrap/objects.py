"""The objects that a new cluster gets: nodes in zones, and two storage classes. Pure."""

from __future__ import annotations

import ipaddress
import platform
from typing import Any

from steward.local.kwok.volumes import PROVISIONER
from steward.local.settings import ControlPlaneSettings

Object = dict[str, Any]

# Marks the nodes that Steward adds and removes; Node objects of the user are not touched.
NODE_LABEL = "steward.local/node"

_POD_RANGE = ipaddress.ip_network("10.128.0.0/9")
_NODE_PREFIX = 18


def nodes(settings: ControlPlaneSettings) -> list[Object]:
    ranges = _POD_RANGE.subnets(new_prefix=_NODE_PREFIX)
    return [_node(number, str(next(ranges)), settings) for number in range(1, settings.nodes + 1)]


def _node(number: int, pod_range: str, settings: ControlPlaneSettings) -> Object:
    name = f"node-{number}"
    zone = settings.zones[(number - 1) % len(settings.zones)]
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": {"aarch64": "arm64"}.get(platform.machine(), "amd64"),
        **node_labels(zone, settings.region),
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"podCIDR": pod_range, "podCIDRs": [pod_range]},
    }


def node_labels(zone: str, region: str) -> dict[str, str]:
    return {
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
        NODE_LABEL: "true",
    }


def storage_classes() -> list[Object]:
    """Of a cluster without containers; those with containers have the provisioner's own."""
    return [
        _storage_class("standard", {"storageclass.kubernetes.io/is-default-class": "true"}, "can grow"),
        _storage_class("fixed", {}, "cannot grow"),
    ]


def _storage_class(name: str, annotations: dict[str, str], growth: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": annotations},
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
        "allowVolumeExpansion": growth == "can grow",
    }
