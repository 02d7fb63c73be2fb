"""Shards of a cluster begin one after the other, and an object's name follows from its time."""

import pytest

from steward.multigres.api.backup import Backup, BackupSchedule
from steward.multigres.backups.repository import RepositoryListing
from steward.multigres.backups.schedule import ScheduledShard, due_backup, next_time, start_delay
from steward.multigres.names import ShardPath

HOURLY = Backup(type="filesystem", schedule=BackupSchedule(incremental="0 * * * *"))
NOON = 1_787_313_600.0  # 2026-08-21 12:00:00 UTC
PATH = ShardPath("shop", "postgres", "default", "0-inf")
SHARD = ScheduledShard(PATH, "ns", created_at=0.0, delay=30.0)


@pytest.mark.parametrize("count", [1, 2, 32, 600, 2000])
def test_no_two_shards_begin_at_the_same_time_and_all_within_the_spread(count: int) -> None:
    names = [f"shard-{number}" for number in range(count)]
    delays = {start_delay(name, names) for name in names}
    assert len(delays) == count
    assert max(delays) < 600


def test_shard_begins_after_its_delay() -> None:
    listing = RepositoryListing()
    names = [
        due.name if (due := due_backup(SHARD, HOURLY, listing, (), NOON + seconds)) else ""
        for seconds in (0, 29, 30, 3629, 3630)
    ]
    assert [name.split("-")[-2] for name in names] == [
        "202608211100",
        "202608211100",
        "202608211200",
        "202608211200",
        "202608211300",
    ]
    assert next_time(SHARD, HOURLY, NOON) == NOON + 30


def test_object_that_exists_is_not_made_again() -> None:
    due = due_backup(SHARD, HOURLY, RepositoryListing(), (), NOON + 60)
    assert due is not None
    assert due_backup(SHARD, HOURLY, RepositoryListing(), {due.name}, NOON + 60) is None


def test_without_a_schedule_nothing_is_due() -> None:
    assert due_backup(SHARD, Backup(type="filesystem"), RepositoryListing(), (), NOON) is None
    assert next_time(SHARD, Backup(type="filesystem"), NOON) is None
