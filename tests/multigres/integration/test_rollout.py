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
    evicted = evicted_since(control_plane, mark, long_namespace)
    assert sorted(evicted) == sorted(before)
    assert evicted[-1] == primary
    assert rolled.primary() != primary, "it was switched before"
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


ONE_POOL = {"main": {"type": "readWrite", "replicasPerCell": 3, "cells": ["z1"]}}


def evicted_since(control_plane: ControlPlane, mark: Any, namespace: str) -> list[str]:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    calls = run_async(audit.calls_since(mark))
    return [
        each.call.name
        for each in calls.writes_of("multigres-operator")
        if each.call.subresource == "eviction" and each.call.namespace == namespace and each.code < 300
    ]


def test_while_the_primary_is_unknown_no_pod_is_replaced(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    unknown = ready_cluster(kubectl, long_namespace, forwards, "unknown", TWO_POOLS)
    before = unknown.uids()
    unknown.inject_faults("no-primary")
    eventually(lambda: not unknown.shard["status"].get("primary"), "the primary to be unknown")
    unknown.apply_image(BETTER, TWO_POOLS)
    condition = unknown.wait_shard_condition("RollingUpdate", "PrimaryUnknown")
    assert "multigres.com/force-rollout" in condition["message"]
    assert "(since " in condition["message"]
    assert unknown.uids() == before
    unknown.clear_faults()
    unknown.wait_updated(BETTER, 3)


def test_without_multiadmin_a_rollout_waits_until_the_annotation_forces_it(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    blind = ready_cluster(kubectl, long_namespace, forwards, "blind", TWO_POOLS)
    before = blind.uids()
    blind.inject_faults("multiadmin-away")
    blind.apply_image(BETTER, TWO_POOLS)
    condition = blind.wait_shard_condition("RollingUpdate", "StateUnknown")
    assert "multiadmin does not report the state of Postgres" in condition["message"]
    replaced = [name for name, uid in blind.uids().items() if uid != before[name]]
    assert len(replaced) <= 1, "only one by a report from before, which may be ten seconds old"
    blind.annotate_shard("multigres.com/force-rollout=true")
    eventually(lambda: blind.images() == [BETTER] * 3, "the annotation to force the rollout")
    blind.clear_faults()
    blind.wait_updated(BETTER, 3)


def test_a_refused_switch_keeps_the_primary_until_it_is_possible(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    refused = ready_cluster(kubectl, long_namespace, forwards, "refused", TWO_POOLS)
    primary, before = refused.primary(), refused.uids()
    refused.inject_faults("switch-refused")
    refused.apply_image(BETTER, TWO_POOLS)
    condition = refused.wait_shard_condition("RollingUpdate", "PrimarySwitchRefused")
    assert "the switch was refused" in condition["message"]
    assert refused.images() == [GOOD, BETTER, BETTER]
    assert refused.uids()[primary] == before[primary]
    refused.clear_faults()
    refused.wait_updated(BETTER, 3)
    assert refused.primary() != primary


def test_the_next_pod_waits_until_the_last_one_streams(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    slow = ready_cluster(kubectl, long_namespace, forwards, "slow", ONE_POOL)
    standbys = sorted(set(slow.servers()) - {slow.primary()}, reverse=True)
    first, others = standbys[0], {name: uid for name, uid in slow.uids().items() if name != standbys[0]}
    slow.inject_server_faults(f"slow-postgres@{first}")
    slow.apply_image(BETTER, ONE_POOL)
    eventually(lambda: slow.images() == [GOOD, GOOD, BETTER], "the first pod to be replaced")
    slow.inject_server_faults(f"never-streams@{first}")
    eventually(
        lambda: (
            f"Postgres of {first} is ready and streams" in slow.shard_condition("RollingUpdate")["message"]
        ),
        "the rollout to wait for the standby",
    )
    assert {name: uid for name, uid in slow.uids().items() if name != first} == others
    slow.clear_server_faults()
    slow.wait_updated(BETTER, 3)


def test_a_correction_gets_through_when_postgres_is_down_everywhere(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    down = ready_cluster(kubectl, long_namespace, forwards, "down", ONE_POOL)
    down.inject_server_faults("postgres-down")
    eventually(lambda: not down.shard["status"].get("primary"), "the primary to be gone")
    down.apply_image(BETTER, ONE_POOL)
    eventually(lambda: down.images() == [BETTER] * 3, "every pod to be replaced")
    down.clear_server_faults()
    down.wait_updated(BETTER, 3)


def test_scaling_down_switches_a_primary_that_is_to_leave(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    few = {"type": "readWrite", "replicasPerCell": 1, "cells": ["z1"]}
    pools = {"first": few, "second": {**few, "replicasPerCell": 2}}
    smaller = ready_cluster(kubectl, long_namespace, forwards, "smaller", pools)
    [leaving] = [name for name in smaller.servers() if "-first-" in name]
    smaller.make_primary(leaving)
    smaller.wait_updated(GOOD, 3)
    smaller.apply_image(GOOD, {**pools, "first": {**few, "replicasPerCell": 0}})
    smaller.wait_updated(GOOD, 2)
    assert leaving not in smaller.servers()
    assert smaller.wait_primary() != leaving
    assert smaller.shard_condition("ScaleDownPending") is None
    assert "PrimarySwitchRequested" in event_reasons(kubectl, long_namespace, smaller)


def test_a_server_that_the_durability_policy_needs_stays(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    durable = ready_cluster(kubectl, long_namespace, forwards, "durable", ONE_POOL)
    durable.apply_image(GOOD, {"main": {**ONE_POOL["main"], "replicasPerCell": 1}})
    condition = durable.wait_shard_condition("ScaleDownPending", "DurabilityWouldBreak")
    assert "the durability policy needs 2 servers" in condition["message"]
    assert len(durable.servers()) == 2
    durable.apply_image(GOOD, {"main": {**ONE_POOL["main"], "replicasPerCell": 2}})
    durable.wait_updated(GOOD, 2)
    assert durable.shard_condition("ScaleDownPending") is None


def test_servers_of_a_removed_pool_leave_one_at_a_time_after_a_switch(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    pools = {name: {**TWO_POOLS[name], "replicasPerCell": 2} for name in TWO_POOLS}
    cluster = ready_cluster(kubectl, long_namespace, forwards, "handover", pools)
    removed = cluster.pool_of(cluster.primary())
    kept = next(name for name in pools if name != removed)
    stays = {name for name in cluster.servers() if cluster.pool_of(name) == kept}
    lowest = min(set(cluster.servers()) - stays)
    # The first of the two leaves; the orchestrators cannot drop it from the cohort while nothing takes writes.
    cluster.inject_faults("switch-refused")
    cluster.apply_image(GOOD, {kept: pools[kept]})
    condition = cluster.wait_shard_condition("ScaleDownPending", "PrimarySwitchRefused")
    assert "multigres.com/force-delete" in condition["message"]
    assert {*stays, lowest} <= set(cluster.servers())
    cluster.clear_faults()
    eventually(lambda: set(cluster.servers()) == stays, f"pool {removed} to be removed")
    cluster.wait_updated(GOOD, 2)
    assert cluster.wait_primary() in stays
    assert cluster.shard_condition("ScaleDownPending") is None


def test_a_pool_does_not_leave_while_a_server_that_stays_is_not_ready(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    pools = {"main": {**TWO_POOLS["main"], "replicasPerCell": 3}, "side": TWO_POOLS["side"]}
    waiting = ready_cluster(kubectl, long_namespace, forwards, "waiting", pools)
    standby = next(name for name in sorted(waiting.servers()) if name != waiting.primary() and "main" in name)
    waiting.inject_server_faults(f"never-streams@{standby}")
    kubectl("delete", "pod", standby, "-n", long_namespace)
    before = set(waiting.servers()) | {standby}
    waiting.apply_image(GOOD, {"main": pools["main"]})
    condition = waiting.wait_shard_condition("ScaleDownPending", "ServersNotReady")
    assert f"Postgres of {standby} is ready" in condition["message"]
    assert set(waiting.servers()) == before
    waiting.clear_server_faults()
    waiting.wait_updated(GOOD, 3)


def test_a_lowered_setting_is_refused_and_a_raised_one_rolls(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    def apply_settings(value: int) -> None:
        data = {"postgresql.conf": f"max_connections = {value}\n"}
        metadata = {"name": "settings", "namespace": long_namespace}
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        kubectl("apply", "-f", "-", document=manifest)

    def mounted() -> str:
        copy = f"{tuned.shard_name}-postgres-config"
        found = kubectl.json("get", "configmap", copy, "-n", long_namespace)
        return str(found["data"]["postgresql.conf"])

    apply_settings(150)
    tuned = RolloutCluster(kubectl, long_namespace, forwards, "tuned")
    settings = {"postgresConfigRef": {"name": "settings", "key": "postgresql.conf"}}
    tuned.apply_image(GOOD, ONE_POOL, settings)
    tuned.wait_updated(GOOD, 3)
    assert mounted() == "max_connections = 150\n"
    before = tuned.uids()
    apply_settings(120)
    condition = tuned.wait_shard_condition("PostgresConfigRefused", "SettingsLowered")
    assert "lowers max_connections from 150 to 120" in condition["message"]
    assert (mounted(), tuned.uids()) == ("max_connections = 150\n", before)
    apply_settings(200)
    eventually(lambda: not set(tuned.uids().values()) & set(before.values()), "every pod to be replaced")
    tuned.wait_updated(GOOD, 3)
    assert mounted() == "max_connections = 200\n"
    assert tuned.shard_condition("PostgresConfigRefused") is None


def test_the_only_server_of_a_shard_is_replaced_with_an_event(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    pools = {"main": {**ONE_POOL["main"], "replicasPerCell": 1}}
    single = RolloutCluster(kubectl, long_namespace, forwards, "single")
    single.apply_image(GOOD, pools)
    eventually(lambda: single.images() == [GOOD], "the server to run")
    single.wait_shard_condition("RollingUpdate", "PodsUpToDate")
    single.apply_image(BETTER, pools)
    eventually(lambda: single.images() == [BETTER], "the server to be replaced")
    eventually(lambda: "RestartingOnlyServer" in event_reasons(kubectl, long_namespace, single), "the event")


def event_reasons(kubectl: Kubectl, namespace: str, made: RolloutCluster) -> set[str]:
    events = kubectl.json("get", "events.events.k8s.io", "-n", namespace)["items"]
    return {event["reason"] for event in events if event["regarding"]["name"] == made.shard_name}
