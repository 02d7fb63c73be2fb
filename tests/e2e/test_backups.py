"""Backups of real Postgres servers: made, kept, and brought back after servers, volumes and a whole cluster were lost.

Needs STEWARD_DATA_PLANE, as test_data_plane.py. The repository is on a volume, in one cell, or in an object store with
TLS, for two cells; the runbooks are those of docs/backups.md.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.multigres import names
from tests.e2e.support.database_cluster import DATABASE, GROUP, LITTLE, SHARD, DatabaseCluster
from tests.e2e.support.object_store import ACCESS_KEY, REGION, SECRET_KEY, running_object_store
from tests.e2e.support.planned_changes import Record, enough_writes, start
from tests.e2e.support.user_commands import machine_address
from tests.e2e.support.writer import counted_writes, stored_rows

ONE_CELL = {"main": {"cells": ["z1"], "replicasPerCell": 3, "postgres": LITTLE}}
TWO_CELLS = {"main": {"cells": ["z1", "z2"], "replicasPerCell": 1, "postgres": LITTLE}}
HOST = "backup-repository"
BACKUP_INFO = "/backups/backup/multigres/backup.info"
OPENSSL_MARK = "Salted__"
"""The first bytes of every file that pgBackRest has encrypted."""
RESTORE_SECONDS = 600.0


async def backed_up(database: DatabaseCluster, name: str, **spec: str) -> dict[str, Any]:
    """The status of a backup that was made now."""
    metadata = {"name": name, "namespace": database.namespace}
    document = {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresBackup",
        "metadata": metadata,
        "spec": {"cluster": database.name, **spec},
    }
    await asyncio.to_thread(database.containers.kubectl, "create", "-f", "-", document=document)

    def status() -> dict[str, Any]:
        found = database.containers.kubectl.json("get", "mgb", name, "-n", database.namespace)
        return dict(found.get("status", {}))

    await database.wait_for(lambda: status().get("phase") in ("Completed", "Failed"), f"backup {name} to end")
    assert status()["phase"] == "Completed", status()
    return status()


def restored(database: DatabaseCluster) -> dict[str, Any]:
    """The condition Restored."""
    conditions = database.status().get("conditions", [])
    return next((dict(each) for each in conditions if each["type"] == "Restored"), {})


async def lose_cluster(database: DatabaseCluster) -> None:
    """Deletes the cluster and every claim of the namespace but those of repositories."""
    await asyncio.to_thread(database.delete)
    await database.wait_for(lambda: not database.pods(), "the servers to be gone")
    claims = database.containers.kubectl.json("get", "pvc", "-n", database.namespace)["items"]
    lost = [name for claim in claims if not is_repository(database, name := claim["metadata"]["name"])]
    assert lost
    await asyncio.to_thread(
        database.containers.kubectl, *("delete", "pvc", "-n", database.namespace, "--timeout=120s"), *lost
    )


def is_repository(database: DatabaseCluster, claim: str) -> bool:
    path = names.ShardPath(database.name, DATABASE, GROUP, SHARD)
    return claim in (
        names.shared_backup_claim(path),
        *(names.backup_claim(path, cell) for cell in ("z1", "z2")),
    )


async def is_restored(database: DatabaseCluster, record: Record) -> None:
    seconds = await database.wait_for(
        lambda: restored(database).get("status") == "True", "the cluster to be restored", RESTORE_SECONDS
    )
    record("seconds until restored", round(seconds))
    await database.wait_for(database.is_settled, "the cluster to be Healthy", RESTORE_SECONDS)


async def is_measured(database: DatabaseCluster) -> None:
    """The primary has read from the repository what its two backups take: a real one is compressed, and not empty."""

    def is_known() -> bool:
        backup = database.shard()["status"].get("backup", {})
        size, data = backup.get("repositoryBytes", 0), backup.get("lastBackupBytes", 0)
        return backup.get("backups", 0) >= 2 and 0 < size < data * backup["backups"]

    await database.wait_for(is_known, "the size of the repository")


async def test_lost_server_comes_back_from_the_repository(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    kubectl, namespace = database_cluster.containers.kubectl, database_cluster.namespace
    primary = database_cluster.primary()
    lost = next(name for pod in database_cluster.pods() if (name := pod["metadata"]["name"]) != primary)
    volume = volume_of(database_cluster, lost)

    def is_back() -> bool:
        has_new_volume = volume_of(database_cluster, lost) not in ("", volume)
        return has_new_volume and database_cluster.is_settled() and server_streams(database_cluster, lost)

    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
        await asyncio.to_thread(kubectl, "delete", "pvc", f"pgdata-{lost}", "-n", namespace, "--wait=false")
        await asyncio.to_thread(kubectl, "delete", "pod", lost, "-n", namespace)
        seconds = await database_cluster.wait_for(is_back, "the server", RESTORE_SECONDS)
        await enough_writes(counts)
    record_property("seconds", round(seconds))
    assert not counts.lost


def volume_of(database: DatabaseCluster, server: str) -> str:
    """The uid of its claim; empty while there is none."""
    found = database.containers.kubectl.json(
        *("get", "pvc", "-n", database.namespace, "--field-selector", f"metadata.name=pgdata-{server}")
    )
    return next((str(each["metadata"]["uid"]) for each in found["items"]), "")


def server_streams(database: DatabaseCluster, name: str) -> bool:
    servers = database.shard().get("status", {}).get("servers", [])
    return any(each["pod"] == name and each.get("state") == "Ready" for each in servers)


async def test_runbook_of_a_lost_cluster_brings_all_rows_of_its_backup_back(
    database_cluster: DatabaseCluster, tmp_path: Path, record_property: Record
) -> None:
    """With the commands of docs/backups.md. Rows that were written after the backup are counted, not demanded: the WAL
    of the last moments may not have been archived."""
    await start(database_cluster, ONE_CELL, "z1")
    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
        before = set(counts.acknowledged)
        made = await asyncio.to_thread(database_cluster.steward, "backup", database_cluster.name)
        await enough_writes(counts)
    assert made.returncode == 0, made.stderr
    await lose_cluster(database_cluster)

    file = tmp_path / "shop.yaml"
    file.write_text(json.dumps(database_cluster.manifest(ONE_CELL, ("z1",))))
    plan = await asyncio.to_thread(database_cluster.steward, "restore", "-f", str(file), "--dry-run")
    assert plan.returncode == 0, plan.stderr
    assert "would be created" in plan.stdout
    done = await asyncio.to_thread(database_cluster.steward, "restore", "-f", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    await is_restored(database_cluster, record_property)

    rows, later = await stored_rows(database_cluster.endpoint()), set(counts.acknowledged) - before
    record_property("rows before the backup", f"{len(before & rows)} of {len(before)}")
    record_property("rows after the backup", f"{len(later & rows)} of {len(later)}")
    assert before <= rows
    again = await asyncio.to_thread(database_cluster.steward, "backup", database_cluster.name)
    assert again.returncode == 0, again.stderr


async def test_cluster_is_restored_from_the_multigresbackup_that_its_manifest_names(
    database_cluster: DatabaseCluster, record_property: Record
) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
    backup = await backed_up(database_cluster, "before-the-loss", type="full")
    await lose_cluster(database_cluster)
    manifest = database_cluster.manifest(ONE_CELL, ("z1",))
    manifest["spec"]["restore"] = {"from": {"backup": "before-the-loss"}}
    database_cluster.apply(manifest)
    await is_restored(database_cluster, record_property)
    assert backup["backupId"] in restored(database_cluster)["message"]
    assert set(counts.acknowledged) <= await stored_rows(database_cluster.endpoint())


async def test_restore_waits_while_volumes_of_servers_are_left(database_cluster: DatabaseCluster) -> None:
    await start(database_cluster, ONE_CELL, "z1")
    await asyncio.to_thread(database_cluster.delete)
    await database_cluster.wait_for(lambda: not database_cluster.pods(), "the servers to be gone")
    manifest = database_cluster.manifest(ONE_CELL, ("z1",))
    manifest["spec"]["restore"] = {"from": {"filesystem": {}}}
    database_cluster.apply(manifest)
    await database_cluster.wait_for(
        lambda: restored(database_cluster).get("reason") == "RestoreBlocked", "a refusal"
    )
    assert database_cluster.pods() == []


async def test_more_than_seven_full_backups_are_kept(database_cluster: DatabaseCluster) -> None:
    """The configuration of the data plane deletes all but seven after a backup; a variable of the pods forbids it."""
    await start(database_cluster, ONE_CELL, "z1")
    made = [
        (await backed_up(database_cluster, f"full-{number}", type="full"))["backupId"] for number in range(8)
    ]
    await database_cluster.wait_for(
        lambda: database_cluster.shard()["status"].get("backup", {}).get("backups", 0) >= 9, "nine backups"
    )
    left = database_cluster.containers.kubectl.json("get", "mgb", "-n", database_cluster.namespace)["items"]
    assert {each["status"]["backupId"] for each in left} == set(made)


async def test_repository_is_encrypted_with_the_given_passphrase(database_cluster: DatabaseCluster) -> None:
    kubectl, namespace = database_cluster.containers.kubectl, database_cluster.namespace
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "passphrase", "namespace": namespace},
        "stringData": {"keys.json": json.dumps({"1": "correct horse battery staple"})},
    }
    kubectl("create", "-f", "-", document=secret)
    manifest = database_cluster.manifest(ONE_CELL, ("z1",))
    manifest["spec"]["backup"] = {"type": "filesystem", "encryption": {"secretName": "passphrase"}}
    database_cluster.apply(manifest)
    await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    await backed_up(database_cluster, "encrypted")
    await is_measured(database_cluster)
    read = ("head", "-c", str(len(OPENSSL_MARK)), BACKUP_INFO)
    [host] = database_cluster.pods(HOST)
    assert kubectl("exec", host["metadata"]["name"], "-n", namespace, "--", *read) == OPENSSL_MARK


@pytest.fixture
def object_store(database_cluster: DatabaseCluster, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The `s3` block of a repository whose Secrets exist."""
    with running_object_store(machine_address(database_cluster.containers), tmp_path) as store:
        keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        for name, values in (("s3-credentials", keys), ("s3-ca", {"ca.crt": store.authority})):
            metadata = {"name": name, "namespace": database_cluster.namespace}
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": values}
            database_cluster.containers.kubectl("create", "-f", "-", document=secret)
        yield {
            "bucket": store.bucket,
            "region": REGION,
            "endpoint": store.endpoint,
            "keyPrefix": database_cluster.namespace,
            "credentialsSecret": "s3-credentials",
            "caSecret": "s3-ca",
        }


async def test_lost_cluster_in_two_cells_comes_back_from_an_object_store(
    database_cluster: DatabaseCluster, object_store: dict[str, Any], record_property: Record
) -> None:
    manifest = database_cluster.manifest(TWO_CELLS)
    manifest["spec"]["backup"] = {"type": "s3", "s3": object_store}
    database_cluster.apply(manifest)
    await database_cluster.wait_for(database_cluster.is_settled, "the cluster to be Healthy")
    async with counted_writes(database_cluster.endpoint()) as counts:
        await enough_writes(counts)
        before = set(counts.acknowledged)
        await backed_up(database_cluster, "in-the-bucket", type="full")
        await is_measured(database_cluster)
    await lose_cluster(database_cluster)
    manifest["spec"]["restore"] = {"from": {"s3": manifest["spec"].pop("backup")["s3"]}}
    database_cluster.apply(manifest)
    await is_restored(database_cluster, record_property)
    rows = await stored_rows(database_cluster.endpoint())
    record_property("rows", f"{len(before & rows)} of {len(before)}")
    assert before <= rows
