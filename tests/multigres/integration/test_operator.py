"""The operator as a process on a real control plane: creating, repairing and reporting on clusters."""

from typing import Any

import pytest

from tests.multigres.support.clusters import Clusters, cluster
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl


@pytest.fixture
def clusters(operator: object, kubectl: Kubectl, namespace: str) -> Clusters:
    return Clusters(kubectl, namespace)


def test_a_three_line_spec_becomes_a_ready_cluster(clusters: Clusters) -> None:
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
    address = {"host", "port", "replicaPort", "dbname"}
    assert set(secret["data"]) == {*address, "user", "password", "uri", "jdbcUri"}


def test_an_edited_child_is_repaired(clusters: Clusters) -> None:
    clusters.apply(cluster(clusters.namespace))
    clusters.wait_ready()
    ns = clusters.namespace
    clusters.kubectl("scale", "deployment", "mini-multiadmin", "-n", ns, "--replicas=3")
    eventually(
        lambda: clusters.get("deployment", "mini-multiadmin")["spec"]["replicas"] == 1,
        "the scale to be reverted",
    )
    clusters.kubectl("delete", "service", "mini-multigateway", "-n", ns)
    eventually(lambda: clusters.get("service", "mini-multigateway"), "the Service to be recreated")
    [cell] = clusters.all("cell")
    clusters.kubectl(
        "patch", "cell", cell["metadata"]["name"], "-n", ns, "--type=merge", "-p", '{"spec":{"zone":"z2"}}'
    )
    eventually(lambda: clusters.all("cell")[0]["spec"]["zone"] == "z1", "the Cell to be repaired")


def test_a_cell_that_is_removed_from_the_spec_is_deleted(clusters: Clusters) -> None:
    two = [{"zone": "z1"}, {"zone": "z2"}]
    clusters.apply(cluster(clusters.namespace, cells=two))
    clusters.wait_ready()
    period = "multigres.com/graceful-shutdown-period=1s"
    clusters.kubectl("annotate", "mgc", "mini", "-n", clusters.namespace, period)
    clusters.apply(cluster(clusters.namespace, cells=two[:1]))
    eventually(lambda: len(clusters.all("cell")) == 1, "the Cell to be deleted")
    gone = "app.kubernetes.io/component=multigateway,multigres.com/cell=z2"
    eventually(
        lambda: not clusters.kubectl.json("get", "deploy", "-n", clusters.namespace, "-l", gone)["items"],
        "its gateways to be deleted",
    )


def test_a_spec_that_cannot_be_resolved_is_reported_and_changes_nothing(clusters: Clusters) -> None:
    clusters.apply(cluster(clusters.namespace))
    clusters.wait_ready()
    clusters.apply(cluster(clusters.namespace, templateDefaults={"shardTemplate": "gone"}))

    def stalled() -> Any:
        found = clusters.get("mgc", "mini")["status"]["conditions"]
        return next((c for c in found if c["type"] == "Stalled" and c["status"] == "True"), None)

    condition = eventually(stalled, "the cluster to report that it is stalled")
    assert condition["message"] == (
        "spec.templateDefaults.shardTemplate: ShardTemplate 'gone' does not exist in namespace "
        f"'{clusters.namespace}'"
    )
    assert len(clusters.all("shard")) == 1


def test_a_foreign_object_under_a_needed_name_is_left_alone_and_named(clusters: Clusters) -> None:
    ns = clusters.namespace
    clusters.kubectl("create", "service", "clusterip", "mini-multigateway", "-n", ns, "--tcp=80")
    clusters.apply(cluster(ns))

    def reported() -> Any:
        found = (clusters.get("mgc", "mini").get("status") or {}).get("message", "")
        return found if "is not managed by this operator" in found else None

    assert f"Service {ns}/mini-multigateway" in eventually(reported, "the cluster to name the foreign object")
    ports = clusters.get("service", "mini-multigateway")["spec"]["ports"]
    assert [port["port"] for port in ports] == [80]


def test_a_crash_loop_shows_up_in_the_clusters_own_message(clusters: Clusters) -> None:
    crash = {"podAnnotations": {"steward.local/pod": "crash-loop"}}
    clusters.apply(cluster(clusters.namespace, cells=[{"zone": "z1", "spec": {"multiGateway": crash}}]))

    def reported() -> Any:
        found = (clusters.get("mgc", "mini").get("status") or {}).get("message", "")
        return found if "CrashLoopBackOff" in found else None

    assert "cell z1" in eventually(reported, "the crash loop to be reported")
    assert clusters.get("mgc", "mini")["status"]["phase"] == "Degraded"


def test_scaling_to_zero_is_ready(clusters: Clusters) -> None:
    clusters.apply(cluster(clusters.namespace, multiadminWeb={"spec": {"replicas": 0}}))
    clusters.wait_ready()
    assert clusters.get("deployment", "mini-multiadmin-web")["spec"]["replicas"] == 0
