"""The storage classes of a cluster with containers. Pure."""

from __future__ import annotations

from typing import Any

PROVISIONER = "steward.local/volume"

_DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}
IMMEDIATE, FIRST_CONSUMER = "Immediate", "WaitForFirstConsumer"


def storage_classes() -> list[dict[str, Any]]:
    """`standard` and `fixed` as kwok's; `standard-wait` binds its volumes to the node of their first pod."""
    return [
        _storage_class("standard", IMMEDIATE) | {"allowVolumeExpansion": True},
        _storage_class("standard-wait", FIRST_CONSUMER) | {"allowVolumeExpansion": True},
        _storage_class("fixed", IMMEDIATE) | {"allowVolumeExpansion": False},
    ]


def _storage_class(name: str, binding: str) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": _DEFAULT if name == "standard" else {}},
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": binding,
    }
