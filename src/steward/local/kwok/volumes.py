"""Stages of volumes: bound to their claim, as large as the claim requests, deleted with it."""

from __future__ import annotations

from steward.local.kwok.dsl import (
    LIVE,
    Condition,
    Stage,
    Step,
    absent,
    annotated,
    is_not,
    is_one_of,
    not_annotated,
    stage,
    status_patch,
)

PROVISIONER = "kwok.x-k8s.io/volume"

VOLUME = "steward.local/volume"
RESIZE = "steward.local/resize"


def volume_stages() -> list[Stage]:
    # The volume controller writes this annotation when it is time to provision: at once, or, for classes that wait
    # for the first consumer, when a pod has been scheduled. So any class with our provisioner works.
    ours = is_one_of('.metadata.annotations["volume.kubernetes.io/storage-provisioner"]', PROVISIONER)
    unbound = [LIVE, ours, absent(".spec.volumeName"), not_annotated(VOLUME)]
    grown = [LIVE, ours, is_one_of(".status.phase", "Bound"), is_one_of(_GROWN, "true")]
    not_pending = is_not(".status.conditions.[].type", "FileSystemResizePending")
    needs_restart = annotated(RESIZE, "needs-restart")
    return [
        stage("volume-bind", "PersistentVolumeClaim", unbound, [_volume()]),
        stage("volume-grow", "PersistentVolumeClaim", [*grown, not_annotated(RESIZE)], _grow()),
        stage(
            "volume-resize-pending",
            "PersistentVolumeClaim",
            [*grown, needs_restart, not_pending],
            [_resize_pending()],
        ),
        stage("volume-delete", "PersistentVolume", _released(), [{"delete": True}]),
    ]


_GROWN = ".spec.resources.requests.storage != .status.capacity.storage"


def _released() -> list[Condition]:
    by_us = is_one_of('.metadata.annotations["pv.kubernetes.io/provisioned-by"]', PROVISIONER)
    policy = is_one_of(".spec.persistentVolumeReclaimPolicy", "Delete")
    return [LIVE, by_us, policy, is_one_of(".status.phase", "Released")]


def _volume() -> Step:
    template = f"""
apiVersion: v1
kind: PersistentVolume
metadata:
  name: pvc-{{{{ .metadata.uid }}}}
  annotations:
    pv.kubernetes.io/provisioned-by: {PROVISIONER}
spec:
  accessModes: {{{{ toJson .spec.accessModes }}}}
  capacity:
    storage: {{{{ .spec.resources.requests.storage | Quote }}}}
  persistentVolumeReclaimPolicy: Delete
  storageClassName: {{{{ .spec.storageClassName | Quote }}}}
  volumeMode: {{{{ or .spec.volumeMode "Filesystem" }}}}
  claimRef:
    apiVersion: v1
    kind: PersistentVolumeClaim
    namespace: {{{{ .metadata.namespace }}}}
    name: {{{{ .metadata.name | Quote }}}}
    uid: {{{{ .metadata.uid }}}}
  hostPath:
    path: /var/lib/steward/volumes/{{{{ .metadata.uid }}}}
    type: DirectoryOrCreate
"""
    return {"apply": {"template": template}}


def _grow() -> list[Step]:
    # The complete volume again: kwok tries to create what it applies, and a partial volume would be rejected.
    claim = "capacity:\n  storage: {{ .spec.resources.requests.storage | Quote }}\nconditions: null\n"
    return [_volume(), status_patch(claim)]


def _resize_pending() -> Step:
    return status_patch("""
conditions:
- type: FileSystemResizePending
  status: "True"
  lastTransitionTime: {{ Now | Quote }}
  message: Waiting for user to (re-)start a pod to finish file system resize of volume on node.
""")
