"""Backups of real Postgres servers, and a cluster that starts from them.

Needs STEWARD_DATA_PLANE.
"""

from __future__ import annotations

import asyncio

from steward.multigres import names
from tests.e2e.support.database_cluster import DATABASE, GROUP, LITTLE, SHARD, DatabaseCluster
from tests.e2e.support.planned_changes import enough_writes, start
from tests.e2e.support.writer import counted_writes, stored_rows

THREE_SERVERS = {"main": {"cells": ["z1"], "replicasPerCell": 3, "postgres": LITTLE}}


async def test_a_cluster_that_lost_all_its_data_starts_from_its_backup(
    database_cluster: DatabaseCluster,
) -> None:
    """Every row that was written before the backup is there again; the repository is on a volume of its own."""
    await start(database_cluster, THREE_SERVERS, "z1")
    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
    await asyncio.to_thread(make_backup, database_cluster)
    await asyncio.to_thread(database_cluster.delete)
    delete_data(database_cluster)
    await start(database_cluster, THREE_SERVERS, "z1")
    assert set(counts.acknowledged) <= await stored_rows(database_cluster.endpoint())


def make_backup(database: DatabaseCluster) -> None:
    kubeconfig = str(database.containers.directory / "kubeconfig")
    where = ("-n", database.namespace, "--kubeconfig", kubeconfig)
    done = database.containers.shell.run("backup", database.name, *where)
    assert done.returncode == 0, done.stderr


def delete_data(database: DatabaseCluster) -> None:
    """Every volume claim of the namespace but that of the repository."""
    kept = names.backup_claim(names.ShardPath(database.name, DATABASE, GROUP, SHARD), "z1")
    claims = database.containers.kubectl.json("get", "pvc", "-n", database.namespace)["items"]
    lost = [claim["metadata"]["name"] for claim in claims if claim["metadata"]["name"] != kept]
    assert lost
    database.containers.kubectl("delete", "pvc", "-n", database.namespace, *lost)
