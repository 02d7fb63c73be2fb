"""The MultigresBackups of one shard: which one is made next. Pure.

One at a time: the data plane aborts a backup when it is asked for another of the same shard.
"""

from collections.abc import Iterable
from typing import NamedTuple

from steward.multigres.api.unset import or_default
from steward.multigres.backups.progress import ACTIVE, ENDED, PENDING
from steward.multigres.names import ShardPath
from steward.multigres.resolution import defaults
from steward.multigres.views import MultigresBackupView


class BackupQueue(NamedTuple):
    """The backup that is made now or next, and those that wait for it."""

    current: MultigresBackupView | None
    waiting: tuple[MultigresBackupView, ...] = ()

    @property
    def all(self) -> tuple[MultigresBackupView, ...]:
        return self.waiting if self.current is None else (self.current, *self.waiting)


def backup_queue(backups: Iterable[MultigresBackupView]) -> BackupQueue:
    open_backups = sorted((each for each in backups if not is_ended(each)), key=_order)
    if not open_backups:
        return BackupQueue(None)
    return BackupQueue(open_backups[0], tuple(open_backups[1:]))


def _order(backup: MultigresBackupView) -> tuple[bool, str, str]:
    is_active = or_default(backup.status.phase, PENDING) in ACTIVE
    return (not is_active, backup.metadata.creation_timestamp or "", backup.metadata.name)


def is_ended(backup: MultigresBackupView) -> bool:
    return or_default(backup.status.phase, PENDING) in ENDED


def taken_ids(backups: Iterable[MultigresBackupView], current: MultigresBackupView) -> frozenset[str]:
    """The backups in the repository that belong to other MultigresBackups."""
    others = (each for each in backups if each.metadata.uid != current.metadata.uid)
    return frozenset(or_default(each.status.backup_id, "") for each in others) - {""}


def backup_path(backup: MultigresBackupView) -> ShardPath:
    spec = backup.spec
    return ShardPath(
        spec.cluster,
        or_default(spec.database, defaults.SYSTEM_DATABASE),
        or_default(spec.table_group, defaults.DEFAULT_TABLE_GROUP),
        or_default(spec.shard, defaults.DEFAULT_SHARD),
    )
