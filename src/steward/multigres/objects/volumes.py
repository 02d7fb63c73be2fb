"""Volume claims, and what becomes of them."""

from collections.abc import Mapping
from typing import Any

from steward.multigres.api.compute import PvcDeletionPolicy, Storage
from steward.multigres.objects.metadata import STANDARD, Manifest
from steward.multigres.resolution.layers import given

ONE_NODE = "ReadWriteOnce"


def claim_spec(storage: Storage | Any, size: str) -> Manifest:
    spec: Manifest = {
        "accessModes": given(storage.access_modes, []) or [ONE_NODE],
        "resources": {"requests": {"storage": given(storage.size, size)}},
        "volumeMode": "Filesystem",
    }
    if storage_class := given(storage.storage_class, ""):
        spec["storageClassName"] = storage_class
    return spec


def claim_template(name: str, storage: Storage | Any, own: Mapping[str, str]) -> Manifest:
    # The claims must be known as Steward's: a set gives them no other labels than these and its selector's.
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "labels": {**STANDARD, **own}},
        "spec": claim_spec(storage, "1Gi"),
    }


def retention_policy(policy: PvcDeletionPolicy) -> Manifest:
    # Anything but a clear Delete keeps the data.
    return {
        "whenDeleted": "Delete" if policy.when_deleted == "Delete" else "Retain",
        "whenScaled": "Delete" if policy.when_scaled == "Delete" else "Retain",
    }
