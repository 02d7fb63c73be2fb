"""The data of a repository in a cluster of another name, as docs/backups.md describes it. Needs STEWARD_DATA_PLANE.

The restored data names the servers that may elect a primary, and a cluster of another name has none of them. multiadmin
installs a rule with its servers, as the runbook of MultigresShardNotWritable does after the loss of a quorum.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.multigres import names
from tests.e2e.support import multiadmin
from tests.e2e.support.database_cluster import LITTLE, DatabaseCluster
from tests.e2e.support.object_store import ACCESS_KEY, REGION, SECRET_KEY, running_object_store
from tests.e2e.support.planned_changes import Record, enough_writes
from tests.e2e.support.user_commands import machine_address
from tests.e2e.support.writer import counted_writes, stored_rows

POOLS = {"main": {"cells": ["z1"], "replicasPerCell": 2, "postgres": LITTLE}}


@pytest.fixture
def repository(database_cluster: DatabaseCluster, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """An `s3` block: a repository on a volume has the name of its cluster."""
    with running_object_store(machine_address(database_cluster.containers), tmp_path) as store:
        keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        create_secret(database_cluster, "s3-credentials", keys)
        create_secret(database_cluster, "s3-ca", {"ca.crt": store.authority})
        place = {"bucket": store.bucket, "region": REGION, "endpoint": store.endpoint}
        secrets = {"credentialsSecret": "s3-credentials", "caSecret": "s3-ca"}
        yield {**place, **secrets, "keyPrefix": database_cluster.namespace}


def create_secret(database: DatabaseCluster, name: str, values: dict[str, str]) -> None:
    metadata = {"name": name, "namespace": database.namespace}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": values}
    database.containers.kubectl("create", "-f", "-", document=secret)


def copy_password(database: DatabaseCluster, name: str) -> None:
    """Postgres keeps the password that it had."""
    kubectl, namespace = database.containers.kubectl, database.namespace
    found = kubectl.json("get", "secret", names.password_secret(database.name), "-n", namespace)
    metadata = {"name": names.password_secret(name), "namespace": namespace}
    copy = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": found["data"]}
    kubectl("create", "-f", "-", document=copy)


async def test_forced_rule_lets_a_cluster_of_another_name_continue_with_the_data(
    database_cluster: DatabaseCluster, repository: dict[str, Any], record_property: Record
) -> None:
    manifest = database_cluster.manifest(POOLS, ("z1",))
    manifest["spec"]["backup"] = {"type": "s3", "s3": repository}
    database_cluster.apply(manifest)
    await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
    made = await asyncio.to_thread(database_cluster.steward, "backup", database_cluster.name)
    assert made.returncode == 0, made.stderr
    copy_password(database_cluster, "other")
    await asyncio.to_thread(database_cluster.delete)
    await database_cluster.wait_for(lambda: not database_cluster.pods(), "the servers to be gone")

    other = DatabaseCluster(database_cluster.containers, database_cluster.namespace, "other")
    manifest = other.manifest(POOLS, ("z1",))
    manifest["spec"]["restore"] = {"from": {"s3": repository}}
    other.apply(manifest)
    await other.wait_for(lambda: are_restored(other), "all servers to be restored", 600)
    await other.wait_for(
        lambda: "names other servers" in json.dumps(other.shard().get("status", {})), "the cause to be named"
    )
    servers = [pod["metadata"]["name"] for pod in other.pods()]
    leader = max(servers, key=lambda pod: multiadmin.position(other, pod))
    record_property("answer", multiadmin.force_rule(other, leader, servers))
    await other.wait_for(other.is_settled, "the cluster to be Healthy")
    assert set(counts.acknowledged) <= await stored_rows(other.endpoint())


def are_restored(database: DatabaseCluster) -> bool:
    """Whether Postgres runs in every pod: a pod is ready when it accepts connections."""
    conditions = [
        {each["type"]: each["status"] for each in pod["status"].get("conditions", [])}
        for pod in database.pods()
    ]
    return len(conditions) == 2 and all(each.get("Ready") == "True" for each in conditions)
