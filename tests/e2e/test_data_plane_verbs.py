"""Verbs about a cluster of real Postgres servers: psql, logs, restart, hibernate. Needs STEWARD_DATA_PLANE."""

from __future__ import annotations

import asyncio
import subprocess

from tests.e2e.support.database_cluster import LITTLE, DatabaseCluster
from tests.e2e.support.planned_changes import Record, planned_change, start

THREE = {"main": {"cells": ["z1"], "replicasPerCell": 3, "postgres": LITTLE}}


def run(database: DatabaseCluster, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
    where = ("-n", database.namespace, "--kubeconfig", str(database.containers.directory / "kubeconfig"))
    return database.containers.shell.run(verb, database.name, *where, *words)


async def test_psql_and_logs_reach_a_cluster(database_cluster: DatabaseCluster) -> None:
    await start(database_cluster, THREE, "z1")
    made = run(database_cluster, "psql", "--", "-c", "CREATE TABLE works (id int)")
    assert made.returncode == 0, made.stderr
    primary = run(database_cluster, "psql", "--", "-Atc", "SELECT pg_is_in_recovery(), 40 + 2")
    assert primary.stdout == "f|42\n", primary.stderr
    replica = run(database_cluster, "psql", "--role", "replica", "--", "-Atc", "SELECT pg_is_in_recovery()")
    assert replica.stdout == "t\n", replica.stderr
    logged = run(database_cluster, "logs", "--role", "primary", "--tail", "5")
    assert logged.returncode == 0, logged.stderr
    assert {line.split("/")[0] for line in logged.stdout.splitlines()} == {database_cluster.primary()}
    merged = run(database_cluster, "logs", "--tail", "2")
    assert {line.split(" ")[0].split("/")[1] for line in merged.stdout.splitlines()} >= {
        "postgres",
        "multipooler",
        "multigateway",
        "multiorch",
    }


async def test_a_restart_of_all_servers_fails_no_write(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, THREE, "z1")
    before = {pod["metadata"]["uid"] for pod in database_cluster.pods()}
    async with planned_change(database_cluster, record_property):
        done = await asyncio.to_thread(run, database_cluster, "restart", "--yes", "--timeout", "600")
        assert done.returncode == 0, done.stdout + done.stderr
    assert before.isdisjoint(pod["metadata"]["uid"] for pod in database_cluster.pods())


async def test_a_cluster_keeps_its_data_while_it_hibernates(database_cluster: DatabaseCluster) -> None:
    await start(database_cluster, THREE, "z1")
    for statement in ("CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (7)"):
        made = run(database_cluster, "psql", "--", "-c", statement)
        assert made.returncode == 0, made.stderr
    done = await asyncio.to_thread(run, database_cluster, "hibernate", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    await database_cluster.wait_for(lambda: database_cluster.pods() == [], "its pods to be gone")
    done = await asyncio.to_thread(run, database_cluster, "wake")
    assert done.returncode == 0, done.stdout + done.stderr
    found = run(database_cluster, "psql", "--", "-Atc", "SELECT id FROM kept")
    assert found.stdout == "7\n", found.stderr
