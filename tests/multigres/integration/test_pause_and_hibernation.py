"""A cluster that is paused, and one that hibernates and wakes with the same volumes. Both tests share it."""

from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.cluster_deletion import DeletedCluster, databases, two_server_cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

COMPONENT = "app.kubernetes.io/component"
WORKLOADS = "deployment,statefulset"
SLOW_GATEWAYS = {"podAnnotations": {"steward.local/delete-after": "3s"}}


class OperatedCluster(DeletedCluster):
    def patch(self, spec: str) -> None:
        self.kubectl("patch", "mgc", "mini", "-n", self.namespace, "--type=merge", "-p", f'{{"spec":{spec}}}')

    def wait_phase(self, phase: str) -> dict[str, Any]:
        found: dict[str, Any] = eventually(
            lambda: (status := self.get("mgc", "mini")["status"])["phase"] == phase and status,
            f"phase {phase}",
        )
        return found

    def versions(self) -> dict[str, str]:
        """Of everything that the operator writes below the cluster, by spec."""
        kinds = f"{WORKLOADS},cell,tablegroup,shard,toposerver,service,configmap"
        items = self.kubectl.json("get", kinds, "-n", self.namespace)["items"]
        return {
            f"{item['kind']}/{item['metadata']['name']}": item["metadata"].get("generation", 0)
            for item in items
        }

    def running(self) -> set[str]:
        """The components with pods."""
        pods = self.kubectl.json("get", "pod", "-n", self.namespace)["items"]
        return {pod["metadata"]["labels"][COMPONENT] for pod in pods}

    def volumes(self) -> dict[str, str]:
        return {claim["metadata"]["name"]: claim["metadata"]["uid"] for claim in self.all("pvc")}


@pytest.fixture(scope="module")
def shared(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[OperatedCluster]:
    """Its gateways take longer to end than they are given to drain."""
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, long_namespace, log):
        made = OperatedCluster(kubectl, long_namespace)
        spec = {
            "cells": [{"zone": "z1", "spec": {"multiGateway": SLOW_GATEWAYS}}],
            "databases": databases(policy="Delete"),
        }
        made.apply(two_server_cluster(long_namespace, **spec))
        yield made


@pytest.fixture
def found(shared: OperatedCluster) -> OperatedCluster:
    shared.wait_ready()
    return shared


def test_a_paused_cluster_is_not_changed_and_a_hibernating_one_wakes_with_its_volumes(
    found: OperatedCluster, kubectl: Kubectl
) -> None:
    found.patch('{"paused":true}')
    paused = found.wait_phase("Paused")
    assert paused["message"].startswith("paused since ")
    before = found.versions()
    # Neither an edit of the spec nor a deleted child is acted upon.
    found.patch('{"hibernation":true}')
    gateway = next(
        item for item in found.all("deployment") if "gateway" in item["metadata"]["labels"][COMPONENT]
    )
    kubectl("delete", "deployment", gateway["metadata"]["name"], "-n", found.namespace)
    generation = found.get("mgc", "mini")["metadata"]["generation"]
    eventually(
        lambda: found.get("mgc", "mini")["status"]["observedGeneration"] == generation,
        "the edit to be observed",
    )
    changed = {name for name, version in found.versions().items() if before[name] != version}
    assert changed == set()
    assert found.get("deployment", gateway["metadata"]["name"]) is None

    volumes = found.volumes()
    found.patch('{"paused":false}')
    asleep = found.wait_phase("Hibernated")
    assert {each["type"]: each["status"] for each in asleep["conditions"]}["Ready"] == "True"
    eventually(lambda: found.running() == {"toposerver"}, "everything but etcd to stop")
    assert found.volumes() == volumes
    assert found.get("secret", "mini-app") is not None

    found.patch('{"hibernation":false}')
    found.wait_phase("Healthy")
    assert found.volumes() == volumes


def test_a_cluster_whose_gateways_take_time_to_end_hibernates(found: OperatedCluster) -> None:
    assert "multigateway" in found.running()
    found.patch('{"hibernation":true}')
    found.wait_phase("Hibernated")
    eventually(lambda: found.running() == {"toposerver"}, "everything but etcd to stop")
