"""Pods of running shards are replaced and removed one at a time, with primaries of the fake data plane.

Each test has its own cluster; all share one operator and one fake data plane.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.kwok.pods import POD
from steward.testkit import AuditLog
from tests.multigres.support.operator import running_operator
from tests.multigres.support.rollout_cluster import BAD, BETTER, GOOD, TWO_POOLS, RolloutCluster
from tests.multigres.support.topology_cluster import running_fake_data_plane
from tests.multigres.support.waiting import eventually, run_async
from tests.support.kubectl import Kubectl


@pytest.fixture(scope="module")
def forwards(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("data-plane")
    with (
        running_fake_data_plane(control_plane, long_namespace, directory) as found,
        running_operator(control_plane, long_namespace, directory / "operator.log", connect_to=f"@{found}"),
    ):
        yield found


def ready_cluster(
    kubectl: Kubectl, namespace: str, forwards: Path, name: str, pools: dict[str, Any]
) -> RolloutCluster:
    """A cluster that is ready and has a primary."""
    made = RolloutCluster(kubectl, namespace, forwards, name)
    made.apply_image(GOOD, pools)
    made.wait_updated(GOOD, sum(pool["replicasPerCell"] for pool in pools.values()))
    made.wait_primary()
    return made


def test_a_new_image_replaces_pods_by_eviction_one_at_a_time_and_the_primary_last(
    control_plane: ControlPlane, kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    rolled = ready_cluster(kubectl, long_namespace, forwards, "rolled", TWO_POOLS)
    primary, before = rolled.primary(), rolled.uids()
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run_async(audit.mark())
    rolled.apply_image(BETTER, TWO_POOLS)
    rolled.wait_updated(BETTER, 3)
    calls = run_async(audit.calls_since(mark))
    evicted = [
        each.call.name
        for each in calls.writes_of("multigres-operator")
        if each.call.subresource == "eviction" and each.call.namespace == rolled.namespace and each.code < 300
    ]
    assert sorted(evicted) == sorted(before)
    assert evicted[-1] == primary
    assert not set(rolled.uids().values()) & set(before.values())


@pytest.fixture
def bad_image(kubectl: Kubectl, long_namespace: str) -> Iterator[None]:
    """Pods of the bad image crash: the stages of the local control plane read an annotation, and a policy sets it."""
    name = f"bad-image-{secrets.token_hex(4)}"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["pods"],
                        "operations": ["CREATE"],
                    }
                ]
            },
            "matchConditions": [
                {"name": "here", "expression": f"request.namespace == '{long_namespace}'"},
                {
                    "name": "bad",
                    "expression": "has(object.spec.initContainers) && "
                    f"object.spec.initContainers.exists(c, c.image == '{BAD}')",
                },
            ],
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {
                        "expression": "Object{metadata: Object.metadata{annotations: "
                        f"{{'{POD}': 'crash-loop'}}}}}}"
                    },
                }
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }
    kubectl("create", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": [policy, binding]})
    eventually(lambda: _is_marked(kubectl, long_namespace), "the policy to be active")
    yield
    kubectl("delete", f"mutatingadmissionpolicy/{name}", f"mutatingadmissionpolicybinding/{name}")


def _is_marked(kubectl: Kubectl, namespace: str) -> bool:
    tried = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "tried", "namespace": namespace},
        "spec": {
            "initContainers": [{"name": "a", "image": BAD}],
            "containers": [{"name": "b", "image": "b"}],
        },
    }
    made = kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", document=tried)
    return POD in made


def test_a_bad_image_stops_at_the_first_pod_and_a_better_one_repairs_it(
    kubectl: Kubectl, long_namespace: str, forwards: Path, bad_image: None
) -> None:
    stopped = ready_cluster(kubectl, long_namespace, forwards, "stopped", TWO_POOLS)
    primary = stopped.primary()
    stopped.apply_image(BAD, TWO_POOLS)
    condition = stopped.wait_shard_condition("RollingUpdate", "RolloutStopped")
    assert "CrashLoopBackOff" in condition["message"]
    assert stopped.images() == [GOOD, GOOD, BAD]
    assert stopped.servers()[primary]["spec"]["initContainers"][0]["image"] == GOOD
    eventually(lambda: stopped.shard_condition("Degraded")["status"] == "True", "the Shard to be degraded")
    stopped.apply_image(BETTER, TWO_POOLS)
    stopped.wait_updated(BETTER, 3)
    assert stopped.shard_condition("Degraded")["status"] == "False"


def test_while_the_primary_is_unknown_no_pod_is_replaced(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    unknown = ready_cluster(kubectl, long_namespace, forwards, "unknown", TWO_POOLS)
    before = unknown.uids()
    # The status starts without a cell: only a cell that was there and went says that the fault is observed.
    unknown.wait_primary_cell("z1", "z2")
    unknown.inject_faults("no-primary")
    unknown.wait_primary_cell("")
    unknown.apply_image(BETTER, TWO_POOLS)
    unknown.wait_shard_condition("RollingUpdate", "PrimaryUnknown")
    assert unknown.uids() == before
    unknown.clear_faults()
    unknown.wait_updated(BETTER, 3)


def test_scaling_down_waits_until_the_highest_pod_is_no_longer_the_primary(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    pools = {"main": {"type": "readWrite", "replicasPerCell": 2, "cells": ["z1"]}}
    smaller = ready_cluster(kubectl, long_namespace, forwards, "smaller", pools)
    lowest, highest = sorted(smaller.servers())
    if smaller.primary() != highest:
        kubectl("delete", "pod", lowest, "-n", long_namespace)
    eventually(lambda: smaller.primary() == highest, "the highest pod to lead")
    smaller.wait_updated(GOOD, 2)
    fewer = {"main": {**pools["main"], "replicasPerCell": 1}}
    smaller.apply_image(GOOD, fewer)
    condition = smaller.wait_shard_condition("ScaleDownPending", "PrimaryWouldGo")
    assert f"{highest} is the primary" in condition["message"]
    assert sorted(smaller.servers()) == [lowest, highest]
    kubectl("delete", "pod", highest, "-n", long_namespace)
    eventually(lambda: sorted(smaller.servers()) == [lowest], "the pod to go once another leads")
    smaller.wait_updated(GOOD, 1)
    assert smaller.shard_condition("ScaleDownPending") is None


def test_a_removed_pool_gives_its_primary_time_to_be_switched(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    pools = {name: {**TWO_POOLS[name], "replicasPerCell": 1} for name in TWO_POOLS}
    cluster = ready_cluster(kubectl, long_namespace, forwards, "handover", pools)
    primary = cluster.primary()
    removed, kept = sorted(pools, key=lambda name: f"-pool-{name}-" not in primary)
    cluster.set_shutdown_period("300s")  # longer than any timeout of this test: the test deletes it
    cluster.apply_image(GOOD, {kept: pools[kept]})
    condition = cluster.wait_shard_condition("ScaleDownPending", "PrimaryWouldGo")
    assert f"{primary} is the primary" in condition["message"]
    assert primary in cluster.servers()
    cluster.set_shutdown_period("1s")
    eventually(
        lambda: all(f"-pool-{kept}-" in name for name in cluster.servers()), f"pool {removed} to be removed"
    )
    cluster.wait_updated(GOOD, 1)
    assert f"-pool-{kept}-" in cluster.wait_primary()
    assert cluster.shard_condition("ScaleDownPending") is None
