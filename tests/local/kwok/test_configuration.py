"""What kwok makes of pods, volumes and nodes, seen on the real control plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.kwok.pods import COMPLETE_AFTER, DELETE_AFTER, POD, READY_AFTER
from steward.local.kwok.volumes import RESIZE, VOLUME
from tests.local.support.cluster_access import Cluster, Object


@dataclass(frozen=True)
class Place:
    """A namespace of the shared cluster."""

    cluster: Cluster
    namespace: str

    def pods(self, name: str = "") -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods/{name}".rstrip("/")

    def claims(self, name: str = "") -> str:
        return f"/api/v1/namespaces/{self.namespace}/persistentvolumeclaims/{name}".rstrip("/")

    async def pod(self, annotations: dict[str, str] | None = None, **spec: Any) -> str:
        containers = {"containers": [{"name": "main", "image": "busybox"}]}
        metadata = {"name": "subject", "annotations": annotations or {}}
        await self.cluster.create(self.pods(), {"metadata": metadata, "spec": containers | spec})
        return self.pods("subject")

    async def claim(
        self, storage_class: str = "standard", annotations: dict[str, str] | None = None
    ) -> Object:
        spec = {
            "storageClassName": storage_class,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        }
        metadata = {"name": "data", "annotations": annotations or {}}
        await self.cluster.create(self.claims(), {"metadata": metadata, "spec": spec})
        bound: Object = await self.cluster.wait(
            self.claims("data"), lambda c: c["status"]["phase"] == "Bound"
        )
        return bound

    async def grow(self, size: str) -> None:
        await self.cluster.merge(
            self.claims("data"), {"spec": {"resources": {"requests": {"storage": size}}}}
        )

    async def annotate(self, path: str, **annotations: str | None) -> None:
        await self.cluster.merge(path, {"metadata": {"annotations": annotations}})


@pytest.fixture
def place(control_plane: ControlPlane, namespace: str) -> Place:
    return Place(Cluster(control_plane), namespace)


def is_ready(pod: Object) -> bool:
    return condition(pod, "Ready") == "True"


def condition(found: Object, kind: str) -> str | None:
    conditions = found["status"].get("conditions", [])
    return next((each["status"] for each in conditions if each["type"] == kind), None)


def waiting_reason(pod: Object) -> str | None:
    statuses = pod["status"].get("containerStatuses", [])
    return statuses[0]["state"].get("waiting", {}).get("reason") if statuses else None


async def test_a_pod_becomes_ready_with_its_init_containers_and_sidecars(place: Place) -> None:
    init = [
        {"name": "init", "image": "busybox"},
        {"name": "sidecar", "image": "busybox", "restartPolicy": "Always"},
    ]
    path = await place.pod(initContainers=init, readinessGates=[{"conditionType": "example.test/gate"}])
    pod = await place.cluster.wait(path, is_ready)
    ended, sidecar = pod["status"]["initContainerStatuses"]
    assert ended["state"]["terminated"]["exitCode"] == 0
    assert (sidecar["ready"], sidecar["started"], "running" in sidecar["state"]) == (True, True, True)
    assert pod["status"]["containerStatuses"][0]["started"] is True
    assert condition(pod, "example.test/gate") == "True"
    assert pod["status"]["podIP"].startswith("10.")


@pytest.mark.parametrize(
    ("failure", "phase", "reason"),
    [
        ("never-ready", "Running", None),
        ("crash-loop", "Running", "CrashLoopBackOff"),
        ("image-pull-failure", "Pending", "ImagePullBackOff"),
    ],
)
async def test_a_pod_fails_as_its_annotation_says_and_heals_when_it_goes(
    place: Place, failure: str, phase: str, reason: str | None
) -> None:
    path = await place.pod({POD: failure})
    pod = await place.cluster.wait(path, lambda p: condition(p, "Ready") == "False")
    assert (pod["status"]["phase"], waiting_reason(pod)) == (phase, reason)
    await place.annotate(path, **{POD: None})
    healed = await place.cluster.wait(path, is_ready)
    assert healed["status"]["phase"] == "Running"
    assert healed["status"]["podIP"] == pod["status"]["podIP"]


async def test_a_ready_pod_breaks_when_the_annotation_comes(place: Place) -> None:
    path = await place.pod()
    await place.cluster.wait(path, is_ready)
    await place.annotate(path, **{POD: "crash-loop"})
    pod = await place.cluster.wait(path, lambda p: waiting_reason(p) == "CrashLoopBackOff")
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 5
    await place.annotate(path, **{POD: None})
    healed = await place.cluster.wait(path, is_ready)
    assert healed["status"]["containerStatuses"][0]["restartCount"] == 5


async def test_a_failed_pod_stays_failed(place: Place) -> None:
    path = await place.pod({POD: "failed"}, restartPolicy="Never")
    pod = await place.cluster.wait(path, lambda p: p["status"]["phase"] == "Failed")
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 1


async def test_a_slow_pod_is_scheduled_first_and_ready_later(place: Place) -> None:
    path = await place.pod({READY_AFTER: "2s"})
    pod = await place.cluster.wait(path, lambda p: condition(p, "PodScheduled") == "True")
    assert not is_ready(pod)
    await place.cluster.wait(path, is_ready)


async def test_the_pods_of_a_job_complete(place: Place) -> None:
    jobs = f"/apis/batch/v1/namespaces/{place.namespace}/jobs"
    template = {
        "metadata": {"annotations": {COMPLETE_AFTER: "100ms"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]},
    }
    await place.cluster.create(jobs, {"metadata": {"name": "once"}, "spec": {"template": template}})
    await place.cluster.wait(f"{jobs}/once", lambda job: condition(job, "Complete") == "True")


async def test_the_job_of_a_failing_pod_fails(place: Place) -> None:
    jobs = f"/apis/batch/v1/namespaces/{place.namespace}/jobs"
    template = {
        "metadata": {"annotations": {POD: "failed"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]},
    }
    spec = {"backoffLimit": 0, "template": template}
    await place.cluster.create(jobs, {"metadata": {"name": "never"}, "spec": spec})
    await place.cluster.wait(f"{jobs}/never", lambda job: condition(job, "Failed") == "True")


async def test_a_deleted_pod_goes(place: Place) -> None:
    path = await place.pod()
    await place.cluster.wait(path, is_ready)
    await place.cluster.delete(path)
    await place.cluster.wait(path, lambda pod: pod is None)


async def test_a_deleted_pod_lingers_as_long_as_its_annotation_says(place: Place) -> None:
    path = await place.pod({DELETE_AFTER: "1h"})
    await place.cluster.wait(path, is_ready)
    await place.cluster.delete(path)
    lingering = await place.cluster.get(path)
    assert lingering["metadata"]["deletionTimestamp"]
    await place.annotate(path, **{DELETE_AFTER: "0s"})
    await place.cluster.wait(path, lambda pod: pod is None)


async def test_a_claim_is_bound_grows_and_takes_its_volume_with_it(place: Place) -> None:
    claim = await place.claim()
    assert claim["status"]["capacity"]["storage"] == "1Gi"
    await place.grow("3Gi")
    await place.cluster.wait(place.claims("data"), lambda c: c["status"]["capacity"]["storage"] == "3Gi")
    volume = f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}"
    assert (await place.cluster.get(volume))["spec"]["capacity"]["storage"] == "3Gi"
    await place.cluster.delete(place.claims("data"))
    await place.cluster.wait(volume, lambda found: found is None)


async def test_a_claim_of_the_fixed_class_cannot_grow(place: Place) -> None:
    await place.claim("fixed")
    with pytest.raises(AssertionError, match="only dynamically provisioned pvc can be resized"):
        await place.grow("3Gi")


async def test_a_resize_can_wait_for_a_restart_of_the_pod(place: Place) -> None:
    await place.claim(annotations={RESIZE: "needs-restart"})
    await place.grow("2Gi")
    pending = await place.cluster.wait(
        place.claims("data"), lambda c: condition(c, "FileSystemResizePending") == "True"
    )
    assert pending["status"]["capacity"]["storage"] == "1Gi"
    await place.annotate(place.claims("data"), **{RESIZE: None})
    done = await place.cluster.wait(
        place.claims("data"), lambda c: c["status"]["capacity"]["storage"] == "2Gi"
    )
    assert condition(done, "FileSystemResizePending") is None


async def test_a_claim_can_be_kept_from_being_bound(place: Place) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "data", "annotations": {VOLUME: "never-bound"}}
    await place.cluster.create(place.claims(), {"metadata": metadata, "spec": spec})
    provisioner = "volume.kubernetes.io/storage-provisioner"
    claim = await place.cluster.wait(
        place.claims("data"), lambda c: provisioner in c["metadata"]["annotations"]
    )
    assert claim["status"]["phase"] == "Pending"
    await place.annotate(place.claims("data"), **{VOLUME: None})
    await place.cluster.wait(place.claims("data"), lambda c: c["status"]["phase"] == "Bound")


async def test_a_stateful_set_in_a_zone_gets_its_pods_and_volumes_there(place: Place) -> None:
    sets = f"/apis/apps/v1/namespaces/{place.namespace}/statefulsets"
    pod_spec = {
        "nodeSelector": {"topology.kubernetes.io/zone": "z2"},
        "containers": [{"name": "main", "image": "busybox"}],
    }
    volume = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    spec = {
        "replicas": 3,
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": pod_spec},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": volume}],
    }
    await place.cluster.create(sets, {"metadata": {"name": "db"}, "spec": spec})
    await place.cluster.wait(f"{sets}/db", lambda s: s["status"].get("readyReplicas") == 3)
    pods = (await place.cluster.get(place.pods()))["items"]
    assert {pod["spec"]["nodeName"] for pod in pods} == {"node-2"}
