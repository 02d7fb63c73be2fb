"""Deletion of a cluster whose external topology server does not answer: it waits only if there may be records."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.programs import binaries
from steward.local.programs.programs import CONTROL_PLANE
from steward.local.progress import SilentProgress
from steward.multigres.deletion.topology_mark import NOT_REGISTERED
from steward.testkit.fake_data_plane.etcd_process import EtcdProcess
from tests.multigres.support.cluster_deletion import (
    PASSWORD,
    SHORT_PERIODS,
    DeletedCluster,
    two_server_cluster,
)
from tests.multigres.support.clusters import conditions
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually, run_async
from tests.support.kubectl import Kubectl

# A deletion that waits for the server does not end within any test.
PERIODS = {**SHORT_PERIODS, "max_graceful_shutdown_period": "10h"}


@pytest.fixture
def deaf_url() -> Iterator[str]:
    """An address that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def cluster(kubectl: Kubectl, namespace: str) -> DeletedCluster:
    return DeletedCluster(kubectl, namespace)


def apply_with_external(cluster: DeletedCluster, url: str) -> None:
    external = {"external": {"endpoints": [url]}}
    cluster.apply(two_server_cluster(cluster.namespace, globalTopoServer=external))


def wait_condition(cluster: DeletedCluster, status: str) -> None:
    def is_reported() -> bool:
        found = conditions(cluster.kubectl, cluster.namespace, "mini").get("TopologyRegistered", {})
        return bool(found.get("status") == status)

    eventually(is_reported, f"TopologyRegistered to be {status}")


def test_a_cluster_that_was_never_registered_does_not_wait_for_its_server(
    control_plane: ControlPlane, cluster: DeletedCluster, deaf_url: str, tmp_path: Path
) -> None:
    with running_operator(control_plane, cluster.namespace, tmp_path / "operator.log", **PERIODS):
        apply_with_external(cluster, deaf_url)
        wait_condition(cluster, "False")
        cluster.delete_cluster()
        cluster.wait_deleted(PASSWORD)


def test_another_process_knows_that_a_cluster_was_never_registered(
    control_plane: ControlPlane, cluster: DeletedCluster, deaf_url: str, tmp_path: Path
) -> None:
    with running_operator(control_plane, cluster.namespace, tmp_path / "first.log", **PERIODS):
        apply_with_external(cluster, deaf_url)
        wait_condition(cluster, "False")
    cluster.delete_cluster()
    with running_operator(control_plane, cluster.namespace, tmp_path / "second.log", **PERIODS):
        cluster.wait_deleted(PASSWORD)


def test_a_cluster_without_the_annotation_waits_for_its_server(
    control_plane: ControlPlane, cluster: DeletedCluster, deaf_url: str, tmp_path: Path
) -> None:
    """As a cluster of an older version, which may be registered."""
    with running_operator(control_plane, cluster.namespace, tmp_path / "operator.log", **PERIODS):
        apply_with_external(cluster, deaf_url)
        wait_condition(cluster, "False")
        cluster.kubectl("annotate", "mgc", "mini", "-n", cluster.namespace, f"{NOT_REGISTERED}-")
        cluster.delete_cluster()
        wait_until_it_waits(cluster)


def test_a_registered_cluster_waits_for_its_server_and_leaves_no_record(
    control_plane: ControlPlane, cluster: DeletedCluster, tmp_path: Path
) -> None:
    programs = run_async(binaries.ensure([CONTROL_PLANE], SilentProgress()))
    etcd = EtcdProcess(programs["etcd"], tmp_path / "etcd")
    run_async(etcd.start())
    try:
        with running_operator(control_plane, cluster.namespace, tmp_path / "first.log", **PERIODS):
            apply_with_external(cluster, f"http://127.0.0.1:{etcd.port}")
            wait_condition(cluster, "True")
            assert NOT_REGISTERED not in cluster.get("mgc", "mini")["metadata"].get("annotations", {})
            run_async(etcd.pause())
        cluster.delete_cluster()
        with running_operator(control_plane, cluster.namespace, tmp_path / "second.log", **PERIODS):
            wait_until_it_waits(cluster)
            etcd.resume()
            cluster.wait_deleted(PASSWORD)
    finally:
        run_async(etcd.remove())


def wait_until_it_waits(cluster: DeletedCluster) -> None:
    """A Cell waits first; its cluster follows."""
    text = "waiting to remove its records from the topology server"
    eventually(
        lambda: text in cluster.kubectl("get", "cells,mgc", "-n", cluster.namespace, "-o", "json"),
        "the deletion to wait for the topology server",
    )
