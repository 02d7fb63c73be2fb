"""A database cluster whose servers are in two cells, on two nodes, with the built-in repository.

Needs STEWARD_DATA_PLANE. One pod serves the repository to the servers of both cells (docs/backups.md).
"""

from __future__ import annotations

import asyncio

from steward.multigres import names
from tests.e2e.support.database_cluster import DATABASE, GROUP, LITTLE, SHARD, DatabaseCluster
from tests.e2e.support.planned_changes import POOLS, Record, enough_writes, planned_change, start
from tests.e2e.support.writer import counted_writes

TWO_CELLS = {
    "main": {"cells": ["z1"], "replicasPerCell": 2, "postgres": LITTLE},
    "other": {"cells": ["z2"], "replicasPerCell": 2, "postgres": LITTLE},
}
HOST = "backup-repository"
LIFETIME_SECONDS = 10.0
"""Of the client's connections: shorter than the period for which gateways of a removed cell keep their clients."""


async def test_removing_the_cell_of_the_primary_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    """The client renews its connection as pools do, so it leaves the gateways of the removed cell in time."""
    await start(database_cluster, TWO_CELLS, "z1", "z2")
    cell = database_cluster.label_of(database_cluster.primary(), "multigres.com/cell")
    index, pool = {"z1": (0, "main"), "z2": (1, "other")}[cell]
    async with planned_change(database_cluster, record_property, LIFETIME_SECONDS):
        database_cluster.patch(
            [{"op": "remove", "path": f"/spec/cells/{index}"}, {"op": "remove", "path": f"{POOLS}/{pool}"}]
        )
    left = [pod["metadata"]["labels"]["multigres.com/cell"] for pod in database_cluster.pods()]
    assert len(left) == 2
    assert cell not in left


async def test_servers_in_two_cells_share_the_built_in_repository(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    """The primary makes a backup, a lost server in any cell comes back, and the pod of the repository may restart."""
    await start(database_cluster, TWO_CELLS, "z1", "z2")
    assert len({pod["spec"]["nodeName"] for pod in database_cluster.pods()}) == 2
    kubectl, namespace = database_cluster.containers.kubectl, database_cluster.namespace
    made = await asyncio.to_thread(database_cluster.steward, "backup", database_cluster.name)
    assert made.returncode == 0, made.stdout + made.stderr

    path = names.ShardPath(database_cluster.name, DATABASE, GROUP, SHARD)
    primary, [host] = database_cluster.primary(), database_cluster.pods(HOST)
    assert host["metadata"]["name"].startswith(names.repository_host(path))
    lost = next(
        pod["metadata"]["name"]
        for pod in database_cluster.pods()
        if pod["spec"]["nodeName"] != host["spec"]["nodeName"] and pod["metadata"]["name"] != primary
    )
    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
        await asyncio.to_thread(kubectl, "delete", "pod", host["metadata"]["name"], "-n", namespace)
        await asyncio.to_thread(kubectl, "delete", "pvc", f"pgdata-{lost}", "-n", namespace, "--wait=false")
        await asyncio.to_thread(kubectl, "delete", "pod", lost, "-n", namespace)
        await database_cluster.wait_for(lambda: not database_cluster.is_settled(), "the loss to be noticed")
        seconds = await database_cluster.wait_for(database_cluster.is_settled, "all servers", 600)
        await enough_writes(counts)
    record_property("seconds", round(seconds))
    record_property("writes", counts.describe())
    assert not counts.lost
