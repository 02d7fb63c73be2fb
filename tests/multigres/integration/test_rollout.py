"""Pods of running shards are replaced and removed one at a time, with primaries of the fake data plane.

All tests but the last share one cluster: each begins when it is well, with the pools that it needs, and rolls it to
another image or scales it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.multigres.support.more_short_periods import EARLY_STATUS
from tests.multigres.support.operator import running_operator
from tests.multigres.support.rollout_cluster import BAD, BETTER, GOOD, TWO_POOLS, RolloutCluster
from tests.multigres.support.shared_rollout_cluster import SharedRolloutCluster, crashing_bad_image
from tests.multigres.support.waiting import eventually, run_async
from tests.support import data_planes
from tests.support.kubectl import Kubectl

PERIODS = {
    **EARLY_STATUS,
    "steward.multigres.servers.grace:GRACE_SECONDS": 5.0,
    "steward.multigres.rollout.pods:DOWN_SECONDS": 2.0,
    "steward.multigres.rollout.switching:SPACING_SECONDS": 1.0,
    "steward.multigres.controllers.common.primary_switches:RETRY_SECONDS": 1.0,
    # A server that has handed over, maybe for the test before, is not replaced for so long unless it streams.
    "steward.multigres.controllers.common.primary_switches:RECENT_SECONDS": 10.0,
}


MAIN, SIDE = TWO_POOLS["main"], TWO_POOLS["side"]


def with_servers(pool: dict[str, Any], replicas: int) -> dict[str, Any]:
    return {**pool, "replicasPerCell": replicas}


@pytest.fixture(scope="module")
def forwards(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, long_namespace, log, periods=PERIODS):
        yield data_planes.forwards_file(control_plane)


@pytest.fixture(scope="module")
def shared(kubectl: Kubectl, long_namespace: str, forwards: Path) -> SharedRolloutCluster:
    """A cluster of three servers in two pools."""
    made = SharedRolloutCluster(kubectl, long_namespace, forwards, "shared")
    made.apply_max_connections(150)
    made.scale(TWO_POOLS)
    made.wait_settled()
    return made


@pytest.fixture
def cluster(shared: SharedRolloutCluster) -> Iterator[SharedRolloutCluster]:
    """The same, without faults at the end."""
    yield shared
    shared.clear_everything()


@pytest.fixture
def three_servers(cluster: SharedRolloutCluster) -> SharedRolloutCluster:
    """Ready, with a primary."""
    cluster.scale(TWO_POOLS)
    cluster.wait_settled()
    return cluster


def test_while_the_primary_is_unknown_no_pod_is_replaced(three_servers: SharedRolloutCluster) -> None:
    """The first test: for a while after a switch the operator waits for an election."""
    before = three_servers.uids()
    three_servers.inject_faults("no-primary")
    eventually(lambda: not three_servers.shard["status"].get("primary"), "the primary to be unknown")
    three_servers.roll()
    condition = three_servers.wait_shard_condition("RollingUpdate", "PrimaryUnknown")
    assert "multigres.com/force-rollout" in condition["message"]
    assert "(since " in condition["message"]
    assert three_servers.uids() == before
    three_servers.clear_faults()
    three_servers.wait_settled()


def test_a_new_image_replaces_pods_by_eviction_one_at_a_time_and_the_primary_last(
    control_plane: ControlPlane, long_namespace: str, three_servers: SharedRolloutCluster
) -> None:
    primary, before = three_servers.primary(), three_servers.uids()
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run_async(audit.mark())
    three_servers.roll()
    three_servers.wait_settled()
    evicted = evicted_since(control_plane, mark, long_namespace)
    assert sorted(evicted) == sorted(before)
    assert evicted[-1] == primary
    assert three_servers.primary() != primary, "it was switched before"
    assert not set(three_servers.uids().values()) & set(before.values())


@pytest.fixture
def bad_image(kubectl: Kubectl, long_namespace: str) -> Iterator[None]:
    with crashing_bad_image(kubectl, long_namespace):
        yield


def test_a_bad_image_stops_at_the_first_pod_and_a_better_one_repairs_it(
    three_servers: SharedRolloutCluster, bad_image: None
) -> None:
    primary = three_servers.primary()
    three_servers.apply_bad_image()
    condition = three_servers.wait_shard_condition("RollingUpdate", "RolloutStopped")
    assert "CrashLoopBackOff" in condition["message"]
    assert three_servers.count_images() == {three_servers.image: 2, BAD: 1}
    assert three_servers.servers()[primary]["spec"]["initContainers"][0]["image"] == three_servers.image
    eventually(
        lambda: three_servers.shard_condition("Degraded")["status"] == "True", "the Shard to be degraded"
    )
    three_servers.roll()
    three_servers.wait_settled()
    assert three_servers.shard_condition("Degraded")["status"] == "False"


def evicted_since(control_plane: ControlPlane, mark: Any, namespace: str) -> list[str]:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    calls = run_async(audit.calls_since(mark))
    return [
        each.call.name
        for each in calls.writes_of("multigres-operator")
        if each.call.subresource == "eviction" and each.call.namespace == namespace and each.code < 300
    ]


def test_without_multiadmin_a_rollout_waits_until_the_annotation_forces_it(
    three_servers: SharedRolloutCluster,
) -> None:
    before = three_servers.uids()
    three_servers.inject_faults("multiadmin-away")
    _, new = three_servers.roll()
    condition = three_servers.wait_shard_condition("RollingUpdate", "StateUnknown")
    assert "multiadmin does not report the state of Postgres" in condition["message"]
    replaced = [name for name, uid in three_servers.uids().items() if uid != before[name]]
    assert len(replaced) <= 1, "only one by a report from before, which may be ten seconds old"
    three_servers.annotate_shard("multigres.com/force-rollout=true")
    eventually(lambda: three_servers.count_images() == {new: 3}, "the annotation to force the rollout")
    three_servers.clear_faults()
    three_servers.wait_settled()


def test_a_refused_switch_keeps_the_primary_until_it_is_possible(three_servers: SharedRolloutCluster) -> None:
    primary, before = three_servers.primary(), three_servers.uids()
    three_servers.inject_faults("switch-refused")
    old, new = three_servers.roll()
    condition = three_servers.wait_shard_condition("RollingUpdate", "PrimarySwitchRefused")
    assert "the switch was refused" in condition["message"]
    assert three_servers.count_images() == {old: 1, new: 2}
    assert three_servers.uids()[primary] == before[primary]
    three_servers.clear_faults()
    three_servers.wait_settled()
    assert three_servers.primary() != primary


def test_the_next_pod_waits_until_the_last_one_streams(three_servers: SharedRolloutCluster) -> None:
    slow, pods = three_servers, three_servers.uids()
    first = min(set(pods) - {slow.primary()}, key=replacement_order)
    slow.inject_server_faults(f"slow-postgres@{first}")
    old, new = slow.roll()
    eventually(lambda: slow.count_images() == {old: 2, new: 1}, "the first pod to be replaced")
    slow.inject_server_faults(f"never-streams@{first}")
    eventually(
        lambda: (
            f"Postgres of {first} is ready and streams" in slow.shard_condition("RollingUpdate")["message"]
        ),
        "the rollout to wait for the standby",
    )
    assert {name for name, uid in slow.uids().items() if uid != pods[name]} == {first}
    slow.clear_server_faults()
    slow.wait_settled()


def replacement_order(pod: str) -> tuple[str, int]:
    """Pool by pool, the highest ordinal first."""
    pool, _, ordinal = pod.rpartition("-")
    return pool, -int(ordinal)


def test_a_correction_gets_through_when_postgres_is_down_everywhere(
    three_servers: SharedRolloutCluster,
) -> None:
    three_servers.inject_server_faults("postgres-down")
    eventually(lambda: not three_servers.shard["status"].get("primary"), "the primary to be gone")
    _, new = three_servers.roll()
    eventually(lambda: three_servers.count_images() == {new: 3}, "every pod to be replaced")
    three_servers.clear_server_faults()
    three_servers.wait_settled()


def test_a_lowered_setting_is_refused_and_a_raised_one_rolls(three_servers: SharedRolloutCluster) -> None:
    tuned, before = three_servers, three_servers.uids()
    assert tuned.mounted_settings() == "max_connections = 150\n"
    tuned.apply_max_connections(120)
    condition = tuned.wait_shard_condition("PostgresConfigRefused", "SettingsLowered")
    assert "lowers max_connections from 150 to 120" in condition["message"]
    assert (tuned.mounted_settings(), tuned.uids()) == ("max_connections = 150\n", before)
    tuned.apply_max_connections(200)
    eventually(lambda: not set(tuned.uids().values()) & set(before.values()), "every pod to be replaced")
    tuned.wait_settled()
    assert tuned.mounted_settings() == "max_connections = 200\n"
    assert tuned.shard_condition("PostgresConfigRefused") is None


def test_scaling_down_switches_a_primary_that_is_to_leave(
    kubectl: Kubectl, long_namespace: str, cluster: SharedRolloutCluster
) -> None:
    cluster.scale({"main": with_servers(MAIN, 1), "side": with_servers(SIDE, 2)})
    cluster.wait_settled()
    [leaving] = [name for name in cluster.servers() if "-main-" in name]
    cluster.make_primary(leaving)
    cluster.wait_settled()
    cluster.scale({"main": with_servers(MAIN, 0), "side": with_servers(SIDE, 2)})
    cluster.wait_settled()
    assert leaving not in cluster.servers()
    assert cluster.wait_primary() != leaving
    assert cluster.shard_condition("ScaleDownPending") is None
    requested = event_notes(kubectl, long_namespace, cluster, "PrimarySwitchRequested")
    assert any(f"from {leaving} to another server: its server is removed" in note for note in requested)


def test_a_pool_does_not_leave_while_a_server_that_stays_is_not_ready(
    kubectl: Kubectl, long_namespace: str, cluster: SharedRolloutCluster
) -> None:
    staying = {"side": with_servers(SIDE, 3)}
    cluster.scale({**staying, "main": with_servers(MAIN, 1)})
    cluster.wait_settled()
    standby = next(
        name for name in sorted(cluster.servers()) if name != cluster.primary() and "-side-" in name
    )
    cluster.inject_server_faults(f"never-streams@{standby}")
    kubectl("delete", "pod", standby, "-n", long_namespace)
    before = set(cluster.servers()) | {standby}
    cluster.scale(staying)
    condition = cluster.wait_shard_condition("ScaleDownPending", "ServersNotReady")
    assert f"Postgres of {standby} is ready" in condition["message"]
    assert set(cluster.servers()) == before
    cluster.clear_server_faults()
    cluster.wait_settled()


def test_a_server_that_the_durability_policy_needs_stays(cluster: SharedRolloutCluster) -> None:
    cluster.scale({"side": with_servers(SIDE, 3)})
    cluster.wait_settled()
    cluster.scale({"side": with_servers(SIDE, 1)})
    condition = cluster.wait_shard_condition("ScaleDownPending", "DurabilityWouldBreak")
    assert "the durability policy needs 2 servers" in condition["message"]
    assert len(cluster.servers()) == 2
    cluster.scale({"side": with_servers(SIDE, 2)})
    cluster.wait_settled()
    assert cluster.shard_condition("ScaleDownPending") is None


def test_servers_of_a_removed_pool_leave_one_at_a_time_after_a_switch(cluster: SharedRolloutCluster) -> None:
    pools = {"main": with_servers(MAIN, 2), "side": with_servers(SIDE, 2)}
    cluster.scale(pools)
    cluster.wait_settled()
    removed = cluster.pool_of(cluster.primary())
    kept = next(name for name in pools if name != removed)
    stays = {name for name in cluster.servers() if cluster.pool_of(name) == kept}
    lowest = min(set(cluster.servers()) - stays)
    # The first of the two leaves; the orchestrators cannot drop it from the cohort while nothing takes writes.
    cluster.inject_faults("switch-refused")
    cluster.scale({kept: pools[kept]})
    condition = cluster.wait_shard_condition("ScaleDownPending", "PrimarySwitchRefused")
    assert "multigres.com/force-delete" in condition["message"]
    assert {*stays, lowest} <= set(cluster.servers())
    cluster.clear_faults()
    eventually(lambda: set(cluster.servers()) == stays, f"pool {removed} to be removed")
    cluster.wait_settled()
    assert cluster.wait_primary() in stays
    assert cluster.shard_condition("ScaleDownPending") is None


def test_the_only_server_of_a_shard_is_replaced_with_an_event(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    pools = {"main": with_servers(MAIN, 1)}
    single = RolloutCluster(kubectl, long_namespace, forwards, "single")
    single.apply_image(GOOD, pools)
    eventually(lambda: single.images() == [GOOD], "the server to run")
    single.wait_shard_condition("RollingUpdate", "PodsUpToDate")
    single.apply_image(BETTER, pools)
    eventually(lambda: single.images() == [BETTER], "the server to be replaced")
    eventually(lambda: event_notes(kubectl, long_namespace, single, "RestartingOnlyServer"), "the event")


def event_notes(kubectl: Kubectl, namespace: str, made: RolloutCluster, reason: str) -> list[str]:
    events = kubectl.json("get", "events.events.k8s.io", "-n", namespace)["items"]
    return [
        event["note"]
        for event in events
        if event["reason"] == reason and event["regarding"]["name"] == made.shard_name
    ]
