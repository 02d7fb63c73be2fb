"""Evictions of server pods on a real API server: a primary is switched before its pod ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.operator import operator_with_webhooks
from tests.multigres.support.rollout_cluster import GOOD, RolloutCluster
from tests.multigres.support.topology_cluster import running_fake_data_plane
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

THREE = {"main": {"type": "readWrite", "replicasPerCell": 3, "cells": ["z1"]}}


@pytest.fixture
def drained(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[RolloutCluster]:
    """A cluster of three servers that is ready."""
    with running_fake_data_plane(control_plane, namespace, tmp_path) as forwards:
        log = tmp_path / "operator.log"
        with operator_with_webhooks(control_plane, kubectl, namespace, log, connect_to=f"@{forwards}"):
            made = RolloutCluster(kubectl, namespace, forwards)
            made.apply_image(GOOD, THREE)
            made.wait_updated(GOOD, 3)
            made.wait_primary()
            eventually(lambda: made.shard["status"].get("primary"), "the status to name the primary")
            yield made


def evict(cluster: RolloutCluster, pod: str) -> str:
    """The error message; "" if the pod was evicted."""
    metadata = {"name": pod, "namespace": cluster.namespace}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    path = f"/api/v1/namespaces/{cluster.namespace}/pods/{pod}/eviction"
    return cluster.kubectl.run("create", "--raw", path, "-f", "-", document=eviction)[1]


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
