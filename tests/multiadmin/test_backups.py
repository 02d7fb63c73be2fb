"""Backups over multiadmin's REST interface, against a small server: requests, answers, and what is asked once more."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from steward.multiadmin.backup_answers import RepositoryBackup, backup_error
from steward.multiadmin.backups import BackupShard, ShardBackups
from steward.multiadmin.client import MultiadminClient
from steward.multiadmin.errors import RequestRejected
from tests.multiadmin.support.server import SmallMultiadmin, ok, rejected, small_multiadmin

NO_ROUTE = "failed to get backups from pooler: connect: no route to host"
QUERY = "database=postgres&table_group=default&shard=0-inf"
SHARD = '"database":"postgres","table_group":"default","shard":"0-inf"'
BACKUP: dict[str, Any] = {
    "backupId": "20260821-100000F_20260822-110000I",
    "database": "postgres",
    "tableGroup": "default",
    "shard": "0-inf",
    "type": "incr",
    "status": "BACKUP_STATUS_COMPLETE",
    "backupSizeBytes": "31847562",
    "multipoolerServiceId": "pg-1",
    "routingRole": "ROUTING_ROLE_REPLICA",
    "startLsn": "0/5000028",
    "stopLsn": "0/6000050",
    "pgVersion": "17.2",
    "startTimestamp": "2026-08-22T11:00:00Z",
    "stopTimestamp": "2026-08-22T11:00:04Z",
    "jobId": "20260822-110000.000001_multipooler-z1-pg-1",
}


@pytest.fixture
async def client() -> AsyncIterator[MultiadminClient]:
    client = MultiadminClient(lambda host, port: (host, port))
    yield client
    await client.stop()


def backups_at(client: MultiadminClient, server: SmallMultiadmin) -> ShardBackups:
    return ShardBackups(client.at(server.address), BackupShard("postgres", "default", "0-inf"))


async def test_start_names_shard_and_type_and_returns_the_job(client: MultiadminClient) -> None:
    async with small_multiadmin(ok({"jobId": "job-1"})) as server:
        assert await backups_at(client, server).start("differential") == "job-1"
    assert server.requests == ["POST /api/v1/backups"]
    assert server.bodies == [f'{{{SHARD},"type":"differential"}}']


async def test_primary_makes_the_backup_if_it_is_asked_for(client: MultiadminClient) -> None:
    async with small_multiadmin(ok({"jobId": "job-1"})) as server:
        await backups_at(client, server).start("full", "primary")
    assert server.bodies == [f'{{{SHARD},"type":"full","force_primary":true}}']


async def test_start_is_never_sent_twice(client: MultiadminClient) -> None:
    async with small_multiadmin(rejected(14, NO_ROUTE), ok({"jobId": "job-1"})) as server:
        with pytest.raises(RequestRejected):
            await backups_at(client, server).start("full")
    assert len(server.requests) == 1


async def test_job_is_asked_for_with_its_shard(client: MultiadminClient) -> None:
    answer = {"jobId": "a/b", "status": "JOB_STATUS_COMPLETED", "backupId": "20260821-100000F"}
    async with small_multiadmin(ok(answer)) as server:
        job = await backups_at(client, server).job("a/b")
    assert server.requests == [f"GET /api/v1/jobs/a%2Fb?{QUERY}"]
    assert (job.status, job.backup_id, job.error) == ("JOB_STATUS_COMPLETED", "20260821-100000F", "")


async def test_backups_are_listed_with_their_facts(client: MultiadminClient) -> None:
    async with small_multiadmin(rejected(13, NO_ROUTE), ok({"backups": [BACKUP]})) as server:
        [backup] = await backups_at(client, server).list()
    assert server.requests == [f"GET /api/v1/backups?{QUERY}"] * 2
    assert backup == RepositoryBackup(
        backup_id="20260821-100000F_20260822-110000I",
        table_group="default",
        shard="0-inf",
        type="incr",
        status="BACKUP_STATUS_COMPLETE",
        backup_size_bytes="31847562",
        multipooler_service_id="pg-1",
        start_lsn="0/5000028",
        stop_lsn="0/6000050",
        start_timestamp="2026-08-22T11:00:00Z",
        stop_timestamp="2026-08-22T11:00:04Z",
        job_id="20260822-110000.000001_multipooler-z1-pg-1",
    )
    assert (backup.is_complete, backup.made_at) == (True, "20260822-110000")


async def test_empty_repository_is_an_empty_list(client: MultiadminClient) -> None:
    async with small_multiadmin(ok({}), ok({"backups": None})) as server:
        assert [await backups_at(client, server).list() for _ in range(2)] == [(), ()]


async def test_backups_of_another_shard_are_left_out(client: MultiadminClient) -> None:
    others = [{**BACKUP, "shard": "80-inf"}, {**BACKUP, "tableGroup": "other"}]
    async with small_multiadmin(ok({"backups": others})) as server:
        assert await backups_at(client, server).list() == ()


async def test_expire_passes_options_and_returns_the_expired(client: MultiadminClient) -> None:
    async with small_multiadmin(ok({"expiredBackupIds": ["20260801-100000F"]})) as server:
        expired = await backups_at(client, server).expire(repo1_retention_full="2")
    assert expired == ("20260801-100000F",)
    assert server.requests == ["POST /api/v1/backups/expire"]
    assert server.bodies == [f'{{{SHARD},"overrides":{{"repo1-retention-full":"2"}}}}']


async def test_verify_returns_its_duration(client: MultiadminClient) -> None:
    async with small_multiadmin(ok({"duration": "1.5s", "rawOutput": "x" * 1000})) as server:
        assert (await backups_at(client, server).verify()).duration == "1.5s"
    assert (server.requests, server.bodies) == (["POST /api/v1/backups/verify"], [f"{{{SHARD}}}"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("pooler backup failed:\nconnection reset", "pooler backup failed: connection reset"),
        (
            "pooler backup failed: exit status 41\nOutput: P00 INFO: begin\nP00  ERROR: [041]: no space left\nmore",
            "ERROR: [041]: no space left",
        ),
        ("x" * 1000, "x" * 300),
        ("ERROR: [041]: \x1b[31mred", "ERROR: [041]:  [31mred"),
    ],
)
def test_error_of_a_job_is_the_line_of_pgbackrest(text: str, shown: str) -> None:
    assert backup_error(text) == shown
