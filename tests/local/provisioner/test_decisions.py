from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from steward.local.provisioner.classes import PROVISIONER
from steward.local.provisioner.decisions import (
    DeleteVolume,
    Grow,
    Placement,
    Provision,
    ReleaseDirectory,
    Unsupported,
    decide_claim,
    decide_volume,
)
from steward.local.provisioner.views import ClaimView, ClassView, VolumeView

PLACEMENT = Placement({"node-1": "z1", "node-2": "z2"}, Path("/volumes"))
REQUESTED = {"volume.kubernetes.io/storage-provisioner": PROVISIONER}
SELECTED = "volume.kubernetes.io/selected-node"
OURS = {"pv.kubernetes.io/provisioned-by": PROVISIONER}


def _claim(annotations: dict[str, str] = REQUESTED, status: Any = None, **spec: Any) -> ClaimView:
    requests = {"resources": {"requests": {"storage": spec.pop("size", "1Gi")}}}
    metadata = {"name": "data", "namespace": "shop", "uid": "u1", "annotations": annotations}
    claim = {"metadata": metadata, "spec": requests | spec, "status": status or {}}
    return msgspec.convert(claim, ClaimView)


def _class(**fields: Any) -> ClassView:
    return msgspec.convert({"metadata": {"name": "standard"}, "provisioner": PROVISIONER} | fields, ClassView)


def _volume(metadata: Any = None, phase: str = "Bound", **spec: Any) -> VolumeView:
    own = {"name": "pvc-u1", "uid": "v1", "annotations": OURS, "finalizers": ["steward.local/directory"]}
    filled = {"capacity": {"storage": "1Gi"}, "persistentVolumeReclaimPolicy": "Delete"}
    filled |= {"local": {"path": "/volumes/pvc-u1"}} | spec
    return msgspec.convert(
        {"metadata": own | (metadata or {}), "spec": filled, "status": {"phase": phase}}, VolumeView
    )


def _nodes(found: object) -> list[str]:
    assert isinstance(found, Provision)
    [term] = found.volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    nodes: list[str] = term["matchExpressions"][0]["values"]
    return nodes


def test_a_volume_belongs_to_its_claim_and_has_its_size_and_policy() -> None:
    found = decide_claim(_claim(size="3Gi"), _class(reclaimPolicy="Retain"), None, PLACEMENT)
    assert isinstance(found, Provision)
    spec = found.volume["spec"]
    assert found.volume["metadata"]["name"] == "pvc-u1"
    assert found.directory == Path("/volumes/pvc-u1")
    assert spec["local"] == {"path": "/volumes/pvc-u1"}
    assert spec["capacity"] == {"storage": "3Gi"}
    assert spec["persistentVolumeReclaimPolicy"] == "Retain"
    assert spec["claimRef"]["uid"] == "u1"


ZONE_2 = [{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["z2"]}]}]
WAIT = {"volumeBindingMode": "WaitForFirstConsumer"}


@pytest.mark.parametrize(
    ("annotations", "fields", "nodes"),
    [
        (REQUESTED, {}, ["node-1", "node-2"]),
        (REQUESTED, {"allowedTopologies": ZONE_2}, ["node-2"]),
        (REQUESTED | {SELECTED: "node-2"}, WAIT, ["node-2"]),
    ],
)
def test_nodes_that_can_use_a_volume(annotations: dict[str, str], fields: Any, nodes: list[str]) -> None:
    assert _nodes(decide_claim(_claim(annotations), _class(**fields), None, PLACEMENT)) == nodes


@pytest.mark.parametrize(
    ("claim", "storage_class"),
    [
        (_claim({}), _class()),
        (_claim({"volume.kubernetes.io/storage-provisioner": "other"}), _class()),
        (_claim(), None),
    ],
)
def test_other_claims_are_left_alone(claim: ClaimView, storage_class: ClassView | None) -> None:
    assert decide_claim(claim, storage_class, None, PLACEMENT) is None


@pytest.mark.parametrize(
    ("claim", "fields", "message"),
    [
        (_claim(volumeMode="Block"), {}, "spec.volumeMode Block is not supported: use Filesystem"),
        (_claim(selector={"matchLabels": {}}), {}, "spec.selector is not supported: remove it"),
        (_claim(dataSource={"kind": "VolumeSnapshot"}), {}, "spec.dataSource is not supported"),
        (
            _claim(REQUESTED | {SELECTED: "far"}),
            WAIT,
            "scheduled to far, which has no volumes: schedule it to node-1",
        ),
        (
            _claim(),
            {"allowedTopologies": [{"matchLabelExpressions": [{"key": "x", "values": ["y"]}]}]},
            "no node of this cluster is in a zone that StorageClass standard allows",
        ),
    ],
)
def test_a_claim_that_cannot_be_provisioned_is_explained(claim: ClaimView, fields: Any, message: str) -> None:
    found = decide_claim(claim, _class(**fields), None, PLACEMENT)
    assert isinstance(found, Unsupported)
    assert message in found.message


BOUND = {"phase": "Bound", "capacity": {"storage": "1Gi"}}


@pytest.mark.parametrize(
    ("claim", "volume", "size"),
    [
        (_claim(size="2Gi", volumeName="pvc-u1", status=BOUND), _volume(), "2Gi"),
        (_claim(size="2Gi", volumeName="pvc-u1", status=BOUND), _volume(capacity={"storage": "2Gi"}), "2Gi"),
        (_claim(size="1Gi", volumeName="pvc-u1", status=BOUND), _volume(capacity={"storage": "5Gi"}), "5Gi"),
        (
            _claim(volumeName="pvc-u1", status=BOUND | {"conditions": [{"type": "FileSystemResizePending"}]}),
            _volume(),
            "1Gi",
        ),
    ],
)
def test_a_claim_that_is_recorded_smaller_than_it_is_grows(
    claim: ClaimView, volume: VolumeView, size: str
) -> None:
    assert decide_claim(claim, _class(), volume, PLACEMENT) == Grow("pvc-u1", size)


@pytest.mark.parametrize(
    ("claim", "volume"),
    [
        (_claim(size="1024Mi", volumeName="pvc-u1", status=BOUND), _volume()),
        (_claim(size="2Gi", volumeName="pvc-u1", status=BOUND), _volume({"annotations": {}})),
        (_claim(size="2Gi", volumeName="pvc-u1", status=BOUND), None),
        (_claim(size="2Gi", volumeName="pvc-u1"), _volume()),
    ],
)
def test_a_claim_does_not_grow_without_a_reason(claim: ClaimView, volume: VolumeView | None) -> None:
    assert decide_claim(claim, _class(), volume, PLACEMENT) is None


TERMINATING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
PROTECTED = {"finalizers": ["kubernetes.io/pv-protection", "steward.local/directory"]}


@pytest.mark.parametrize(
    ("volume", "decision"),
    [
        (_volume(phase="Bound"), None),
        (_volume(phase="Released"), DeleteVolume("v1")),
        (_volume(phase="Failed"), DeleteVolume("v1")),
        (_volume(phase="Released", persistentVolumeReclaimPolicy="Retain"), None),
        (_volume({"annotations": {}}, phase="Released"), None),
        (_volume(TERMINATING | PROTECTED), None),
        (_volume(TERMINATING), ReleaseDirectory(Path("/volumes/pvc-u1"))),
        (_volume(TERMINATING, persistentVolumeReclaimPolicy="Retain"), ReleaseDirectory(None)),
        (_volume(TERMINATING, local={"path": "/etc"}), ReleaseDirectory(None)),
        (_volume(TERMINATING | {"name": "other"}, local={"path": "/volumes/other"}), ReleaseDirectory(None)),
    ],
)
def test_what_happens_to_a_volume(volume: VolumeView, decision: object) -> None:
    assert decide_volume(volume, PLACEMENT) == decision
