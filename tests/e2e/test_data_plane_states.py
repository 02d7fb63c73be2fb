"""What the status of a database cluster says about its servers while the pods themselves look well.

Needs STEWARD_DATA_PLANE.
"""

from __future__ import annotations

from tests.e2e.support import multiadmin
from tests.e2e.support.database_cluster import LITTLE, DatabaseCluster
from tests.e2e.support.planned_changes import POOLS, Record, enough_writes, planned_change, start
from tests.e2e.support.writer import counted_writes

THREE_SERVERS = {"main": {"cells": ["z1"], "replicasPerCell": 3, "postgres": LITTLE}}
WITH_READERS = THREE_SERVERS | {
    "readers": {"type": "readOnly", "cells": ["z1"], "replicasPerCell": 1, "postgres": LITTLE}
}
STOP_POSTGRES = 'pg_ctl stop -m immediate -D "$PGDATA"'


async def test_without_multiadmin_the_state_is_unknown_and_never_broken(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, THREE_SERVERS, "z1")
    async with counted_writes(database_cluster.endpoint()) as counts:
        scale_multiadmin(database_cluster, 0)
        await database_cluster.wait_for(
            lambda: database_cluster.shard_condition("ServersReady").get("status") == "Unknown",
            "the state to be unknown",
        )
        assert database_cluster.shard_condition("Available")["status"] != "False"
        assert database_cluster.shard_condition("Degraded").get("status") != "True"
        await enough_writes(counts)
        scale_multiadmin(database_cluster, 1)
        await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    record_property("writes", counts.describe())
    assert not counts.failures, counts.failures[:5]
    assert not counts.lost


def scale_multiadmin(database: DatabaseCluster, replicas: int) -> None:
    value = {"spec": {"replicas": replicas}}
    database.patch([{"op": "add", "path": "/spec/multiadmin", "value": value}])


async def test_a_postgres_that_stays_down_is_named_until_it_runs_again(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, THREE_SERVERS, "z1")
    standby = next(
        name
        for pod in database_cluster.pods()
        if (name := pod["metadata"]["name"]) != database_cluster.primary()
    )
    async with counted_writes(database_cluster.endpoint()) as counts:
        multiadmin.allow_restarts(database_cluster, standby, enabled=False)
        database_cluster.containers.kubectl(
            *("exec", standby, "-n", database_cluster.namespace, "-c", "postgres", "--"),
            *("sh", "-c", STOP_POSTGRES),
        )
        await database_cluster.wait_for(
            lambda: standby in database_cluster.shard_condition("ServersReady").get("message", ""), "a report"
        )
        assert database_cluster.shard_condition("Ready")["status"] == "False"
        assert database_cluster.shard_condition("Available")["status"] == "True"
        await enough_writes(counts)
        multiadmin.allow_restarts(database_cluster, standby, enabled=True)
        await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    record_property("writes", counts.describe())
    assert not counts.failures, counts.failures[:5]
    assert not counts.lost


async def test_shrinking_a_read_only_pool_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, WITH_READERS, "z1")
    async with planned_change(database_cluster, record_property):
        database_cluster.patch([{"op": "replace", "path": f"{POOLS}/readers/replicasPerCell", "value": 0}])
    assert {
        database_cluster.label_of(pod["metadata"]["name"], "multigres.com/pool")
        for pod in database_cluster.pods()
    } == {"main"}
