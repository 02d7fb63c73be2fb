"""A managed etcd of three members: it forms, loses a pod, gets it back, and loses a volume."""

from __future__ import annotations

from typing import Any

import pytest

from steward.multigres.api.group import API_VERSION
from tests.e2e.support.container_cluster import ContainerCluster
from tests.e2e.support.etcd_members import ManagedEtcd
from tests.e2e.support.installation import Installation
from tests.e2e.support.waiting import eventually
from tests.support import namespaces

NAMES = {"db-global-topo-0", "db-global-topo-1", "db-global-topo-2"}
NO_IMAGE = "localhost:1/no-such-image:1"  # only etcd is under test
IMAGES = dict.fromkeys(
    ("multigateway", "multiorch", "multipooler", "multiadmin", "multiadminWeb", "postgres"), NO_IMAGE
)


@pytest.fixture(scope="module")
def etcd(cluster: ContainerCluster, installation: Installation) -> ManagedEtcd:
    """The topology server of a cluster, with all members ready."""
    namespace = namespaces.create_namespace(cluster.kubectl.server)
    spec = {
        "images": IMAGES,
        "globalTopoServer": {"etcd": {"replicas": 3}},
        "cells": [{"name": "z1", "zone": "z1"}],
    }
    metadata = {"name": "db", "namespace": namespace}
    manifest = {"apiVersion": API_VERSION, "kind": "MultigresCluster", "metadata": metadata, "spec": spec}
    cluster.kubectl("apply", "--server-side", "-f", "-", document=manifest)
    found = ManagedEtcd(cluster, namespace, "db-global-topo")
    eventually(lambda: found.ready() == [0, 1, 2], "three members are ready", 180)
    return found


def status(cluster: ContainerCluster, etcd: ManagedEtcd) -> Any:
    return cluster.kubectl.json("get", "toposerver", etcd.name, "-n", etcd.namespace).get("status", {})


def condition(cluster: ContainerCluster, etcd: ManagedEtcd, type_: str) -> str:
    found = status(cluster, etcd).get("conditions", [])
    return next((str(each["status"]) for each in found if each["type"] == type_), "")


def test_three_members_form_one_cluster(cluster: ContainerCluster, etcd: ManagedEtcd) -> None:
    assert {frozenset(etcd.members(through=number)) for number in range(3)} == {frozenset(NAMES)}
    etcd.write("forms", "yes", through=0)
    assert etcd.get("forms", through=2) == "yes"
    eventually(lambda: status(cluster, etcd)["phase"] == "Healthy", "the TopoServer is Healthy")


def test_the_operator_registers_cells_in_it(cluster: ContainerCluster, etcd: ManagedEtcd) -> None:
    eventually(lambda: etcd.get("/multigres/global/cells/z1/Cell"), "the cell has a record", 120)


def test_a_member_that_loses_its_pod_comes_back_with_its_data(
    cluster: ContainerCluster, etcd: ManagedEtcd
) -> None:
    etcd.write("pod", "before")
    lost = etcd.delete_pod(1)
    eventually(lambda: status(cluster, etcd).get("readyReplicas") == 2, "the status counts two members")
    etcd.write("pod", "meanwhile")
    eventually(lambda: (etcd.pod(1) or {"metadata": {"uid": lost}})["metadata"]["uid"] != lost, "a new pod")
    eventually(lambda: etcd.ready() == [0, 1, 2], "three members are ready", 120)
    assert etcd.get("pod", through=1) == "meanwhile"
    assert etcd.members(through=1) == NAMES
    eventually(lambda: status(cluster, etcd)["phase"] == "Healthy", "the TopoServer is Healthy")


def test_a_member_that_loses_its_volume_is_reported_while_the_others_serve(
    cluster: ContainerCluster, etcd: ManagedEtcd
) -> None:
    """It does not rejoin by itself (docs/design/multigres-acceptance.md): its members are fixed."""
    etcd.delete_volume(1)
    eventually(lambda: condition(cluster, etcd, "Degraded") == "True", "the TopoServer is degraded", 120)
    assert "pod db-global-topo-1: container etcd is in" in status(cluster, etcd)["message"]
    assert condition(cluster, etcd, "Available") == "True"
    etcd.write("volume", "written by two")
    assert etcd.get("volume", through=2) == "written by two"
    where = ("-n", etcd.namespace, "--kubeconfig", str(cluster.directory / "kubeconfig"))
    explained = cluster.shell.run("why", f"toposerver/{etcd.name}", *where).stdout
    assert "because of Pod db-global-topo-1" in explained
    assert "has already been bootstrapped" in last_log(cluster, etcd)


def last_log(cluster: ContainerCluster, etcd: ManagedEtcd) -> str:
    """Where `why` points to."""
    return cluster.kubectl.run("logs", f"{etcd.name}-1", "-n", etcd.namespace, "--previous")[0]
