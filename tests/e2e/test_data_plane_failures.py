"""Database clusters that cannot work: what their status says meanwhile, and how they are repaired.

Needs STEWARD_DATA_PLANE.
"""

from __future__ import annotations

import pytest

from tests.e2e.support import multiadmin
from tests.e2e.support.database_cluster import LITTLE, DatabaseCluster
from tests.e2e.support.planned_changes import POOLS, Record, enough_writes, start
from tests.e2e.support.writer import counted_writes

THREE_SERVERS = {"main": {"cells": ["z1"], "replicasPerCell": 3, "postgres": LITTLE}}
BAD_SETTINGS = "shared_preload_libraries = 'no_such_library'\n"
TOO_MANY_PROCESSES = "max_connections = 262000\nmax_wal_senders = 1000\n"
"""More than Postgres can number. Servers that run must not get fewer of either."""
GOOD_SETTINGS = "work_mem = 3MB\n"


@pytest.mark.parametrize("settings", [BAD_SETTINGS, TOO_MANY_PROCESSES])
async def test_a_cluster_whose_postgres_cannot_start_is_not_available_until_it_is_corrected(
    database_cluster: DatabaseCluster, settings: str
) -> None:
    database_cluster.apply_settings(settings)
    database_cluster.apply(database_cluster.manifest_with_settings(THREE_SERVERS, ("z1",)))
    await database_cluster.wait_for(lambda: is_reported(database_cluster), "a problem to be reported")
    assert database_cluster.shard_condition("Available")["status"] == "False"
    assert database_cluster.shard_condition("Ready")["status"] == "False"
    assert database_cluster.status()["phase"] != "Healthy"
    database_cluster.apply_settings(GOOD_SETTINGS)
    await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    connection = await database_cluster.endpoint().connect()
    await connection.close()


def is_reported(database_cluster: DatabaseCluster) -> bool:
    """Whether the Shard is degraded; a pod that cannot become ready is a problem after a while."""
    return database_cluster.shard_condition("Degraded").get("status") == "True"


async def test_a_bad_setting_stops_at_the_first_standby_and_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    database_cluster.apply_settings("work_mem = 2MB\n")
    database_cluster.apply(database_cluster.manifest_with_settings(THREE_SERVERS, ("z1",)))
    await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    before = {pod["metadata"]["uid"] for pod in database_cluster.pods()}
    async with counted_writes(database_cluster.endpoint()) as counts:
        database_cluster.apply_settings(BAD_SETTINGS)
        await database_cluster.wait_for(
            lambda: database_cluster.shard_condition("RollingUpdate").get("reason") == "RolloutStopped",
            "the rollout to stop",
        )
        assert len(before & {pod["metadata"]["uid"] for pod in database_cluster.pods()}) == 2
        assert database_cluster.shard_condition("Available")["status"] == "True"
        database_cluster.apply_settings(GOOD_SETTINGS)
        await database_cluster.wait_for(database_cluster.is_settled, "the correction to be carried out", 600)
        await enough_writes(counts)
    record_property("writes", counts.describe())
    assert not counts.failures, counts.failures[:5]
    assert not counts.lost


async def test_a_shard_that_lost_its_quorum_is_reported_and_continues_with_a_forced_rule(
    database_cluster: DatabaseCluster,
) -> None:
    """Two of four servers, the primary among them, are removed by force: the runbook MultigresShardNotWritable."""
    pool = {"cells": ["z1"], "replicasPerCell": 1, "postgres": LITTLE}
    await start(database_cluster, dict.fromkeys(("a", "b", "c", "d"), pool), "z1")
    primary = database_cluster.label_of(database_cluster.primary(), "multigres.com/pool")
    other = next(name for name in ("a", "b", "c", "d") if name != primary)
    database_cluster.annotate_shard("multigres.com/force-delete=true")
    database_cluster.patch([{"op": "remove", "path": f"{POOLS}/{name}"} for name in (primary, other)])
    await database_cluster.wait_for(lambda: len(database_cluster.pods()) == 2, "two servers to be left")
    await database_cluster.wait_for(
        lambda: database_cluster.shard_condition("Available").get("status") == "False", "a report"
    )
    database_cluster.annotate_shard("multigres.com/force-delete-")

    left = [pod["metadata"]["name"] for pod in database_cluster.pods()]
    leader = max(left, key=lambda pod: multiadmin.position(database_cluster, pod))
    assert "installedRule" in multiadmin.force_rule(database_cluster, leader, left)

    await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
    assert not counts.failures
    assert not counts.lost
