"""Clusters of real Postgres servers under a client that writes all the time.

Needs STEWARD_DATA_PLANE, a directory with archives of the Multigres images under the names that Steward uses. Each test
has a cluster of its own, in one cell: several cells need a repository that they share (test_data_plane_in_cells.py).
"""

from __future__ import annotations

import asyncio
import json

import asyncpg

from tests.e2e.support.database_cluster import LITTLE, DatabaseCluster
from tests.e2e.support.planned_changes import POOLS, Record, enough_writes, planned_change, start
from tests.e2e.support.writer import counted_writes, stored_rows

ONE_CELL = {"main": {"cells": ["z1"], "replicasPerCell": 3, "postgres": LITTLE}}


async def test_a_new_cluster_is_healthy_when_sql_works_and_not_before(
    database_cluster: DatabaseCluster,
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    connection = await database_cluster.endpoint().connect()
    try:
        assert await connection.fetchval("SELECT 1") == 1
        await connection.execute("CREATE TABLE works (id int)")
    finally:
        await connection.close()


async def test_no_gateway_restarts_while_a_cluster_starts(database_cluster: DatabaseCluster) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    [gateway] = database_cluster.pods("multigateway")
    assert [each["restartCount"] for each in gateway["status"]["containerStatuses"]] == [0]


async def test_a_rolling_change_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    before = {pod["metadata"]["uid"] for pod in database_cluster.pods()}
    async with planned_change(database_cluster, record_property):
        more = {"requests": {"cpu": "11m", "memory": "64Mi"}}
        database_cluster.patch([{"op": "replace", "path": f"{POOLS}/main/postgres", "value": more}])
    assert before.isdisjoint(pod["metadata"]["uid"] for pod in database_cluster.pods())


async def test_scaling_down_the_primary_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    """Nothing can choose the primary: each server has a pool of its own, and the pool of the primary shrinks."""
    pool = {"cells": ["z1"], "replicasPerCell": 1, "postgres": LITTLE}
    await start(database_cluster, dict.fromkeys(("a", "b", "c", "d"), pool), "z1")
    primary = database_cluster.primary()
    path = f"{POOLS}/{database_cluster.label_of(primary, 'multigres.com/pool')}/replicasPerCell"
    async with planned_change(database_cluster, record_property):
        database_cluster.patch([{"op": "replace", "path": path, "value": 0}])
    names = {pod["metadata"]["name"] for pod in database_cluster.pods()}
    assert len(names) == 3
    assert primary not in names


async def test_a_changed_setting_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    database_cluster.apply_settings("max_connections = 150\nwork_mem = 2MB\n")
    database_cluster.apply(database_cluster.manifest_with_settings(ONE_CELL, ("z1",)))
    await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    async with planned_change(database_cluster, record_property):
        database_cluster.apply_settings("max_connections = 160\nwork_mem = 3MB\n")
        await database_cluster.wait_for(lambda: not database_cluster.is_settled(), "the change to begin")
    assert await setting(database_cluster, "max_connections") == "160"
    database_cluster.apply_settings("max_connections = 120\nwork_mem = 3MB\n")
    await database_cluster.wait_for(
        lambda: "max_connections" in json.dumps(database_cluster.shard()["status"]), "a refusal"
    )
    assert await setting(database_cluster, "max_connections") == "160"


async def test_a_new_certificate_authority_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    before = {pod["metadata"]["uid"] for pod in database_cluster.pods()}
    async with planned_change(database_cluster, record_property):
        database_cluster.delete_certificates()
        await database_cluster.wait_for(lambda: not database_cluster.is_settled(), "the change to begin")
    assert before.isdisjoint(pod["metadata"]["uid"] for pod in database_cluster.pods())


async def test_draining_the_node_of_the_primary_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    primary = database_cluster.primary()
    async with planned_change(database_cluster, record_property):
        node = await asyncio.to_thread(drain, database_cluster, primary)
        database_cluster.containers.kubectl("uncordon", node)
    assert database_cluster.primary() != primary


async def test_writes_continue_after_the_primary_is_killed(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
        database_cluster.containers.kubectl(
            "delete",
            "pod",
            database_cluster.primary(),
            "-n",
            database_cluster.namespace,
            "--grace-period=0",
            "--force",
        )
        await asyncio.wait_for(enough_writes(counts), 60)
        await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy again")
        await enough_writes(counts)
    record_property("writes", counts.describe())
    assert not counts.lost


async def test_a_cluster_that_is_created_again_has_all_rows(database_cluster: DatabaseCluster) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
    await asyncio.to_thread(database_cluster.delete)
    await start(database_cluster, ONE_CELL, "z1")
    assert set(counts.acknowledged) <= await stored_rows(database_cluster.endpoint())


def drain(database_cluster: DatabaseCluster, pod: str) -> str:
    """Drains the node of a pod, of that pod only: the other servers of a small machine are on the same node."""
    [node] = [each["spec"]["nodeName"] for each in database_cluster.pods() if each["metadata"]["name"] == pod]
    database_cluster.containers.kubectl(
        *(
            "drain",
            node,
            f"--pod-selector=statefulset.kubernetes.io/pod-name={pod}",
            "--delete-emptydir-data",
        ),
        *("--ignore-daemonsets", "--timeout=180s"),
    )
    return str(node)


async def setting(database_cluster: DatabaseCluster, name: str) -> str:
    connection: asyncpg.Connection = await database_cluster.endpoint().connect()
    try:
        return str(await connection.fetchval(f"SHOW {name}"))
    finally:
        await connection.close()
