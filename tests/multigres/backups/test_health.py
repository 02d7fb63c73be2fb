"""Which condition follows from a repository, the last backup and the last verification."""

import msgspec
import pytest

from steward.multiadmin.backup_answers import RepositoryBackup
from steward.multigres import reasons
from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster_status import ClusterBackupStatus
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.shard import ShardBackupStatus
from steward.multigres.backups.health import (
    BackupFacts,
    BackupHealth,
    Verification,
    assess_backups,
    cluster_backups,
    cluster_health,
)
from steward.multigres.backups.repository import RepositoryListing

NOON = 1_787_313_600.0  # 2026-08-21 12:00:00 UTC
DAILY = Backup(type="filesystem", stale_after="26h")
COMPLETE = RepositoryBackup(
    backup_id="20260821-115955F",
    type="full",
    status="BACKUP_STATUS_COMPLETE",
    stop_timestamp="2026-08-21T12:00:00Z",
)
ONE = RepositoryListing((COMPLETE,))
INCOMPLETE = RepositoryListing(
    (RepositoryBackup(backup_id="20260821-115955F", status="BACKUP_STATUS_INCOMPLETE"),)
)
UNREACHABLE = RepositoryListing(error="no route", is_unreachable=True)
DAMAGED = Verification("2026-08-21T12:00:00Z", "checksum")


@pytest.mark.parametrize(
    ("facts", "hours", "expected"),
    [
        (BackupFacts(DAILY, ONE), 25, ("True", reasons.BACKED_UP)),
        (BackupFacts(DAILY, ONE), 26, ("False", reasons.BACKUP_STALE)),
        (BackupFacts(Backup(type="filesystem"), ONE), 9999, ("True", reasons.BACKED_UP)),
        (BackupFacts(DAILY, RepositoryListing()), 0, ("False", reasons.NEVER_BACKED_UP)),
        (
            BackupFacts(DAILY, RepositoryListing(), known_backups=3),
            0,
            ("False", reasons.REPOSITORY_UNREACHABLE),
        ),
        (BackupFacts(DAILY, INCOMPLETE), 0, ("False", reasons.NEVER_BACKED_UP)),
        (BackupFacts(DAILY, ONE, failure="b: full"), 0, ("False", reasons.BACKUPS_FAILING)),
        (BackupFacts(DAILY, ONE, failure="b: ERROR: [082]: WAL"), 0, ("False", reasons.ARCHIVING_FAILS)),
        (BackupFacts(DAILY, ONE, failing_wal="0000000100000005"), 0, ("False", reasons.ARCHIVING_FAILS)),
        (BackupFacts(DAILY, ONE, verification=DAMAGED), 0, ("False", reasons.REPOSITORY_DAMAGED)),
        (BackupFacts(DAILY, UNREACHABLE), 0, ("False", reasons.REPOSITORY_UNREACHABLE)),
        (BackupFacts(DAILY, RepositoryListing(error="away")), 0, ("Unknown", reasons.STATE_UNKNOWN)),
    ],
)
def test_condition(facts: BackupFacts, hours: int, expected: tuple[str, str]) -> None:
    health = assess_backups(facts, NOON + hours * 3600)
    assert (health.status, health.reason) == expected


def test_message_does_not_change_with_time() -> None:
    messages = {assess_backups(BackupFacts(DAILY, ONE), NOON + hours * 3600).message for hours in range(26)}
    assert messages == {"the newest backup is 20260821-115955F of 2026-08-21T12:00:00Z"}


def test_cluster_names_the_first_shard_that_is_not_healthy() -> None:
    well = BackupHealth("True", reasons.BACKED_UP, "m")
    stale = BackupHealth("False", reasons.BACKUP_STALE, "old")
    unknown = BackupHealth("Unknown", reasons.STATE_UNKNOWN, "away")
    assert cluster_health({"a": well, "b": well}).status == "True"
    assert cluster_health({"a": well, "b": unknown}).reason == reasons.STATE_UNKNOWN
    assert cluster_health({"a": unknown, "b": stale, "c": stale}) == BackupHealth(
        "False", reasons.BACKUP_STALE, "2 of 3 shards; shard b: old"
    )


def test_cluster_has_the_oldest_of_the_newest_backups_and_the_first_of_the_next() -> None:
    first = ShardBackupStatus(last_backup_at="2026-01-01T00:00:00Z", last_backup_bytes=3, repository_bytes=2)
    second = ShardBackupStatus(
        last_backup_at="2026-01-02T00:00:00Z", next_backup_at="2026-01-03T00:00:00Z", last_backup_bytes=4
    )
    assert cluster_backups([first, second]) == ClusterBackupStatus(
        last_backup_at="2026-01-01T00:00:00Z", next_backup_at="2026-01-03T00:00:00Z", last_backup_bytes=7
    )
    second = msgspec.structs.replace(second, repository_bytes=5)
    assert cluster_backups([first, second]).repository_bytes == 7
    # A shard that was never backed up: the cluster cannot be restored.
    assert cluster_backups([first, ShardBackupStatus()]).last_backup_at is UNSET
