"""The backups controller makes each MultigresBackup once, whatever happens in between."""

import msgspec
import pytest

from steward.kube.objects.kinds import Key
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import names, reasons
from steward.multigres.api.compute import Pool
from steward.multigres.api.multigres_backup import MultigresBackupStatus
from steward.multigres.api.unset import or_default
from steward.multigres.names import ShardPath
from steward.multigres.objects.versions import NEWEST
from steward.testkit.fake_data_plane.backups.repository import abort_backup
from steward.testkit.fake_data_plane.faults import DataPlaneFault
from tests.multigres.support.simulated_backups import DATA_PLANE_SHARD, SHARD, Crashed, SimulatedBackups

FIRST = 1
"""The backup that the data plane made by itself."""


@pytest.fixture
def simulated() -> SimulatedBackups:
    return SimulatedBackups()


def ready(status: MultigresBackupStatus) -> tuple[str, str]:
    [found] = [each for each in or_default(status.conditions, []) if each.type == "Ready"]
    return found.status, found.reason


async def test_backup_is_made_and_described(simulated: SimulatedBackups) -> None:
    simulated.create(type="incremental")
    await simulated.run(lambda: simulated.status().phase == "Completed")
    status = simulated.status()
    assert status.backup_id == "20260821-120000F_20260821-120001I"
    assert (status.type, status.server, status.size_bytes) == ("incremental", "b1", 31847562)
    assert (status.started_at, status.stopped_at) == ("2026-08-21T12:00:00Z", "2026-08-21T12:00:02Z")
    assert all((status.start_lsn, status.stop_lsn, status.job))
    assert ready(status) == ("True", reasons.BACKUP_COMPLETED)
    assert simulated.events == [reasons.BACKUP_COMPLETED]
    assert simulated.starts == 1


async def test_intent_is_written_before_the_data_plane_is_asked(simulated: SimulatedBackups) -> None:
    simulated.create()
    simulated.crash(at=1, after=True)
    with pytest.raises(Crashed):
        await simulated.reconcile()
    status = simulated.status()
    assert (status.phase, status.previous_backup) == ("Requested", "20260821-120000F")
    assert simulated.starts == 0


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 5))
async def test_crash_at_any_effect_leaves_one_backup(
    simulated: SimulatedBackups, at: int, after: bool
) -> None:
    simulated.create()
    simulated.crash(at, after)
    await simulated.run(lambda: simulated.status().phase == "Completed")
    assert len(simulated.repository) == FIRST + 1
    assert simulated.repository[-1].label == simulated.status().backup_id
    # The request that was answered to nobody: its backup is found in the repository.
    assert simulated.starts == 1


async def test_lost_request_is_sent_again_after_a_while(simulated: SimulatedBackups) -> None:
    simulated.create()
    simulated.crash(at=2, after=False)
    await simulated.run(lambda: simulated.status().phase == "Completed")
    assert simulated.status().attempts == 2
    requested = from_timestamp(str(simulated.status().requested_at))
    assert 60 <= requested - 1_787_313_600 < 90


async def test_clock_that_goes_back_delays_nothing(simulated: SimulatedBackups) -> None:
    simulated.create()
    simulated.crash(at=2, after=False)
    with pytest.raises(Crashed):
        await simulated.reconcile()
    simulated.clock.time -= 7200
    await simulated.reconcile()
    assert (simulated.status().phase, simulated.status().attempts) == ("Running", 2)


async def test_status_that_cannot_be_written_after_the_request_does_not_lose_the_job(
    simulated: SimulatedBackups,
) -> None:
    simulated.create()
    simulated.crash(at=3, after=False)
    with pytest.raises(Crashed):
        await simulated.reconcile()
    await simulated.reconcile()  # the same process
    assert (simulated.status().phase, simulated.starts) == ("Running", 1)


async def test_backups_of_one_shard_are_made_one_after_the_other(simulated: SimulatedBackups) -> None:
    for name in ("one", "two"):
        simulated.create(name)
    await simulated.reconcile()
    assert simulated.status("two").message == "MultigresBackup one of the same shard is made first"
    await simulated.run(lambda: simulated.status("two").phase == "Completed")
    assert simulated.status("one").backup_id != simulated.status("two").backup_id
    assert len(simulated.repository) == FIRST + 2


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (DataPlaneFault.REPOSITORY_FULL, "No space left on device"),
        (DataPlaneFault.ARCHIVE_FAILS, "was not archived"),
        (DataPlaneFault.BACKUP_FAILS, "unable to open missing file"),
    ],
)
async def test_failed_backup_says_why(simulated: SimulatedBackups, fault: DataPlaneFault, words: str) -> None:
    assert len(simulated.repository) == FIRST
    simulated.data_plane_shard.faults = frozenset({fault})
    simulated.create()
    await simulated.run(lambda: simulated.status().phase == "Failed")
    assert words in str(simulated.status().error)
    assert ready(simulated.status()) == ("False", reasons.BACKUP_FAILED)
    assert simulated.events == [reasons.BACKUP_FAILED]
    await simulated.reconcile()
    assert simulated.starts == 1


async def test_backup_waits_for_a_repository_and_a_multiadmin(simulated: SimulatedBackups) -> None:
    simulated.create()
    simulated.data_plane_shard.faults = frozenset({DataPlaneFault.REPOSITORY_UNREACHABLE})
    assert await simulated.reconcile() == 15
    assert simulated.status().phase == "Pending"
    assert "the repository cannot be read" in str(simulated.status().message)
    simulated.data_plane_shard.faults = frozenset()
    simulated.is_multiadmin_away = True
    await simulated.reconcile()
    assert "it accepts no connection" in str(simulated.status().message)
    simulated.is_multiadmin_away = False
    await simulated.run(lambda: simulated.status().phase == "Completed")


async def test_waiting_writes_nothing(simulated: SimulatedBackups) -> None:
    simulated.create()
    simulated.is_multiadmin_away = True
    await simulated.reconcile()
    before = simulated.writes
    for _ in range(5):
        await simulated.reconcile()
    assert simulated.writes == before


async def test_shard_without_a_standby_is_waited_for(simulated: SimulatedBackups) -> None:
    simulated.create()
    for name in ("b1", "c1"):
        simulated.data_plane_shard.shut_down(name)
    await simulated.reconcile()
    assert (simulated.status().phase, simulated.starts) == ("Pending", 0)
    assert "serving follower pooler not found" in str(simulated.status().message)


async def test_restart_of_multiadmin_after_the_backup_is_no_failure(simulated: SimulatedBackups) -> None:
    simulated.create()
    await simulated.reconcile()
    simulated.clock.time += 10
    simulated.multiadmin_backups.forget_jobs()
    await simulated.reconcile()
    assert simulated.status().phase == "Completed"


async def test_backup_that_a_restart_of_multiadmin_ended_fails_when_it_can_no_longer_appear(
    simulated: SimulatedBackups,
) -> None:
    simulated.create()
    await simulated.reconcile()
    simulated.multiadmin_backups.forget_jobs()
    await simulated.reconcile()
    assert simulated.status().phase == "Running"
    assert "by 2026-08-21T12:45:00Z" in str(simulated.status().message)
    await simulated.run(lambda: simulated.status().phase == "Failed")
    assert simulated.clock.time >= 1_787_313_600 + 45 * 60


async def test_killed_server_fails_the_backup(simulated: SimulatedBackups) -> None:
    simulated.create()
    await simulated.reconcile()
    simulated.data_plane_shard.start("b1")
    await simulated.run(lambda: simulated.status().phase == "Failed")
    assert "transport is closing" in str(simulated.status().error)


async def test_connection_to_a_replaced_pod_is_no_failure(simulated: SimulatedBackups) -> None:
    simulated.create()
    await simulated.reconcile()
    repository = simulated.multiadmin_backups._repositories.get(DATA_PLANE_SHARD)
    aborted = abort_backup(repository, "pooler backup failed: connect: no route to host")
    simulated.multiadmin_backups._repositories.replace(DATA_PLANE_SHARD, aborted)
    assert await simulated.reconcile() == 5
    assert simulated.status().phase == "Pending"
    await simulated.run(lambda: simulated.status().phase == "Completed")
    assert simulated.status().attempts == 2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"cluster": "other"},
            "MultigresCluster other does not exist; create it, or delete this MultigresBackup",
        ),
        (
            {"shard": "80-inf"},
            "shard postgres/default/80-inf of MultigresCluster shop does not exist; create it,"
            " or delete this MultigresBackup",
        ),
    ],
)
async def test_missing_cluster_or_shard_is_named(
    simulated: SimulatedBackups, spec: dict[str, str], message: str
) -> None:
    simulated.create(**spec)
    path = ShardPath(spec.get("cluster", "shop"), "postgres", "default", spec.get("shard", "0-inf"))
    await simulated.reconcile(Key("ns", names.shard(path)))
    assert (simulated.status().phase, simulated.status().message) == ("Pending", message)


async def test_backup_of_a_deleted_shard_fails(simulated: SimulatedBackups) -> None:
    simulated.create()
    await simulated.reconcile()
    del simulated.shards[SHARD]
    await simulated.reconcile()
    assert simulated.status().phase == "Failed"
    assert "was deleted before the backup was complete" in str(simulated.status().error)


async def test_object_that_was_deleted_meanwhile_is_not_backed_up(simulated: SimulatedBackups) -> None:
    simulated.create()
    [backup] = simulated.backups.values()
    simulated.backups.by_index = lambda name, value: [backup]  # type: ignore[method-assign]
    simulated.backups.clear()
    await simulated.reconcile()
    assert simulated.starts == 0


@pytest.mark.parametrize("cells", [("z1",), ("z1", "z2")])
async def test_repository_that_a_pod_serves_is_backed_up_from_the_primary(cells: tuple[str, ...]) -> None:
    """A standby cannot: pgBackRest would need the primary and the repository from two other hosts."""
    simulated = SimulatedBackups()
    shard, poolers = simulated.shards[SHARD], simulated.data_plane_shard.poolers
    pools = {"main": Pool(cells=list(cells))}
    spec = msgspec.structs.replace(shard.spec, pools=pools, objects_version=NEWEST)
    simulated.shards[SHARD] = msgspec.structs.replace(shard, spec=spec)
    for each in poolers:
        poolers[each] = poolers[each]._replace(repository="host h")
    simulated.create()
    await simulated.run(lambda: simulated.status().phase in ("Completed", "Failed"))
    assert simulated.status().phase == "Completed", simulated.status().error
    assert simulated.status().server == "a1"
