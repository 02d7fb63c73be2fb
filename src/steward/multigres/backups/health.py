"""Whether a shard could be restored: the condition BackupHealthy and the backup fields of its status. Pure.

No message has an age in it: a text that changes by itself would be a write while nothing happens.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from steward.kube.objects.conditions import FALSE, TRUE, UNKNOWN
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multiadmin.backup_answers import RepositoryBackup
from steward.multigres import reasons
from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster_status import ClusterBackupStatus
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.shard import ShardBackupStatus
from steward.multigres.api.unset import or_default
from steward.multigres.backups.progress import FAILED
from steward.multigres.backups.queue import is_ended
from steward.multigres.backups.repository import RepositoryListing, newest_complete, type_of
from steward.multigres.resolution.backup_schedule import stale_seconds
from steward.multigres.views import MultigresBackupView

ARCHIVE_TIMEOUT = "[082]"
"""pgBackRest's error for WAL that a backup needs and that was not archived in time."""


class BackupHealth(NamedTuple):
    """Status, reason and message of the condition."""

    status: str
    reason: str
    message: str


class Verification(NamedTuple):
    """When the repository was verified last, and what that found."""

    at: str = ""
    error: str = ""


class BackupFacts(NamedTuple):
    backup: Backup
    listing: RepositoryListing
    failure: str = ""
    """Why the last MultigresBackup failed; "" if it did not."""
    verification: Verification = Verification()
    known_backups: int = 0
    """How many complete backups the repository had when it was listed before."""
    restored_from: str | None = None
    """The backup from which the shard was restored; "" if there was none, None if that is unknown or does not apply."""
    repository_bytes: int | None = None
    """What all backups take in the repository; None if that is unknown."""
    failing_wal: str = ""
    """The WAL file that the primary fails to archive; "" if there is none, or if that is unknown."""


def assess_backups(facts: BackupFacts, now: float) -> BackupHealth:
    listing = facts.listing
    if listing.error:
        return _unread(listing)
    newest = newest_complete(listing.complete)
    if newest is None and facts.known_backups:
        return _lost(facts.known_backups)
    if newest is None:
        message = "the repository has no complete backup, so no server could be restored"
        if facts.failure:
            message += f"; the last one failed: {facts.failure}"
        return BackupHealth(FALSE, reasons.NEVER_BACKED_UP, message)
    if facts.verification.error:
        message = f"the verification of {facts.verification.at} found problems: {facts.verification.error}"
        return BackupHealth(FALSE, reasons.REPOSITORY_DAMAGED, message)
    if facts.failure:
        message = f"the last backup failed: {facts.failure}; the newest one is {describe_backup(newest)}"
        return BackupHealth(FALSE, _failure_reason(facts.failure), message)
    if facts.failing_wal:
        message = (
            f"the primary cannot archive WAL, {facts.failing_wal} first: it stays on the volume, and nothing written"
            f" since then could be restored; the newest backup is {describe_backup(newest)}"
        )
        return BackupHealth(FALSE, reasons.ARCHIVING_FAILS, message)
    return _of_age(facts.backup, newest, now)


def _failure_reason(failure: str) -> str:
    return reasons.ARCHIVING_FAILS if ARCHIVE_TIMEOUT in failure else reasons.BACKUPS_FAILING


def cluster_health(shards: Mapping[str, BackupHealth]) -> BackupHealth:
    """Of a cluster: the first of its shards that is not healthy. Its message does not change with each backup."""
    for status in (FALSE, UNKNOWN):
        found = [name for name in sorted(shards) if shards[name].status == status]
        if found:
            first, count = shards[found[0]], f"{len(found)} of {len(shards)} shards"
            return BackupHealth(status, first.reason, f"{count}; shard {found[0]}: {first.message}")
    return BackupHealth(TRUE, reasons.BACKED_UP, "every shard has a backup that is healthy")


def _unread(listing: RepositoryListing) -> BackupHealth:
    if listing.is_unreachable:
        message = f"a server cannot read the repository: {listing.error}"
        return BackupHealth(FALSE, reasons.REPOSITORY_UNREACHABLE, message)
    return BackupHealth(UNKNOWN, reasons.STATE_UNKNOWN, f"no server reports its backups: {listing.error}")


def _lost(known_backups: int) -> BackupHealth:
    """Poolers also report no backups if pgBackRest was ended before it had an answer."""
    message = (
        f"a server finds no backup in the repository, which had {known_backups}: it cannot read the repository, or the"
        " backups were deleted"
    )
    return BackupHealth(FALSE, reasons.REPOSITORY_UNREACHABLE, message)


def _of_age(backup: Backup, newest: RepositoryBackup, now: float) -> BackupHealth:
    stale_at = stale_time(backup, newest)
    if stale_at is not None and now >= stale_at:
        message = f"the newest backup, {describe_backup(newest)}, is older than {or_default(backup.stale_after, '')}"
        return BackupHealth(FALSE, reasons.BACKUP_STALE, message)
    return BackupHealth(TRUE, reasons.BACKED_UP, f"the newest backup is {describe_backup(newest)}")


def stale_time(backup: Backup, newest: RepositoryBackup | None) -> float | None:
    """When the newest backup becomes stale, None if never."""
    seconds = stale_seconds(backup)
    if seconds is None or newest is None or newest.stop_timestamp is None:
        return None
    return from_timestamp(newest.stop_timestamp) + seconds


def describe_backup(backup: RepositoryBackup) -> str:
    return f"{backup.backup_id} of {backup.stop_timestamp or 'an unknown time'}"


def last_failure(backups: Iterable[MultigresBackupView]) -> str:
    """Why the last MultigresBackup that has ended failed; "" if it did not."""
    ended = sorted((each for each in backups if is_ended(each)), key=_created)
    if not ended or ended[-1].status.phase != FAILED:
        return ""
    return f"{ended[-1].metadata.name}: {or_default(ended[-1].status.error, '')}"


def _created(backup: MultigresBackupView) -> tuple[str, str]:
    return backup.metadata.creation_timestamp or "", backup.metadata.name


def backup_status(
    previous: ShardBackupStatus, facts: BackupFacts, next_time: float | None
) -> ShardBackupStatus:
    """What was known about the repository stays while it cannot be read."""
    is_unread = facts.listing.error or (facts.known_backups and not facts.listing.complete)
    status = previous if is_unread else _repository_status(facts.listing, facts.repository_bytes)
    return msgspec.structs.replace(
        status,
        next_backup_at=UNSET if next_time is None else to_timestamp(next_time),
        verified_at=facts.verification.at or UNSET,
        verification_error=facts.verification.error or UNSET,
        restored_from=UNSET if facts.restored_from is None else facts.restored_from,
    )


def reported_size(previous: ShardBackupStatus, listing: RepositoryListing) -> int | None:
    """The size in the last status, if the repository has the same backups as then."""
    newest = newest_complete(listing.complete)
    reported = previous.last_backup, or_default(previous.backups, 0)
    if newest is None or reported != (newest.backup_id, len(listing.complete)):
        return None
    return None if previous.repository_bytes is UNSET else previous.repository_bytes


def _repository_status(listing: RepositoryListing, size: int | None) -> ShardBackupStatus:
    newest = newest_complete(listing.complete)
    if newest is None:
        return ShardBackupStatus(backups=0)
    stopped = newest.stop_timestamp
    return ShardBackupStatus(
        backups=len(listing.complete),
        last_backup=newest.backup_id,
        last_backup_type=type_of(newest) or UNSET,
        last_backup_at=UNSET if stopped is None else to_timestamp(from_timestamp(stopped)),
        last_backup_bytes=int(newest.backup_size_bytes) if newest.backup_size_bytes else UNSET,
        repository_bytes=UNSET if size is None else size,
    )


def cluster_backups(shards: Iterable[ShardBackupStatus]) -> ClusterBackupStatus:
    """Of a cluster: it can be restored completely to the oldest of the newest backups."""
    known = list(shards)
    times, sizes = [each.last_backup_at for each in known], [each.last_backup_bytes for each in known]
    upcoming = [each.next_backup_at for each in known]
    repositories = [each.repository_bytes for each in known]
    return ClusterBackupStatus(
        last_backup_at=min((each for each in times if each is not UNSET), default=UNSET)
        if UNSET not in times
        else UNSET,
        next_backup_at=min((each for each in upcoming if each is not UNSET), default=UNSET),
        last_backup_bytes=sum(each for each in sizes if each is not UNSET) or UNSET,
        repository_bytes=sum(each for each in repositories if each is not UNSET)
        if repositories and UNSET not in repositories
        else UNSET,
    )
