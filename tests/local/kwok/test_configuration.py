"""The stages of pods, volumes and nodes, on the real control plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.kwok.pods import COMPLETE_AFTER, DELETE_AFTER, POD, READY_AFTER
from steward.local.kwok.volumes import RESIZE, VOLUME
from steward.testkit import AuditLog
from tests.local.support.cluster_access import Cluster, Object


@dataclass(frozen=True)
class ClusterNamespace:
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
def subject(control_plane: ControlPlane, namespace: str) -> ClusterNamespace:
    return ClusterNamespace(Cluster(control_plane), namespace)


def is_ready(pod: Object) -> bool:
    return condition(pod, "Ready") == "True"


def condition(found: Object, kind: str) -> str | None:
    conditions = found["status"].get("conditions", [])
    return next((item["status"] for item in conditions if item["type"] == kind), None)


def waiting_reason(pod: Object) -> str | None:
    statuses = pod["status"].get("containerStatuses", [])
    return statuses[0]["state"].get("waiting", {}).get("reason") if statuses else None


async def test_a_pod_becomes_ready_with_its_init_containers_and_sidecars(subject: ClusterNamespace) -> None:
    init = [
        {"name": "init", "image": "busybox"},
        {"name": "sidecar", "image": "busybox", "restartPolicy": "Always"},
    ]
    path = await subject.pod(initContainers=init, readinessGates=[{"conditionType": "example.test/gate"}])
    pod = await subject.cluster.wait(path, is_ready)
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
async def test_a_pod_fails_as_annotated_and_recovers_without_the_annotation(
    subject: ClusterNamespace, failure: str, phase: str, reason: str | None
) -> None:
    path = await subject.pod({POD: failure})
    pod = await subject.cluster.wait(path, lambda p: condition(p, "Ready") == "False")
    assert (pod["status"]["phase"], waiting_reason(pod)) == (phase, reason)
    await subject.annotate(path, **{POD: None})
    recovered = await subject.cluster.wait(path, is_ready)
    assert recovered["status"]["phase"] == "Running"
    assert recovered["status"]["podIP"] == pod["status"]["podIP"]


async def test_a_ready_pod_fails_when_it_is_annotated(subject: ClusterNamespace) -> None:
    path = await subject.pod()
    await subject.cluster.wait(path, is_ready)
    await subject.annotate(path, **{POD: "crash-loop"})
    pod = await subject.cluster.wait(path, lambda p: waiting_reason(p) == "CrashLoopBackOff")
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 5
    await subject.annotate(path, **{POD: None})
    recovered = await subject.cluster.wait(path, is_ready)
    assert recovered["status"]["containerStatuses"][0]["restartCount"] == 5


async def test_a_failed_pod_stays_failed(subject: ClusterNamespace) -> None:
    path = await subject.pod({POD: "failed"}, restartPolicy="Never")
    pod = await subject.cluster.wait(path, lambda p: p["status"]["phase"] == "Failed")
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 1


async def test_a_slow_pod_is_scheduled_first_and_ready_later(subject: ClusterNamespace) -> None:
    path = await subject.pod({READY_AFTER: "2s"})
    pod = await subject.cluster.wait(path, lambda p: condition(p, "PodScheduled") == "True")
    assert not is_ready(pod)
    await subject.cluster.wait(path, is_ready)


async def test_the_pods_of_a_job_complete(subject: ClusterNamespace) -> None:
    jobs = f"/apis/batch/v1/namespaces/{subject.namespace}/jobs"
    template = {
        "metadata": {"annotations": {COMPLETE_AFTER: "100ms"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]},
    }
    await subject.cluster.create(jobs, {"metadata": {"name": "once"}, "spec": {"template": template}})
    await subject.cluster.wait(f"{jobs}/once", lambda job: condition(job, "Complete") == "True")


async def test_the_job_of_a_failing_pod_fails(subject: ClusterNamespace) -> None:
    jobs = f"/apis/batch/v1/namespaces/{subject.namespace}/jobs"
    template = {
        "metadata": {"annotations": {POD: "failed"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]},
    }
    spec = {"backoffLimit": 0, "template": template}
    await subject.cluster.create(jobs, {"metadata": {"name": "never"}, "spec": spec})
    await subject.cluster.wait(f"{jobs}/never", lambda job: condition(job, "Failed") == "True")


async def test_a_deleted_pod_is_removed(subject: ClusterNamespace) -> None:
    path = await subject.pod()
    await subject.cluster.wait(path, is_ready)
    await subject.cluster.delete(path)
    await subject.cluster.wait(path, lambda pod: pod is None)


async def test_a_deleted_pod_with_a_finalizer_stays_until_that_is_removed_and_kwok_deletes_it_once(
    subject: ClusterNamespace, control_plane: ControlPlane
) -> None:
    path = await subject.pod()
    await subject.cluster.wait(path, is_ready)
    await subject.cluster.merge(path, {"metadata": {"finalizers": ["example.test/hold"]}})
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    await subject.cluster.delete(path)
    await subject.cluster.wait(path, lambda pod: pod["metadata"]["deletionGracePeriodSeconds"] == 0)
    await subject.cluster.merge(path, {"metadata": {"finalizers": None}})
    await subject.cluster.wait(path, lambda pod: pod is None)
    calls = await audit.calls_since(mark)
    written = [each for each in calls.writes_of("kwok") if each.call.namespace == subject.namespace]
    assert [each.call.verb for each in written] == ["delete"]


async def test_a_deleted_pod_stays_terminating_as_long_as_annotated(subject: ClusterNamespace) -> None:
    path = await subject.pod({DELETE_AFTER: "1h"})
    await subject.cluster.wait(path, is_ready)
    await subject.cluster.delete(path)
    terminating = await subject.cluster.get(path)
    assert terminating["metadata"]["deletionTimestamp"]
    await subject.annotate(path, **{DELETE_AFTER: "0s"})
    await subject.cluster.wait(path, lambda pod: pod is None)


async def test_a_claim_is_bound_and_expanded_and_its_volume_deleted_with_it(
    subject: ClusterNamespace,
) -> None:
    claim = await subject.claim()
    assert claim["status"]["capacity"]["storage"] == "1Gi"
    await subject.grow("3Gi")
    await subject.cluster.wait(subject.claims("data"), lambda c: c["status"]["capacity"]["storage"] == "3Gi")
    volume = f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}"
    assert (await subject.cluster.get(volume))["spec"]["capacity"]["storage"] == "3Gi"
    await subject.cluster.delete(subject.claims("data"))
    await subject.cluster.wait(volume, lambda found: found is None)


async def test_a_claim_of_the_fixed_class_cannot_expand(subject: ClusterNamespace) -> None:
    await subject.claim("fixed")
    with pytest.raises(AssertionError, match="only dynamically provisioned pvc can be resized"):
        await subject.grow("3Gi")


async def test_a_resize_can_wait_for_a_restart_of_the_pod(subject: ClusterNamespace) -> None:
    await subject.claim(annotations={RESIZE: "needs-restart"})
    await subject.grow("2Gi")
    pending = await subject.cluster.wait(
        subject.claims("data"), lambda c: condition(c, "FileSystemResizePending") == "True"
    )
    assert pending["status"]["capacity"]["storage"] == "1Gi"
    await subject.annotate(subject.claims("data"), **{RESIZE: None})
    done = await subject.cluster.wait(
        subject.claims("data"), lambda c: c["status"]["capacity"]["storage"] == "2Gi"
    )
    assert condition(done, "FileSystemResizePending") is None


async def test_an_annotated_claim_is_not_bound(subject: ClusterNamespace) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "data", "annotations": {VOLUME: "never-bound"}}
    await subject.cluster.create(subject.claims(), {"metadata": metadata, "spec": spec})
    provisioner = "volume.kubernetes.io/storage-provisioner"
    claim = await subject.cluster.wait(
        subject.claims("data"), lambda c: provisioner in c["metadata"]["annotations"]
    )
    assert claim["status"]["phase"] == "Pending"
    await subject.annotate(subject.claims("data"), **{VOLUME: None})
    await subject.cluster.wait(subject.claims("data"), lambda c: c["status"]["phase"] == "Bound")


async def test_a_stateful_set_in_a_zone_gets_its_pods_and_volumes_there(subject: ClusterNamespace) -> None:
    sets = f"/apis/apps/v1/namespaces/{subject.namespace}/statefulsets"
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
    await subject.cluster.create(sets, {"metadata": {"name": "db"}, "spec": spec})
    await subject.cluster.wait(f"{sets}/db", lambda s: s["status"].get("readyReplicas") == 3)
    pods = (await subject.cluster.get(subject.pods()))["items"]
    assert {pod["spec"]["nodeName"] for pod in pods} == {"node-2"}
