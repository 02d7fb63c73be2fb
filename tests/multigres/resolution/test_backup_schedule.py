"""Lines of backup schedules: times, daylight saving, problems and inheritance."""

from datetime import UTC, datetime

import pytest

from steward.multigres.api.backup import Backup, BackupRetention, BackupSchedule, S3Backup
from steward.multigres.resolution.backup_schedule import CronLine, schedule_problems
from steward.multigres.resolution.inheritance import inherited_backup

S3 = S3Backup(bucket="b", region="r")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("cron", "zone", "now", "last", "following"),
    [
        ("0 2 * * *", "UTC", "2026-08-21T02:00:00", "2026-08-21T02:00:00", "2026-08-22T02:00:00"),
        ("0 2 * * *", "UTC", "2026-08-21T01:59:59", "2026-08-20T02:00:00", "2026-08-21T02:00:00"),
        ("0 2 * * *", "Europe/Zurich", "2026-08-21T12:00:00", "2026-08-21T00:00:00", "2026-08-22T00:00:00"),
        ("0 2 * * *", "Europe/Zurich", "2026-12-21T12:00:00", "2026-12-21T01:00:00", "2026-12-22T01:00:00"),
        # 02:30 does not exist on one day of the year, and exists twice on another: one backup on each.
        ("30 2 * * *", "Europe/Zurich", "2026-03-29T02:00:00", "2026-03-29T01:00:00", "2026-03-30T00:30:00"),
        ("30 2 * * *", "Europe/Zurich", "2026-10-25T01:45:00", "2026-10-25T00:30:00", "2026-10-26T01:30:00"),
        ("0 2 29 2 *", "UTC", "2026-08-21T12:00:00", "2024-02-29T02:00:00", "2028-02-29T02:00:00"),
    ],
)
def test_times_around_now(cron: str, zone: str, now: str, last: str, following: str) -> None:
    line = CronLine(cron, zone)
    assert (line.last_before(at(now)), line.next_after(at(now))) == (at(last), at(following))


@pytest.mark.parametrize(
    ("backup", "field", "words"),
    [
        (Backup(type="s3", s3=S3, schedule=BackupSchedule(full="0 2 * *")), "schedule.full", "five fields"),
        (
            Backup(type="s3", s3=S3, schedule=BackupSchedule(incremental="0 25 * * *")),
            "schedule.incremental",
            "0 25",
        ),
        (
            Backup(type="s3", s3=S3, schedule=BackupSchedule(time_zone="Mars")),
            "schedule.timeZone",
            "Europe/Zurich",
        ),
        (Backup(type="s3", s3=S3, verify="0 0 1 * * *"), "verify", "Wrong number of fields"),
        (Backup(type="s3", s3=S3, stale_after="0s"), "staleAfter", "such as 26h"),
    ],
)
def test_what_cannot_be_read_is_named(backup: Backup, field: str, words: str) -> None:
    [(named, message)] = schedule_problems(backup)
    assert named == field
    assert words in message


def test_valid_schedule_has_no_problem() -> None:
    schedule = BackupSchedule(full="0 2 * * SUN", differential="0 2 * * MON-SAT", time_zone="Europe/Zurich")
    assert list(schedule_problems(Backup(type="s3", s3=S3, schedule=schedule, stale_after="26h"))) == []


def test_schedule_is_inherited_field_by_field_and_also_by_another_repository() -> None:
    schedule = BackupSchedule(full="0 2 * * SUN", time_zone="Europe/Zurich")
    above = Backup(
        type="filesystem", schedule=schedule, retention=BackupRetention(days=30), stale_after="26h"
    )
    nearer = Backup(type="s3", s3=S3, schedule=BackupSchedule(incremental="0 * * * *"))
    resolved = inherited_backup(nearer, above)
    assert resolved.schedule == BackupSchedule(
        full="0 2 * * SUN", incremental="0 * * * *", time_zone="Europe/Zurich"
    )
    assert (resolved.type, resolved.s3, resolved.stale_after) == ("s3", S3, "26h")


def test_retention_replaces_the_one_above_as_a_whole() -> None:
    above = Backup(type="filesystem", retention=BackupRetention(days=30))
    nearer = Backup(type="filesystem", retention=BackupRetention(full_count=2))
    assert inherited_backup(nearer, above).retention == BackupRetention(full_count=2)
