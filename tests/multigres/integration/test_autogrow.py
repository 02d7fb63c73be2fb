"""Volumes grow when a real Postgres server fills them. Both clusters share one operator."""

from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.clusters import Clusters
from tests.multigres.support.operator import running_operator
from tests.multigres.support.real_postgres import REFERENCE, connect_to, create_superuser, drop_superuser
from tests.multigres.support.volume_cluster import VolumeCluster
from tests.multigres.support.waiting import eventually
from tests.support.database_servers import DatabaseServer
from tests.support.kubectl import Kubectl

GROWING, FULL = "growing", "full"
SMALL = "32Mi"
"""Less than an empty server stores."""


@pytest.fixture(scope="module")
def clusters(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
    postgres: DatabaseServer,
) -> Iterator[Clusters]:
    """With an operator that reaches one real server under the names of all pods."""
    forwards = connect_to(control_plane, postgres, long_namespace, [GROWING, FULL], "default")
    create_superuser(postgres, kubectl, long_namespace)
    log = tmp_path_factory.mktemp("autogrow") / "operator.log"
    with running_operator(control_plane, long_namespace, log, connect_to=forwards):
        yield Clusters(kubectl, long_namespace)
    drop_superuser(postgres)


def started(clusters: Clusters, name: str, **autogrow: str) -> VolumeCluster:
    found = VolumeCluster(clusters, name)
    storage = {"storage": {"size": SMALL, "autogrow": autogrow}}
    found.apply(storage, **REFERENCE)
    found.wait_ready()
    return found


def has_event(clusters: Clusters, reason: str, text: str) -> bool:
    found = clusters.kubectl.json("get", "events.events.k8s.io", "-n", clusters.namespace)["items"]
    return any(each["reason"] == reason and text in each["note"] for each in found)


def test_volumes_that_fill_up_grow_without_a_restart(clusters: Clusters) -> None:
    growing = started(clusters, GROWING, max="100Mi", by="100%")
    pods = growing.uids("pod")
    eventually(lambda: growing.sizes(growing.pool) == {("64Mi", "64Mi")}, "the volumes to grow")
    eventually(
        lambda: has_event(clusters, "VolumesGrowing", "volumes of pool default grow from 32Mi to 64Mi"),
        "the event",
    )
    growing.wait_ready()
    assert growing.uids("pod") == pods
    assert growing.sizes(growing.pool) == {("64Mi", "64Mi")}, "there is room now"


def test_volumes_that_have_their_largest_size_are_reported(clusters: Clusters) -> None:
    full = started(clusters, FULL, max=SMALL)

    def condition() -> Any:
        return full.condition("shard", full.shard, "VolumesFilling")

    eventually(lambda: condition()["reason"] == "VolumesAtMaximum", "the condition")
    assert "raise storage.autogrow.max, or delete data" in condition()["message"]
    assert full.sizes(full.pool) == {(SMALL, SMALL)}
    eventually(lambda: has_event(clusters, "VolumesAtMaximum", "its largest size 32Mi"), "the event")
    cluster = eventually(
        lambda: (found := clusters.get("mgc", FULL)["status"])["phase"] == "Degraded" and found,
        "the cluster to report it",
    )
    assert "storage.autogrow.max" in cluster["message"]
