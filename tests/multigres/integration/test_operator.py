"""The operator as a process on a real control plane: clusters grow, are put back when edited, and tell the truth."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.kubectl import Kubectl

LIMIT_SECONDS = 240.0


def eventually(look: Callable[[], Any], what: str, limit: float = LIMIT_SECONDS) -> Any:
    """Waits for a condition; the limit is for a broken operator, not for a slow machine."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.1)
    pytest.fail(f"waited {limit:.0f} s in vain for {what}")


def cluster(namespace: str, name: str = "mini", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"cells": [{"zone": "z1"}], **spec},
    }


class Clusters:
    """What the tests of this file do with clusters in their namespace."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self.kubectl = kubectl
        self.namespace = namespace

    def apply(self, manifest: dict[str, Any]) -> None:
        self.kubectl("apply", "--server-side", "--field-manager=user", "-f", "-", document=manifest)

    def get(self, kind: str, name: str) -> Any:
        found = self.kubectl.json(
            "get", kind, "-n", self.namespace, "--field-selector", f"metadata.name={name}"
        )
        return found["items"][0] if found["items"] else None

    def all(self, kind: str) -> list[Any]:
        return self.kubectl.json("get", kind, "-n", self.namespace)["items"]  # type: ignore[no-any-return]

    def wait_ready(self, name: str = "mini") -> Any:
        self.kubectl(
            "wait",
            "mgc",
            name,
            "-n",
            self.namespace,
            "--for=condition=Ready",
            f"--timeout={LIMIT_SECONDS:.0f}s",
        )
        return self.get("mgc", name)


@pytest.fixture
def clusters(operator: object, kubectl: Kubectl, namespace: str) -> Clusters:
    return Clusters(kubectl, namespace)


def test_three_lines_become_a_cluster_that_says_it_is_ready(clusters: Clusters) -> None:
    clusters.apply(cluster(clusters.namespace))
    ready = clusters.wait_ready()
    status = ready["status"]
    assert status["observedGeneration"] == ready["metadata"]["generation"]
    assert status["phase"] == "Healthy"
    assert status["cells"] == {"z1": {"ready": True, "gatewayReplicas": 1}}
    assert status["databases"] == {"postgres": {"readyShards": 1, "totalShards": 1}}
    assert status["gatewayServiceName"] == "mini-multigateway"
    conditions = {c["type"]: c["status"] for c in status["conditions"]}
    assert conditions["Available"] == "True"
    assert conditions["Degraded"] == "False"
    assert "Reconciling" not in conditions


def test_an_application_finds_all_it_needs_in_one_secret(clusters: Clusters) -> None:
    clusters.apply(cluster(clusters.namespace))
    clusters.wait_ready()
    secret = eventually(lambda: clusters.get("secret", "mini-app"), "the connection Secret")
    assert set(secret["data"]) == {"host", "port", "user", "password", "dbname", "uri"}


def test_a_hand_edited_child_is_put_back(clusters: Clusters) -> None:
    clusters.apply(cluster(clusters.namespace))
    clusters.wait_ready()
    ns = clusters.namespace
    clusters.kubectl("scale", "deployment", "mini-multiadmin", "-n", ns, "--replicas=3")
    eventually(
        lambda: clusters.get("deployment", "mini-multiadmin")["spec"]["replicas"] == 1,
        "the scale to be undone",
    )
    clusters.kubectl("delete", "service", "mini-multigateway", "-n", ns)
    eventually(lambda: clusters.get("service", "mini-multigateway"), "the Service to be put back")
    [cell] = clusters.all("cell")
    clusters.kubectl(
        "patch", "cell", cell["metadata"]["name"], "-n", ns, "--type=merge", "-p", '{"spec":{"zone":"z2"}}'
    )
    eventually(lambda: clusters.all("cell")[0]["spec"]["zone"] == "z1", "the Cell to be put back")


def test_what_leaves_the_spec_leaves_the_cluster(clusters: Clusters) -> None:
    two = [{"zone": "z1"}, {"zone": "z2"}]
    clusters.apply(cluster(clusters.namespace, cells=two))
    clusters.wait_ready()
    period = "multigres.com/graceful-shutdown-period=1s"
    clusters.kubectl("annotate", "mgc", "mini", "-n", clusters.namespace, period)
    clusters.apply(cluster(clusters.namespace, cells=two[:1]))
    eventually(lambda: len(clusters.all("cell")) == 1, "the Cell to go")
    gone = "app.kubernetes.io/component=multigateway,multigres.com/cell=z2"
    eventually(
        lambda: not clusters.kubectl.json("get", "deploy", "-n", clusters.namespace, "-l", gone)["items"],
        "its gateways to go",
    )


def test_a_spec_that_cannot_be_carried_out_says_so_and_changes_nothing(clusters: Clusters) -> None:
    clusters.apply(cluster(clusters.namespace))
    clusters.wait_ready()
    clusters.apply(cluster(clusters.namespace, templateDefaults={"shardTemplate": "gone"}))

    def stalled() -> Any:
        found = clusters.get("mgc", "mini")["status"]["conditions"]
        return next((c for c in found if c["type"] == "Stalled" and c["status"] == "True"), None)

    condition = eventually(stalled, "the cluster to say that it is stalled")
    assert condition["message"] == (
        "spec.templateDefaults.shardTemplate: ShardTemplate 'gone' does not exist in namespace "
        f"'{clusters.namespace}'"
    )
    assert len(clusters.all("shard")) == 1


def test_an_object_of_somebody_else_under_our_name_is_left_alone_and_named(clusters: Clusters) -> None:
    ns = clusters.namespace
    clusters.kubectl("create", "service", "clusterip", "mini-multigateway", "-n", ns, "--tcp=80")
    clusters.apply(cluster(ns))

    def told() -> Any:
        found = (clusters.get("mgc", "mini").get("status") or {}).get("message", "")
        return found if "belongs to somebody else" in found else None

    assert f"Service {ns}/mini-multigateway" in eventually(told, "the cluster to name the stranger")
    ports = clusters.get("service", "mini-multigateway")["spec"]["ports"]
    assert [port["port"] for port in ports] == [80]


def test_a_crash_loop_shows_up_in_the_clusters_own_message(clusters: Clusters) -> None:
    crash = {"podAnnotations": {"steward.local/pod": "crash-loop"}}
    clusters.apply(cluster(clusters.namespace, cells=[{"zone": "z1", "spec": {"multiGateway": crash}}]))

    def told() -> Any:
        found = (clusters.get("mgc", "mini").get("status") or {}).get("message", "")
        return found if "CrashLoopBackOff" in found else None

    assert "cell z1" in eventually(told, "the crash loop to be told")
    assert clusters.get("mgc", "mini")["status"]["phase"] == "Degraded"


def test_scaling_to_zero_is_ready(clusters: Clusters) -> None:
    clusters.apply(cluster(clusters.namespace, multiadmin={"spec": {"replicas": 0}}))
    clusters.wait_ready()
    assert clusters.get("deployment", "mini-multiadmin")["spec"]["replicas"] == 0
