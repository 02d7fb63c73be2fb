"""`steward up --containers` as a user runs it: both operators, and the sample in real pods."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.support.container_cluster import ContainerCluster, running_cluster
from tests.e2e.support.waiting import eventually


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerCluster]:
    with running_cluster(tmp_path_factory.mktemp("demo") / "cluster") as cluster:
        yield cluster


def test_every_customer_has_a_running_application(demo: ContainerCluster) -> None:
    tenants = demo.kubectl.json("get", "tenants", "-n", "demo")["items"]
    assert len(tenants) == 12
    pods = demo.kubectl.json("get", "pods", "-n", "demo")["items"]
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * 12


def test_the_operator_reaches_a_managed_topology_server_by_its_name(demo: ContainerCluster) -> None:
    """Its etcd runs in pods; the images of everything else may be missing."""
    cluster = {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "orders", "namespace": "demo"},
        "spec": {"globalTopoServer": {"etcd": {"replicas": 1}}, "cells": [{"zone": "z1"}]},
    }
    demo.kubectl("apply", "--server-side", "-f", "-", document=cluster)
    eventually(lambda: is_registered(demo), "the cluster is in its topology", 180)


def is_registered(demo: ContainerCluster) -> bool:
    status = demo.kubectl.json("get", "multigrescluster", "orders", "-n", "demo").get("status", {})
    conditions = {each["type"]: each["status"] for each in status.get("conditions", [])}
    return conditions.get("TopologyRegistered") == "True"
