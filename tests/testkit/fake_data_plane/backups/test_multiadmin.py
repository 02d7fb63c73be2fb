"""Backups over multiadmin's REST API: the answers of the real one."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from steward.testkit.fake_data_plane.backups.stored import ClusterRepositories, RepositoryStore
from steward.testkit.fake_data_plane.faults import DataPlaneFault
from steward.testkit.fake_data_plane.listener import Listener
from steward.testkit.fake_data_plane.multiadmin import Multiadmin
from tests.testkit.support.fake_multiadmin import FakeCluster, WallClock, get, post
from tests.testkit.support.fake_shard import FakeShard

SHARD = {"database": "postgres", "table_group": "default", "shard": "0-inf"}
QUERY = "?database=postgres&table_group=default&shard=0-inf"
FIRST = "20260821-120000F"


@pytest.fixture
def shard() -> FakeShard:
    found = FakeShard("a1", "b1", "c1")
    found.wait(30.0)
    return found


@pytest.fixture
def clock() -> WallClock:
    return WallClock()


@pytest.fixture
def multiadmin(shard: FakeShard, clock: WallClock, tmp_path: Path) -> Multiadmin:
    return Multiadmin(FakeCluster(shard), clock, ClusterRepositories(RepositoryStore(tmp_path), "ns/shop"))


@pytest.fixture
async def http(multiadmin: Multiadmin) -> AsyncIterator[aiohttp.ClientSession]:
    listener = Listener(multiadmin.serve)
    await listener.listen()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{listener.port}") as session:
        yield session
    await listener.close()


async def ids(http: aiohttp.ClientSession) -> list[str]:
    _, answer = await get(http, f"/api/v1/backups{QUERY}")
    return [each["backupId"] for each in answer.get("backups", [])]


async def started(http: aiohttp.ClientSession, backup_type: str = "incremental") -> str:
    status, answer = await post(http, "/api/v1/backups", {**SHARD, "type": backup_type})
    assert status == 200
    return str(answer["jobId"])


async def test_first_backup_is_there_after_the_first_primary(http: aiohttp.ClientSession) -> None:
    status, answer = await get(http, f"/api/v1/backups{QUERY}")
    assert status == 200
    [backup] = answer["backups"]
    assert backup == {
        "backupId": FIRST,
        "database": "postgres",
        "tableGroup": "default",
        "shard": "0-inf",
        "type": "full",
        "status": "BACKUP_STATUS_COMPLETE",
        "backupSizeBytes": "31847562",
        "multipoolerServiceId": "a1",
        "routingRole": "ROUTING_ROLE_PRIMARY",
        "startLsn": backup["startLsn"],
        "stopLsn": backup["stopLsn"],
        "pgVersion": "17.2",
        "startTimestamp": "2026-08-21T12:00:00Z",
        "stopTimestamp": "2026-08-21T12:00:00Z",
        "jobId": "20260821-120000.000000_multipooler-a-a1",
    }


async def test_job_runs_and_ends_in_a_backup_of_a_standby(
    http: aiohttp.ClientSession, clock: WallClock
) -> None:
    job = await started(http)
    assert job == "20260821-120000.000000_multipooler-b-b1"
    running = {"jobId": job, "jobType": "JOB_TYPE_BACKUP", "status": "JOB_STATUS_RUNNING"}
    assert await get(http, f"/api/v1/jobs/{job}") == (200, running)
    clock.time += 10
    label = f"{FIRST}_20260821-120001I"
    done = {**running, "status": "JOB_STATUS_COMPLETED", "backupId": label}
    assert await get(http, f"/api/v1/jobs/{job}") == (200, done)
    assert await ids(http) == [FIRST, label]


async def test_failed_job_has_the_error_of_pgbackrest(
    http: aiohttp.ClientSession, shard: FakeShard, clock: WallClock
) -> None:
    await ids(http)
    shard.faults = frozenset({DataPlaneFault.REPOSITORY_FULL})
    job = await started(http)
    clock.time += 10
    _, answer = await get(http, f"/api/v1/jobs/{job}")
    assert answer["status"] == "JOB_STATUS_FAILED"
    assert "No space left on device" in answer["errorMessage"]


async def test_restarted_multiadmin_finds_the_job_of_a_finished_backup_only(
    http: aiohttp.ClientSession, multiadmin: Multiadmin, clock: WallClock
) -> None:
    finished = await started(http)
    clock.time += 10
    lost = await started(http)
    multiadmin.backups.forget_jobs()
    assert (await get(http, f"/api/v1/jobs/{finished}"))[0] == 404
    status, answer = await get(http, f"/api/v1/jobs/{finished}{QUERY}")
    assert (status, answer["status"]) == (200, "JOB_STATUS_COMPLETED")
    status, answer = await get(http, f"/api/v1/jobs/{lost}{QUERY}")
    assert (status, answer["code"]) == (404, 5)
    clock.time += 10
    assert len(await ids(http)) == 2


async def test_without_a_standby_nothing_is_done(http: aiohttp.ClientSession, shard: FakeShard) -> None:
    shard.shut_down("b1")
    shard.shut_down("c1")
    status, answer = await post(http, "/api/v1/backups", {**SHARD, "type": "full"})
    assert (status, answer["code"]) == (400, 9)
    assert "serving follower pooler not found" in answer["message"]
    assert (await get(http, f"/api/v1/backups{QUERY}"))[0] == 404


async def test_unreachable_repository_is_an_error(http: aiohttp.ClientSession, shard: FakeShard) -> None:
    shard.faults = frozenset({DataPlaneFault.REPOSITORY_UNREACHABLE})
    status, answer = await get(http, f"/api/v1/backups{QUERY}")
    assert (status, answer["code"]) == (500, 13)


async def test_verify_and_expire(http: aiohttp.ClientSession, shard: FakeShard, clock: WallClock) -> None:
    await started(http, "full")
    clock.time += 10
    assert (await post(http, "/api/v1/backups/verify", SHARD))[0] == 200
    body: dict[str, Any] = {**SHARD, "overrides": {"repo1-retention-full": "1"}}
    assert await post(http, "/api/v1/backups/expire", body) == (200, {"expiredBackupIds": [FIRST]})
    shard.faults = frozenset({DataPlaneFault.DAMAGED_BACKUPS})
    assert (await post(http, "/api/v1/backups/verify", SHARD))[0] == 500


async def test_repository_outlives_its_cluster(
    http: aiohttp.ClientSession, shard: FakeShard, tmp_path: Path
) -> None:
    await ids(http)
    again = Multiadmin(
        FakeCluster(shard), WallClock(), ClusterRepositories(RepositoryStore(tmp_path), "ns/shop")
    )
    listener = Listener(again.serve)
    await listener.listen()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{listener.port}") as session:
        assert await ids(session) == [FIRST]
    await listener.close()
