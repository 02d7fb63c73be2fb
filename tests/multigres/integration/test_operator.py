"""The operator as a process on a real control plane: creating, repairing and reporting on clusters.

One operator serves all tests. Those of `mini` share a cluster of three lines and change it one after the other.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.clusters import Clusters, cluster
from tests.multigres.support.idle_clusters import IDLE_CELL, idle_cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

SERVERS_IN_Z1 = [
    {
        "name": "postgres",
        "default": True,
        "tablegroups": [
            {
                "name": "default",
                "default": True,
                "shards": [{"name": "0-inf", "spec": {"pools": {"default": {"cells": ["z1"]}}}}],
            }
        ],
    }
]


@pytest.fixture(scope="module")
def clusters(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Clusters]:
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, long_namespace, log):
        yield Clusters(kubectl, long_namespace)


@pytest.fixture(scope="module")
def mini(clusters: Clusters) -> Clusters:
    """With a ready cluster `mini`."""
    clusters.apply(cluster(clusters.namespace))
    clusters.wait_ready()
    return clusters


def test_a_three_line_spec_becomes_a_ready_cluster(mini: Clusters) -> None:
    ready = mini.wait_ready()
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


def test_an_application_finds_all_it_needs_in_one_secret(mini: Clusters) -> None:
    secret = eventually(lambda: mini.get("secret", "mini-app"), "the connection Secret")
    address = {"host", "port", "replicaPort", "dbname"}
    assert set(secret["data"]) == {*address, "user", "password", "uri", "jdbcUri"}


def test_an_edited_child_is_repaired(mini: Clusters) -> None:
    ns = mini.namespace
    mini.kubectl("scale", "deployment", "mini-multiadmin", "-n", ns, "--replicas=3")
    eventually(
        lambda: mini.get("deployment", "mini-multiadmin")["spec"]["replicas"] == 1,
        "the scale to be reverted",
    )
    mini.kubectl("delete", "service", "mini-multigateway", "-n", ns, "--wait=false")
    eventually(lambda: mini.get("service", "mini-multigateway"), "the Service to be recreated")
    [cell] = mini.all("cell")
    mini.kubectl(
        "patch", "cell", cell["metadata"]["name"], "-n", ns, "--type=merge", "-p", '{"spec":{"zone":"z2"}}'
    )
    eventually(lambda: mini.all("cell")[0]["spec"]["zone"] == "z1", "the Cell to be repaired")


def test_a_cell_that_is_removed_from_the_spec_is_deleted(mini: Clusters) -> None:
    """Its servers are all in the other cell."""
    two = [{"zone": "z1"}, {"zone": "z2"}]
    mini.apply(cluster(mini.namespace, cells=two, databases=SERVERS_IN_Z1))
    mini.wait_ready()
    gateways = ("deploy", "-l", "app.kubernetes.io/component=multigateway,multigres.com/cell=z2")
    assert len(mini.kubectl.json("get", *gateways, "-n", mini.namespace)["items"]) == 1
    period = "multigres.com/graceful-shutdown-period=1s"
    mini.kubectl("annotate", "mgc", "mini", "-n", mini.namespace, "--overwrite", period)
    mini.apply(cluster(mini.namespace, cells=two[:1], databases=SERVERS_IN_Z1))
    eventually(lambda: len(mini.all("cell")) == 1, "the Cell to be deleted")
    eventually(
        lambda: not mini.kubectl.json("get", *gateways, "-n", mini.namespace)["items"],
        "its gateways to be deleted",
    )


def test_scaling_to_zero_is_ready(mini: Clusters) -> None:
    mini.apply(cluster(mini.namespace, multiadminWeb={"spec": {"replicas": 0}}))
    mini.wait_ready()
    assert mini.get("deployment", "mini-multiadmin-web")["spec"]["replicas"] == 0


def test_a_spec_that_cannot_be_resolved_is_reported_and_changes_nothing(mini: Clusters) -> None:
    mini.apply(cluster(mini.namespace, templateDefaults={"shardTemplate": "gone"}))

    def stalled() -> Any:
        found = mini.get("mgc", "mini")["status"]["conditions"]
        return next((c for c in found if c["type"] == "Stalled" and c["status"] == "True"), None)

    condition = eventually(stalled, "the cluster to report that it is stalled")
    assert condition["message"] == (
        "spec.templateDefaults.shardTemplate: ShardTemplate 'gone' does not exist in namespace "
        f"'{mini.namespace}'"
    )
    assert len(mini.all("shard")) == 1
    mini.apply(cluster(mini.namespace))
    mini.wait_ready()


def test_a_foreign_object_under_a_needed_name_is_left_alone_and_named(clusters: Clusters) -> None:
    ns = clusters.namespace
    clusters.kubectl("create", "service", "clusterip", "guest-multigateway", "-n", ns, "--tcp=80")
    clusters.apply(idle_cluster(ns, "guest"))

    def reported() -> Any:
        found = (clusters.get("mgc", "guest").get("status") or {}).get("message", "")
        return found if "is not managed by this operator" in found else None

    named = eventually(reported, "the cluster to name the foreign object")
    assert f"Service {ns}/guest-multigateway" in named
    ports = clusters.get("service", "guest-multigateway")["spec"]["ports"]
    assert [port["port"] for port in ports] == [80]


def test_a_crash_loop_shows_up_in_the_clusters_own_message(clusters: Clusters) -> None:
    gateways = {"replicas": 1, "podAnnotations": {"steward.local/pod": "crash-loop"}}
    cells = [{**IDLE_CELL, "spec": {"multiGateway": gateways}}]
    clusters.apply(idle_cluster(clusters.namespace, "looping", cells=cells))

    def reported() -> Any:
        found = (clusters.get("mgc", "looping").get("status") or {}).get("message", "")
        return found if "CrashLoopBackOff" in found else None

    assert "cell z1" in eventually(reported, "the crash loop to be reported")
    assert clusters.get("mgc", "looping")["status"]["phase"] == "Degraded"
