"""Deletion of a cluster whose external topology server does not answer: it waits only if there may be records.

Each test has its own cluster in its own namespace. All share one operator, the second one: a first one created two of
the clusters, which were deleted while none ran.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

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
from tests.multigres.support.more_short_periods import EARLY_STATUS
from tests.multigres.support.operator import remove_finalizers, running_operator
from tests.multigres.support.waiting import eventually, run_async
from tests.support import namespaces
from tests.support.kubectl import Kubectl

# A deletion that waits for the server does not end within any test.
LIMITS = {**SHORT_PERIODS, "max_graceful_shutdown_period": "10h"}
IDLE = {"spec": {"replicas": 0}}


@pytest.fixture(scope="module")
def deaf_url() -> Iterator[str]:
    """An address that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EtcdProcess]:
    programs = run_async(binaries.ensure([CONTROL_PLANE], SilentProgress()))
    found = EtcdProcess(programs["etcd"], tmp_path_factory.mktemp("etcd") / "etcd")
    run_async(found.start())
    yield found
    run_async(found.remove())


class ExternalClusters(NamedTuple):
    """All but `registered` have a topology server that never answers. The second operator finds `earlier` and
    `registered` deleted."""

    never: DeletedCluster
    unmarked: DeletedCluster
    earlier: DeletedCluster
    registered: DeletedCluster


@contextmanager
def new_cluster(kubectl: Kubectl) -> Iterator[DeletedCluster]:
    name = namespaces.create_namespace(kubectl.server)
    yield DeletedCluster(kubectl, name)
    if namespaces.external_control_plane():
        remove_finalizers(kubectl, name)
    namespaces.release_namespace(kubectl.server, name)


@pytest.fixture(scope="module")
def created(kubectl: Kubectl) -> Iterator[ExternalClusters]:
    """Their namespaces."""
    with ExitStack() as stack:
        yield ExternalClusters(*[stack.enter_context(new_cluster(kubectl)) for _ in ExternalClusters._fields])


class FirstProcess(NamedTuple):
    """What the first operator left."""

    registered_annotations: dict[str, Any]


@pytest.fixture(scope="module")
def first_process(
    control_plane: ControlPlane,
    created: ExternalClusters,
    deaf_url: str,
    etcd: EtcdProcess,
    tmp_path_factory: pytest.TempPathFactory,
) -> FirstProcess:
    log, homes = tmp_path_factory.mktemp("first") / "operator.log", _namespaces(created)
    with running_operator(control_plane, homes, log, periods=EARLY_STATUS, **LIMITS):
        apply_with_external(created.earlier, deaf_url)
        apply_with_external(created.registered, f"http://127.0.0.1:{etcd.port}")
        wait_condition(created.earlier, "False")
        wait_condition(created.registered, "True")
        metadata = created.registered.get("mgc", "mini")["metadata"]
        run_async(etcd.pause())
    return FirstProcess(metadata.get("annotations", {}))


@pytest.fixture(scope="module")
def clusters(
    control_plane: ControlPlane,
    created: ExternalClusters,
    first_process: FirstProcess,
    deaf_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ExternalClusters]:
    """With the second operator."""
    created.earlier.delete_cluster()
    created.registered.delete_cluster()
    log = tmp_path_factory.mktemp("second") / "operator.log"
    with running_operator(control_plane, _namespaces(created), log, periods=EARLY_STATUS, **LIMITS):
        apply_with_external(created.never, deaf_url)
        apply_with_external(created.unmarked, deaf_url)
        yield created


def _namespaces(created: ExternalClusters) -> str:
    return ",".join(each.namespace for each in created)


def apply_with_external(cluster: DeletedCluster, url: str) -> None:
    external = {"external": {"endpoints": [url]}}
    idle = {"multiadmin": IDLE, "multiadminWeb": IDLE}
    cluster.apply(two_server_cluster(cluster.namespace, globalTopoServer=external, **idle))


def wait_condition(cluster: DeletedCluster, status: str) -> None:
    def is_reported() -> bool:
        found = conditions(cluster.kubectl, cluster.namespace, "mini").get("TopologyRegistered", {})
        return bool(found.get("status") == status)

    eventually(is_reported, f"TopologyRegistered to be {status}")


def test_a_cluster_that_was_never_registered_does_not_wait_for_its_server(clusters: ExternalClusters) -> None:
    wait_condition(clusters.never, "False")
    clusters.never.delete_cluster()
    clusters.never.wait_deleted(PASSWORD)


def test_another_process_knows_that_a_cluster_was_never_registered(clusters: ExternalClusters) -> None:
    clusters.earlier.wait_deleted(PASSWORD)


def test_a_cluster_without_the_annotation_waits_for_its_server(clusters: ExternalClusters) -> None:
    """As a cluster of an older version, which may be registered."""
    unmarked = clusters.unmarked
    wait_condition(unmarked, "False")
    unmarked.kubectl("annotate", "mgc", "mini", "-n", unmarked.namespace, f"{NOT_REGISTERED}-")
    unmarked.delete_cluster()
    wait_until_it_waits(unmarked)


def test_a_registered_cluster_waits_for_its_server_and_leaves_no_record(
    clusters: ExternalClusters, first_process: FirstProcess, etcd: EtcdProcess
) -> None:
    assert NOT_REGISTERED not in first_process.registered_annotations
    wait_until_it_waits(clusters.registered)
    etcd.resume()
    clusters.registered.wait_deleted(PASSWORD)


def wait_until_it_waits(cluster: DeletedCluster) -> None:
    """A Cell waits first; its cluster follows."""
    text = "waiting to remove its records from the topology server"
    eventually(
        lambda: text in str(cluster.kubectl.json("get", "cells,mgc", "-n", cluster.namespace)),
        "the deletion to wait for the topology server",
    )
