"""The repository of a shard as it was listed last, and what is looked for in it. Pure."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from steward.multiadmin.backup_answers import PGBACKREST_TYPES, RepositoryBackup
from steward.multigres.api.multigres_backup import BackupType


class RepositoryListing(NamedTuple):
    """The backups of a shard, the oldest first; with an error instead if they could not be listed."""

    backups: tuple[RepositoryBackup, ...] = ()
    error: str = ""
    is_unreachable: bool = False
    """The error is that of a server that could not read its repository, not of a missing server."""

    @property
    def complete(self) -> list[RepositoryBackup]:
        return [backup for backup in self.backups if backup.is_complete]

    def newest_id(self) -> str:
        """The newest backup, complete or not; "" if there is none."""
        return max(self.backups, key=lambda backup: backup.made_at).backup_id if self.backups else ""

    def find(self, backup_id: str) -> RepositoryBackup | None:
        return next((backup for backup in self.backups if backup.backup_id == backup_id), None)

    def find_job(self, job: str) -> RepositoryBackup | None:
        return next((backup for backup in self.backups if backup.job_id == job), None)


def find_newer(listing: RepositoryListing, previous: str, taken: Collection[str]) -> RepositoryBackup | None:
    """The first complete backup after the previous one that belongs to no other MultigresBackup.

    Ids are compared, not clocks: pgBackRest never gives a backup an id that is not later than the one before it."""
    since = made_at(previous)
    newer = [each for each in listing.complete if each.made_at > since and each.backup_id not in taken]
    return min(newer, key=lambda backup: backup.made_at, default=None)


def made_at(backup_id: str) -> str:
    return RepositoryBackup(backup_id=backup_id).made_at


def type_of(backup: RepositoryBackup) -> BackupType | None:
    return PGBACKREST_TYPES.get(backup.type)


def newest_complete(backups: Sequence[RepositoryBackup]) -> RepositoryBackup | None:
    return max(backups, key=lambda backup: backup.made_at, default=None)
