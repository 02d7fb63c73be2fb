"""Evictions of server pods on a real API server: a primary is switched before its pod ends.

Both tests share one cluster; each leaves it with three servers.
"""

from collections.abc import Iterator

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.operator import operator_with_webhooks
from tests.multigres.support.rollout_cluster import GOOD, RolloutCluster
from tests.multigres.support.waiting import eventually
from tests.support import data_planes
from tests.support.kubectl import Kubectl

THREE = {"main": {"type": "readWrite", "replicasPerCell": 3, "cells": ["z1"]}}


@pytest.fixture(scope="module")
def shared(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RolloutCluster]:
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with operator_with_webhooks(control_plane, kubectl, long_namespace, log):
        made = RolloutCluster(kubectl, long_namespace, data_planes.forwards_file(control_plane))
        made.apply_image(GOOD, THREE, cells=[{"zone": "z1"}])
        yield made


@pytest.fixture
def drained(shared: RolloutCluster) -> RolloutCluster:
    """A cluster of three servers that is ready."""
    shared.wait_updated(GOOD, 3)
    shared.wait_primary()
    eventually(lambda: shared.shard["status"].get("primary"), "the status to name the primary")
    return shared


def evict(cluster: RolloutCluster, pod: str) -> str:
    """The error message; "" if the pod was evicted."""
    metadata = {"name": pod, "namespace": cluster.namespace}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    path = f"/api/v1/namespaces/{cluster.namespace}/pods/{pod}/eviction"
    answer = cluster.kubectl.server.call("POST", path, eviction)
    return "" if answer.status < 300 else str(answer.json()["message"])


def test_a_drain_switches_the_primary_first_and_then_evicts_it(drained: RolloutCluster) -> None:
    primary, before = drained.primary(), drained.uids()
    refused = evict(drained, primary)
    assert "another server takes over first" in refused
    assert drained.uids() == before
    eventually(lambda: evict(drained, primary) == "", "the eviction of the former primary to pass")
    assert drained.wait_primary() != primary
    eventually(
        lambda: "multigres.com/switch-primary-from" not in drained.shard["metadata"].get("annotations", {}),
        "the annotation to go",
    )
    drained.wait_updated(GOOD, 3)


def test_a_standby_is_evicted_at_once(drained: RolloutCluster) -> None:
    standby = next(name for name in drained.servers() if name != drained.primary())
    assert evict(drained, standby) == ""
