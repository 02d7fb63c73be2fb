"""The fake repository: labels, aborted backups, expiry."""

import pytest

from steward.testkit.fake_data_plane.backups import repository as module
from steward.testkit.fake_data_plane.backups.repository import (
    FakeBackup,
    FinishedJob,
    Repository,
    RunningBackup,
)
from steward.testkit.fake_data_plane.faults import NO_FAULTS, DataPlaneFault, DataPlaneFaults
from steward.testkit.fake_data_plane.rule import ServerId

PG0, PG1 = ServerId("z1", "pg-0"), ServerId("z1", "pg-1")
NOON = 1_787_313_600.0  # 2026-08-21 12:00:00 UTC
DAY = 24 * 3600.0
FIRST = "20260821-120000F"


def first() -> Repository:
    return module.with_first_backup(Repository(), PG0, "data", NOON)


def running(backup_type: str = "incr", job: str = "job-1", start: float = NOON + 60) -> RunningBackup:
    return RunningBackup(job, backup_type, PG1, "uid-1", start)


def advanced(repository: Repository, now: float, faults: DataPlaneFaults = NO_FAULTS) -> Repository:
    return module.advance_backups(repository, faults, lambda server, pod: pod == "uid-1", now, 2.0)


def test_first_backup_is_full_and_from_the_primary() -> None:
    [backup] = first().backups
    assert (backup.label, backup.type, backup.server, backup.is_from_primary) == (FIRST, "full", "pg-0", True)


def test_backup_takes_its_time() -> None:
    started = module.start_backup(first(), running())
    assert advanced(started, NOON + 61) == started
    done = advanced(started, NOON + 62)
    assert done.running is None
    assert done.backups[-1] == FakeBackup(
        f"{FIRST}_20260821-120100I", "incr", "pg-1", "job-1", NOON + 60, NOON + 62
    )
    assert done.finished == {"job-1": FinishedJob(label=f"{FIRST}_20260821-120100I")}


def test_second_request_aborts_the_first() -> None:
    started = module.start_backup(module.start_backup(first(), running()), running(job="job-2"))
    assert started.finished["job-1"].error == module.ABORTED
    assert [each.job for each in advanced(started, NOON + 90).backups[1:]] == ["job-2"]


def test_backup_ends_with_the_pod_of_its_server() -> None:
    started = module.start_backup(first(), running()._replace(pod="uid-0"))
    assert advanced(started, NOON + 61).finished["job-1"].error == module.SERVER_ENDED


def test_restart_of_multiadmin_ends_backups_and_forgets_jobs() -> None:
    assert module.forget_jobs(module.start_backup(first(), running())) == first()


@pytest.mark.parametrize("fault", module.FAILURES)
def test_fault_fails_a_backup_with_the_line_of_pgbackrest(fault: DataPlaneFault) -> None:
    failed = advanced(module.start_backup(first(), running()), NOON + 90, frozenset({fault}))
    assert module.FAILURES[fault] in failed.finished["job-1"].error
    assert failed.backups == first().backups


def test_labels_never_go_back() -> None:
    assert module.new_label(first(), "full", NOON - 1000) == "20260821-120001F"


def test_incremental_without_a_full_backup_becomes_full() -> None:
    done = advanced(module.start_backup(Repository(), running()), NOON + 90)
    assert [(each.label, each.type) for each in done.backups] == [("20260821-120100F", "full")]


def four_days() -> Repository:
    """A full backup on each day, and an incremental one after it."""
    repository = Repository()
    for day in range(4):
        for kind, seconds in (("full", 0.0), ("incr", 3600.0)):
            at = NOON + day * DAY + seconds
            repository = advanced(module.start_backup(repository, running(kind, f"{day}{kind}", at)), at + 9)
    return repository


@pytest.mark.parametrize(("count", "kept"), [(1, "20260824"), (2, "20260823"), (9, "20260821")])
def test_expiry_by_count_keeps_full_backups_and_what_needs_them(count: int, kept: str) -> None:
    expired = module.expire(four_days(), count)
    assert expired.backups[0].label.startswith(kept)
    assert len(expired.backups) == 2 * min(count, 4)


@pytest.mark.parametrize(("days", "kept"), [(1, "20260823"), (2, "20260822"), (30, "20260821")])
def test_expiry_by_days_keeps_one_full_backup_that_is_older(days: int, kept: str) -> None:
    expired = module.expire_before(four_days(), NOON + 3 * DAY + 7200 - days * DAY)
    assert expired.backups[0].label.startswith(kept)
