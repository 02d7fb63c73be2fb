"""Schedules, retention, verification and the backup status of a shard, over the repository of the fake data plane."""

import pytest

from steward.multigres import reasons
from steward.multigres.api.backup import Backup, BackupRetention, BackupSchedule
from steward.multigres.api.scalars import UNSET
from steward.multigres.controllers.backups import archiver_states, repositories
from steward.multigres.controllers.backups.maintenance import MaintenanceRequests
from steward.multigres.controllers.backups.reconciler import BackupReconciler
from steward.postgres import archiver, repository_size
from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import PostgresFailure
from steward.testkit.fake_data_plane.faults import DataPlaneFault
from tests.multigres.support.simulated_backups import SHARD, SimulatedBackups

HOUR, DAY = 3600.0, 24 * 3600.0
# The clock begins at noon on a Friday.
NIGHTLY = BackupSchedule(full="0 2 * * SUN", incremental="0 2 * * *")


@pytest.fixture(autouse=True)
def few_reconciles(monkeypatch: pytest.MonkeyPatch) -> None:
    """At rest the repository is listed every ten minutes; days would take too many of them."""
    monkeypatch.setattr(repositories, "REST_SECONDS", 6 * HOUR)


def scheduled(**fields: object) -> SimulatedBackups:
    return SimulatedBackups(Backup(type="filesystem", **{"schedule": NIGHTLY, **fields}))  # type: ignore[arg-type]


async def test_schedule_makes_one_backup_each_time_and_the_full_one_serves_both_lines() -> None:
    simulated = scheduled()
    await simulated.run_for(3 * DAY)
    assert [each.type for each in simulated.repository] == ["full", "incr", "full", "incr"]
    assert simulated.scheduled() == [
        ("incremental", "Completed"),
        ("full", "Completed"),
        ("incremental", "Completed"),
    ]


async def test_status_names_the_last_and_the_next_backup() -> None:
    simulated = scheduled()
    await simulated.run_for(15 * HOUR)
    status = simulated.shard_backup
    assert (status.last_backup_type, status.last_backup_at) == ("incremental", "2026-08-22T02:00:03Z")
    assert (status.next_backup_at, status.backups) == ("2026-08-23T02:00:00Z", 2)
    assert simulated.health == ("True", reasons.BACKED_UP)


async def test_nothing_is_written_between_two_backups() -> None:
    simulated = scheduled(stale_after="26h", verify="0 5 * * *")
    await simulated.run_for(18 * HOUR)
    writes = simulated.writes, simulated.status_writes, simulated.cluster_writes
    await simulated.run_for(7 * HOUR)
    assert (simulated.writes, simulated.status_writes, simulated.cluster_writes) == writes


async def test_a_backup_costs_one_write_of_the_shard_and_one_of_the_cluster() -> None:
    simulated = scheduled()
    await simulated.run_for(13 * HOUR)
    shard, cluster = simulated.status_writes, simulated.cluster_writes
    await simulated.run_for(2 * HOUR)
    assert simulated.scheduled() == [("incremental", "Completed")]
    assert (simulated.status_writes - shard, simulated.cluster_writes - cluster) == (1, 1)


async def test_status_of_shard_and_cluster_has_the_size_of_the_data() -> None:
    simulated = scheduled()
    await simulated.run_for(15 * HOUR)
    assert simulated.shard_backup.last_backup_bytes == 31847562
    assert simulated.cluster_fields["backup"] == {
        "lastBackupAt": "2026-08-22T02:00:03Z",
        "nextBackupAt": "2026-08-23T02:00:00Z",
        "lastBackupBytes": 31847562,
    }


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """What the primary answers, one after the other: None if it does not. The last answer is repeated."""
    answers: list[int | None] = []

    async def measure(primary: PostgresAddress, password: str) -> int:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if answer is None:
            raise PostgresFailure("no answer")
        return answer

    monkeypatch.setattr(repository_size, "repository_bytes", measure)
    return answers


async def test_status_of_shard_and_cluster_has_the_size_of_the_repository_of_each_change(
    sizes: list[int | None],
) -> None:
    simulated = scheduled()
    simulated.set_primary("a1")
    sizes += [100, 130, 999]
    await simulated.run_for(HOUR)
    assert simulated.shard_backup.repository_bytes == 100
    await simulated.run_for(14 * HOUR)
    assert simulated.shard_backup.repository_bytes == 130
    assert simulated.cluster_fields["backup"]["repositoryBytes"] == 130
    simulated._start_process()
    await simulated.run_for(8 * HOUR)
    assert simulated.shard_backup.repository_bytes == 130, "asked after a restart, or without a change"


async def test_a_size_that_cannot_be_read_is_unknown_and_is_read_later(sizes: list[int | None]) -> None:
    simulated = scheduled()
    simulated.set_primary("a1")
    sizes += [None, 100]
    await simulated.run_for(60)
    assert simulated.shard_backup.repository_bytes is UNSET
    await simulated.run_for(7 * HOUR)
    assert simulated.shard_backup.repository_bytes == 100


async def test_a_repository_with_backups_and_without_bytes_has_an_unknown_size(
    sizes: list[int | None],
) -> None:
    simulated = scheduled()
    simulated.set_primary("a1")
    sizes.append(0)
    await simulated.run_for(HOUR)
    assert simulated.shard_backup.repository_bytes is UNSET


async def test_a_primary_that_cannot_archive_is_reported_until_it_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing = ["000000010000000000000005"]

    async def failing_wal(primary: PostgresAddress, password: str) -> str:
        if not failing:
            raise PostgresFailure("no answer")
        return failing[0]

    monkeypatch.setattr(archiver, "failing_wal", failing_wal)
    monkeypatch.setattr(archiver_states, "REST_SECONDS", 6 * HOUR)
    simulated = SimulatedBackups(Backup(type="filesystem"))
    simulated.set_primary("a1")
    await simulated.run_for(60)
    assert simulated.health == ("False", reasons.ARCHIVING_FAILS)
    writes = simulated.status_writes
    await simulated.run_for(13 * HOUR)
    assert simulated.status_writes == writes, "a status is written while nothing changes"
    failing[0] = ""
    await simulated.run_for(13 * HOUR)
    assert simulated.health == ("True", reasons.BACKED_UP)
    failing.clear()
    await simulated.run_for(13 * HOUR)
    assert simulated.health == ("True", reasons.BACKED_UP), "a primary that does not answer"


async def test_no_server_is_asked_for_the_size_without_a_primary(sizes: list[int | None]) -> None:
    simulated = scheduled()
    sizes.append(100)
    await simulated.run_for(HOUR)
    assert simulated.shard_backup.repository_bytes is UNSET


async def test_a_listing_without_backups_deletes_nothing_and_is_no_empty_repository() -> None:
    """A pooler reports no backups if pgBackRest was ended before it had an answer."""
    simulated = scheduled()
    await simulated.run_for(15 * HOUR)
    read, backups = simulated.multiadmin_backups.list, simulated.scheduled()
    simulated.multiadmin_backups.list = lambda call: {}  # type: ignore[method-assign]
    await simulated.run_for(7 * HOUR)
    assert simulated.scheduled() == backups
    assert simulated.health == ("False", reasons.REPOSITORY_UNREACHABLE)
    assert simulated.shard_backup.backups == 2
    simulated.multiadmin_backups.list = read  # type: ignore[method-assign]
    await simulated.run_for(7 * HOUR)
    assert simulated.health == ("True", reasons.BACKED_UP)


async def test_missed_times_are_made_up_for_once() -> None:
    simulated = scheduled()
    await simulated.reconcile()
    simulated.clock.time += 5 * DAY
    await simulated.run_for(60)
    assert simulated.scheduled() == [("full", "Completed")]


async def test_time_before_the_shard_is_not_made_up_for() -> None:
    simulated = scheduled()
    await simulated.run_for(13 * HOUR)
    assert simulated.scheduled() == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 6))
async def test_crash_at_any_effect_leaves_one_scheduled_backup(at: int, after: bool) -> None:
    simulated = scheduled()
    simulated.crash(at, after)
    await simulated.run_for(15 * HOUR)
    assert simulated.scheduled() == [("incremental", "Completed")]
    assert len(simulated.repository) == 2
    assert simulated.starts == 1


async def test_failed_backup_is_shown_and_not_repeated_before_its_next_time() -> None:
    simulated = scheduled()
    await simulated.reconcile()
    simulated.data_plane_shard.faults = frozenset({DataPlaneFault.REPOSITORY_FULL})
    await simulated.run_for(15 * HOUR)
    assert simulated.scheduled() == [("incremental", "Failed")]
    assert simulated.health == ("False", reasons.BACKUPS_FAILING)
    simulated.data_plane_shard.faults = frozenset()
    await simulated.run_for(DAY)
    assert simulated.health == ("True", reasons.BACKED_UP)


async def test_backup_by_hand_serves_the_schedule() -> None:
    simulated = scheduled()
    await simulated.reconcile()
    simulated.clock.time += 14 * HOUR + 1
    simulated.create("by-hand", type="full")
    await simulated.run_for(60)
    assert simulated.scheduled() == [("full", "Completed")]


@pytest.mark.parametrize(
    ("retention", "left"),
    [(BackupRetention(full_count=2), 2), (BackupRetention(days=2), 3), (None, 5)],
    ids=["count", "days", "none"],
)
async def test_retention_expires_backups_and_their_objects(
    retention: BackupRetention | None, left: int
) -> None:
    schedule = BackupSchedule(full="0 2 * * *")
    fields = {} if retention is None else {"retention": retention}
    simulated = scheduled(schedule=schedule, **fields)
    await simulated.run_for(4 * DAY)
    assert len(simulated.repository) == left
    # The first backup has no MultigresBackup.
    kept = {each.label for each in simulated.repository}
    assert {view.status.backup_id for view in simulated.backups.values()} == kept - {"20260821-120000F"}
    assert (reasons.BACKUPS_EXPIRED in simulated.events) is (retention is not None)


async def test_objects_stay_while_the_repository_cannot_be_read() -> None:
    simulated = scheduled(schedule=BackupSchedule(full="0 2 * * *"), retention=BackupRetention(full_count=1))
    await simulated.run_for(2 * DAY)
    before = dict(simulated.backups)
    simulated.data_plane_shard.faults = frozenset({DataPlaneFault.REPOSITORY_UNREACHABLE})
    await simulated.run_for(10 * HOUR)
    assert dict(simulated.backups) == before
    assert simulated.health == ("False", reasons.REPOSITORY_UNREACHABLE)
    assert simulated.shard_backup.last_backup


async def test_unreachable_multiadmin_is_unknown_and_not_unhealthy() -> None:
    simulated = scheduled()
    await simulated.reconcile()
    simulated.is_multiadmin_away = True
    simulated.clock.time += 7 * HOUR
    await simulated.reconcile()
    assert simulated.health == ("Unknown", reasons.STATE_UNKNOWN)


async def test_backup_becomes_stale_at_its_time() -> None:
    simulated = SimulatedBackups(Backup(type="filesystem", stale_after="26h"))
    await simulated.run_for(26 * HOUR - 1)
    assert simulated.health == ("True", reasons.BACKED_UP)
    await simulated.run_for(2)
    assert simulated.health == ("False", reasons.BACKUP_STALE)


async def test_empty_repository_is_reported() -> None:
    simulated = SimulatedBackups()
    simulated.data_plane_shard.faults = frozenset({DataPlaneFault.BACKUP_FAILS})
    await simulated.reconcile()
    assert simulated.health == ("False", reasons.NEVER_BACKED_UP)
    assert simulated.shard_backup.backups == 0
    assert simulated.cluster_condition.reason == reasons.NEVER_BACKED_UP


async def test_verification_is_made_at_its_time_once() -> None:
    simulated = scheduled(verify="0 5 * * *")
    await simulated.run_for(18 * HOUR)
    assert simulated.shard_backup.verified_at == "2026-08-22T05:00:00Z"
    simulated.reconciler.repositories.requests.verifications.clear()
    await simulated.run_for(5 * HOUR)
    assert simulated.shard_backup.verified_at == "2026-08-22T05:00:00Z"


async def test_damaged_repository_is_reported_until_a_verification_finds_nothing() -> None:
    simulated = scheduled(verify="0 5 * * *")
    simulated.data_plane_shard.faults = frozenset({DataPlaneFault.DAMAGED_BACKUPS})
    await simulated.run_for(18 * HOUR)
    assert simulated.health == ("False", reasons.REPOSITORY_DAMAGED)
    assert "found problems" in str(simulated.shard_backup.verification_error)
    simulated.data_plane_shard.faults = frozenset()
    await simulated.run_for(DAY)
    assert simulated.health == ("True", reasons.BACKED_UP)


async def test_shard_that_does_not_serve_is_left_alone() -> None:
    simulated = scheduled()
    view = simulated.shards[SHARD]
    simulated.shards[SHARD] = type(view)(view.metadata, view.spec)
    assert await simulated.reconcile() is None
    assert simulated.lists == 0


def restored(age: float) -> SimulatedBackups:
    """A shard of a cluster with `restore`; the first backup of its repository is so many seconds older than it."""
    simulated = SimulatedBackups(Backup(type="filesystem"))
    assert simulated.repository
    simulated.clock.time += age
    simulated.create_again(restore={"from": {"filesystem": {}}})
    return simulated


async def test_restored_shard_names_the_backup_that_it_was_restored_from() -> None:
    simulated = restored(age=HOUR)
    await simulated.reconcile()
    assert simulated.shard_backup.restored_from == simulated.repository[0].label
    assert [each.reason for each in simulated.cluster_conditions][1:] == [reasons.RESTORED]


async def test_restored_shard_without_a_backup_is_reported_as_empty() -> None:
    simulated = restored(age=-HOUR)
    await simulated.reconcile()
    assert simulated.shard_backup.restored_from == ""
    assert [each.reason for each in simulated.cluster_conditions][1:] == [reasons.REPOSITORY_EMPTY]


async def test_source_of_a_restored_shard_stays_known_when_it_expires() -> None:
    simulated = restored(age=HOUR)
    await simulated.reconcile()
    source = simulated.shard_backup.restored_from
    simulated.set_retention(BackupRetention(full_count=1))
    simulated.create("full")
    await simulated.run(lambda: simulated.status("full").phase == "Completed")
    await simulated.run_for(HOUR)
    assert source not in [each.label for each in simulated.repository]
    assert simulated.shard_backup.restored_from == source


async def test_cluster_without_restore_says_nothing_about_it() -> None:
    simulated = scheduled()
    await simulated.reconcile()
    assert [each.type for each in simulated.cluster_conditions] == ["BackupHealthy"]


@pytest.mark.parametrize(
    "seconds", [-3 * HOUR, -30 * DAY, 30 * DAY], ids=["hours back", "days back", "ahead"]
)
async def test_clock_that_jumps_makes_at_most_one_backup_more(seconds: float) -> None:
    simulated = scheduled()
    await simulated.run_for(DAY)
    before = len(simulated.repository)
    simulated.clock.time += seconds
    await simulated.run_for(HOUR)
    assert len(simulated.repository) - before <= 1
    assert simulated.health[0] == "True"


async def test_clock_that_was_ahead_does_not_end_the_schedule() -> None:
    simulated = scheduled()
    simulated.clock.time += 30 * DAY
    await simulated.run_for(HOUR)
    simulated.clock.time -= 30 * DAY
    made = len(simulated.repository)
    await simulated.run_for(3 * DAY)
    assert len(simulated.repository) == made + 3


async def test_wrong_credentials_are_an_unreachable_repository_and_recover() -> None:
    simulated = scheduled()
    await simulated.reconcile()
    simulated.data_plane_shard.faults = frozenset({DataPlaneFault.WRONG_CREDENTIALS})
    await simulated.run_for(DAY)
    assert simulated.health == ("False", reasons.REPOSITORY_UNREACHABLE)
    assert simulated.scheduled() == []
    simulated.data_plane_shard.faults = frozenset()
    await simulated.run_for(HOUR)
    assert (simulated.health, len(simulated.scheduled())) == (("True", reasons.BACKED_UP), 1)


async def test_two_processes_make_one_scheduled_backup() -> None:
    """As after a change of the leader, when the old one has not noticed yet: both act on what they see."""
    simulated = scheduled()
    other = BackupReconciler(simulated.context, MaintenanceRequests())
    await simulated.run_for(13 * HOUR)
    for _ in range(200):
        for reconciler in (simulated.reconciler, other):
            await reconciler.reconcile(SHARD)
            simulated.clock.time += 30.0
    assert simulated.scheduled() == [("incremental", "Completed")]
    assert len(simulated.repository) == 2
    assert simulated.starts == 1


async def test_a_backup_is_known_before_the_status_says_that_the_shard_serves() -> None:
    simulated = scheduled()
    simulated.set_availability("False")
    simulated.context.servers.record_writable(SHARD, "pg-0")
    assert await simulated.reconcile() is None
    assert simulated.health == ("True", reasons.BACKED_UP)
    assert simulated.cluster_writes == 1
    assert simulated.scheduled() == []


async def test_the_repository_of_a_shard_that_takes_no_writes_is_not_read() -> None:
    simulated = scheduled()
    simulated.set_availability("False")
    assert await simulated.reconcile() is None
    assert simulated.lists == 0


async def test_that_there_is_no_backup_is_not_reported_before_the_shard_serves() -> None:
    simulated = scheduled()
    simulated.set_availability("False")
    simulated.context.servers.record_writable(SHARD, "pg-0")
    read, simulated.multiadmin_backups.list = simulated.multiadmin_backups.list, lambda call: {}  # type: ignore[method-assign]
    assert await simulated.reconcile() == repositories.EARLY_SECONDS
    assert simulated.shard_status == ()
    simulated.multiadmin_backups.list = read  # type: ignore[method-assign]
    await simulated.reconcile()
    assert simulated.health == ("True", reasons.BACKED_UP)
