"""The provisioner as a process, against a real API server with its volume controller and scheduler."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.provisioner.classes import PROVISIONER
from tests.support.api_server import ApiServer
from tests.tenants.support.customers import until

_MERGE = {"Content-Type": "application/merge-patch+json"}
_NODES = {"node-1": "z1", "node-2": "z2", "node-3": "z3"}


class Cluster:
    """Claims, volumes and pods of one namespace, and a storage class of its own."""

    def __init__(self, server: ApiServer, plane: ControlPlane, namespace: str, directory: Path) -> None:
        self.server, self._plane, self.namespace, self.directory = server, plane, namespace, directory

    @contextmanager
    def provisioner(self) -> Iterator[subprocess.Popen[bytes]]:
        nodes = [part for name, zone in _NODES.items() for part in ("--node", f"{name}={zone}")]
        where = ["--kubeconfig", str(self._plane.kubeconfig), "--directory", str(self.directory)]
        process = subprocess.Popen([sys.executable, "-m", "steward.local.provisioner", *where, *nodes])
        try:
            yield process
        finally:
            process.terminate()
            assert process.wait(timeout=30) in (0, -signal.SIGKILL)

    def storage_class(self, **fields: Any) -> str:
        name = f"class-{secrets.token_hex(5)}"
        body = {"metadata": {"name": name}, "provisioner": PROVISIONER, "allowVolumeExpansion": True}
        self.post("/apis/storage.k8s.io/v1/storageclasses", body | fields)
        return name

    def claim(self, storage_class: str, name: str = "data", **spec: Any) -> None:
        filled = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
        filled |= {"resources": {"requests": {"storage": "1Gi"}}} | spec
        self.post(self.path("persistentvolumeclaims"), {"metadata": {"name": name}, "spec": filled})

    def pod(self, node: str) -> None:
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        spec = {"containers": [{"name": "c", "image": "c"}], "volumes": [volume]}
        spec |= {"nodeSelector": {"kubernetes.io/hostname": node}}
        self.post(self.path("pods"), {"metadata": {"name": "user"}, "spec": spec})

    def path(self, plural: str) -> str:
        return f"/api/v1/namespaces/{self.namespace}/{plural}"

    def get_claim(self, name: str = "data") -> dict[str, Any]:
        return dict(self.server.call("GET", f"{self.path('persistentvolumeclaims')}/{name}").json())

    def bound(self) -> dict[str, Any]:
        """The volume, when the claim is bound."""
        until(lambda: self.get_claim()["status"].get("phase") == "Bound", self.get_claim)
        return self.volume(self.get_claim()["spec"]["volumeName"]) or {}

    def volume(self, name: str) -> dict[str, Any] | None:
        answer = self.server.call("GET", f"/api/v1/persistentvolumes/{name}")
        return dict(answer.json()) if answer.status == 200 else None

    def events(self) -> list[str]:
        found = self.server.call("GET", f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events").json()
        return [each["note"] for each in found["items"] if each["reason"] == "ProvisioningFailed"]

    def post(self, path: str, body: Any) -> None:
        answer = self.server.call("POST", path, body)
        assert answer.status == 201, answer.body

    def patch(self, path: str, body: Any) -> None:
        answer = self.server.call("PATCH", path, body, **_MERGE)
        assert answer.status == 200, answer.body

    def delete_claim(self) -> None:
        self.server.call("DELETE", f"{self.path('persistentvolumeclaims')}/data")

    def request(self, size: str) -> None:
        grown = {"spec": {"resources": {"requests": {"storage": size}}}}
        self.patch(f"{self.path('persistentvolumeclaims')}/data", grown)


@pytest.fixture
def cluster(api_server: ApiServer, control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Cluster:
    return Cluster(api_server, control_plane, namespace, tmp_path / "volumes")


def _path(volume: dict[str, Any]) -> Path:
    return Path(volume["spec"]["local"]["path"])


def _hosts(volume: dict[str, Any]) -> list[str]:
    [term] = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    hosts: list[str] = term["matchExpressions"][0]["values"]
    return hosts


def test_a_claim_of_an_immediate_class_is_bound_to_a_directory_that_all_nodes_can_use(
    cluster: Cluster,
) -> None:
    with cluster.provisioner():
        cluster.claim(cluster.storage_class())
        volume = cluster.bound()
    assert _path(volume).is_dir()
    assert _path(volume).parent == cluster.directory
    assert _hosts(volume) == list(_NODES)
    assert cluster.get_claim()["status"]["capacity"] == {"storage": "1Gi"}


def test_a_claim_that_waits_is_bound_to_the_node_of_its_first_pod(cluster: Cluster) -> None:
    with cluster.provisioner():
        cluster.claim(cluster.storage_class(volumeBindingMode="WaitForFirstConsumer"))
        cluster.pod("node-2")
        assert _hosts(cluster.bound()) == ["node-2"]


def test_a_claim_without_a_pod_waits(cluster: Cluster) -> None:
    with cluster.provisioner():
        cluster.claim(cluster.storage_class(volumeBindingMode="WaitForFirstConsumer"))
        cluster.claim(cluster.storage_class(), "later")
        until(lambda: cluster.get_claim("later")["status"].get("phase") == "Bound", cluster.get_claim)
    assert "volumeName" not in cluster.get_claim()["spec"]


def test_a_claim_that_requests_more_grows_with_its_volume(cluster: Cluster) -> None:
    with cluster.provisioner():
        cluster.claim(cluster.storage_class())
        name = cluster.bound()["metadata"]["name"]
        cluster.request("3Gi")
        until(lambda: cluster.get_claim()["status"]["capacity"]["storage"] == "3Gi", cluster.get_claim)
    grown = cluster.volume(name)
    assert grown is not None
    assert grown["spec"]["capacity"]["storage"] == "3Gi"
    assert cluster.get_claim()["status"].get("conditions", []) == []


def test_a_deleted_claim_takes_its_volume_and_its_directory_with_it(cluster: Cluster) -> None:
    with cluster.provisioner():
        cluster.claim(cluster.storage_class())
        volume = cluster.bound()
        (_path(volume) / "file").write_text("data")
        cluster.delete_claim()
        until(lambda: cluster.volume(volume["metadata"]["name"]) is None)
    assert not _path(volume).exists()


def test_a_retained_volume_keeps_its_directory_even_after_it_is_deleted(
    cluster: Cluster, api_server: ApiServer
) -> None:
    with cluster.provisioner():
        cluster.claim(cluster.storage_class(reclaimPolicy="Retain"))
        volume = cluster.bound()
        name = volume["metadata"]["name"]
        (_path(volume) / "file").write_text("data")
        cluster.delete_claim()
        until(
            lambda: (cluster.volume(name) or {})["status"]["phase"] == "Released",
            lambda: cluster.volume(name),
        )
        api_server.call("DELETE", f"/api/v1/persistentvolumes/{name}")
        until(lambda: cluster.volume(name) is None, lambda: cluster.volume(name))
    assert (_path(volume) / "file").read_text() == "data"


def test_changes_while_the_provisioner_is_down_are_made_up_for(cluster: Cluster) -> None:
    storage_class = cluster.storage_class()
    cluster.claim(storage_class)
    with cluster.provisioner() as process:
        cluster.bound()
        process.kill()
        process.wait(timeout=60)
    cluster.request("2Gi")
    with cluster.provisioner():
        until(lambda: cluster.get_claim()["status"]["capacity"]["storage"] == "2Gi", cluster.get_claim)
        volume = cluster.bound()
    cluster.delete_claim()
    with cluster.provisioner():
        until(lambda: cluster.volume(volume["metadata"]["name"]) is None)
    assert not _path(volume).exists()


def test_a_volume_of_an_earlier_attempt_is_used(cluster: Cluster) -> None:
    """A provisioner that was killed after the directory and before the volume leaves the directory."""
    cluster.claim(cluster.storage_class())
    leftover = cluster.directory / f"pvc-{cluster.get_claim()['metadata']['uid']}"
    leftover.mkdir(parents=True)
    with cluster.provisioner():
        assert _path(cluster.bound()) == leftover
    assert leftover.is_dir()


def test_a_claim_that_cannot_be_provisioned_gets_an_event(cluster: Cluster) -> None:
    with cluster.provisioner():
        cluster.claim(cluster.storage_class(), volumeMode="Block")
        until(
            lambda: any("volumeMode Block is not supported" in note for note in cluster.events()),
            cluster.events,
        )
