"""Which backups are to be expired, and which MultigresBackups are deleted with them. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from steward.kube.objects.timestamps import from_timestamp
from steward.multiadmin.backup_answers import RepositoryBackup
from steward.multigres.api.backup import Backup
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.unset import or_default
from steward.multigres.backups.progress import COMPLETED, FAILED
from steward.multigres.backups.repository import RepositoryListing, made_at
from steward.multigres.backups.schedule import COMPONENT
from steward.multigres.objects.metadata import COMPONENT_LABEL
from steward.multigres.views import MultigresBackupView

DAY_SECONDS = 24 * 3600.0
KEEP_DIFFERENTIAL = {"repo1_retention_diff": "9999999"}
"""Poolers configure pgBackRest to keep only the last differential backup."""
KEPT_FAILURES = 5
"""Failed MultigresBackups of a schedule that are kept for each shard: each would stay for ever otherwise."""


class PrunedBackup(NamedTuple):
    backup: MultigresBackupView
    reason: str


def expiry_options(backup: Backup, listing: RepositoryListing, now: float) -> dict[str, str]:
    """pgBackRest's options for what has to be expired; none while nothing has."""
    retention = backup.retention
    if retention is UNSET:
        return {}
    fulls = [each for each in listing.complete if each.type == "full"]
    if retention.full_count is not UNSET:
        is_due = len(fulls) > retention.full_count
        return {"repo1_retention_full": str(retention.full_count), **KEEP_DIFFERENTIAL} if is_due else {}
    days = or_default(retention.days, 0)
    # The newest full backup that is older stays: without it nothing could be restored from before the next one.
    is_due = sum(_stopped_at(each) < now - days * DAY_SECONDS for each in fulls) > 1
    options = {"repo1_retention_full": str(days), "repo1_retention_full_type": "time", **KEEP_DIFFERENTIAL}
    return options if is_due else {}


def _stopped_at(backup: RepositoryBackup) -> float:
    return from_timestamp(backup.stop_timestamp or "9999-01-01T00:00:00Z")


def pruned_backups(
    backups: Iterable[MultigresBackupView], listing: RepositoryListing
) -> Iterator[PrunedBackup]:
    """Only after the repository was read: a MultigresBackup whose backup it still has is never deleted. A repository
    without any backup is more often one that a server cannot read than one whose backups were deleted, and a backup
    that is newer than all of a listing was made after it: the newest one never expires."""
    if listing.error or not listing.complete:
        return
    views, newest = list(backups), made_at(listing.newest_id())
    for view in views:
        backup_id = or_default(view.status.backup_id, "")
        is_absent = listing.find(backup_id) is None and made_at(backup_id) < newest
        if view.status.phase == COMPLETED and is_absent:
            yield PrunedBackup(view, f"backup {backup_id} is no longer in the repository")
    failed = [view for view in views if view.status.phase == FAILED and _is_scheduled(view)]
    newest_first = sorted(failed, key=lambda view: view.metadata.creation_timestamp or "", reverse=True)
    for view in newest_first[KEPT_FAILURES:]:
        yield PrunedBackup(view, f"{KEPT_FAILURES} later backups of the schedule have failed, too")


def _is_scheduled(view: MultigresBackupView) -> bool:
    return view.metadata.labels.get(COMPONENT_LABEL) == COMPONENT
