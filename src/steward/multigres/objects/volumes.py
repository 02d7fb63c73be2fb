"""Volume claims and their retention policy."""

from collections.abc import Mapping
from typing import Any

from steward.multigres.api.compute import PvcDeletionPolicy, Storage
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import STANDARD_LABELS, Manifest

READ_WRITE_ONCE = "ReadWriteOnce"


def claim_spec(storage: Storage | Any, size: str) -> Manifest:
    spec: Manifest = {
        "accessModes": or_default(storage.access_modes, []) or [READ_WRITE_ONCE],
        "resources": {"requests": {"storage": or_default(storage.size, size)}},
        "volumeMode": "Filesystem",
    }
    if storage_class := or_default(storage.storage_class, ""):
        spec["storageClassName"] = storage_class
    return spec


def claim_template(name: str, storage: Storage | Any, labels: Mapping[str, str]) -> Manifest:
    # The operator finds claims by label, and the StatefulSet controller only sets these labels and the selector's.
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "labels": {**STANDARD_LABELS, **labels}},
        "spec": claim_spec(storage, "1Gi"),
    }


def retention_policy(policy: PvcDeletionPolicy) -> Manifest:
    # Any other value retains the data.
    return {
        "whenDeleted": "Delete" if policy.when_deleted == "Delete" else "Retain",
        "whenScaled": "Delete" if policy.when_scaled == "Delete" else "Retain",
    }
