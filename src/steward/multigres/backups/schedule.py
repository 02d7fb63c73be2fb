"""Which backup of a schedule is due, and when the next one is. Pure.

Nothing is remembered about a schedule. A time counts as served if the object of that time exists, or if the repository
has a backup since then that needs no more than the one to be made. So a time that passed while the operator was away is
made up for once, by the newest one only; and an object that exists already, made by whichever process, is not made
again, because its name follows from shard, type and time.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multiadmin.backup_answers import RepositoryBackup
from steward.multigres import names
from steward.multigres.api.backup import Backup
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.multigres_backup import BackupType
from steward.multigres.backups.repository import RepositoryListing, type_of
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import (
    DATABASE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
    component_labels,
)
from steward.multigres.resolution.backup_schedule import TYPES, schedule_lines

SPREAD_SECONDS = 600.0
SPACING_SECONDS = 15.0
SKEW_SECONDS = 3600.0
"""How far the clock of a server may be ahead. A backup of a later time was made while a clock was wrong: it must not
suspend the schedule until that time."""
COMPONENT = "scheduled-backup"
TIME_ANNOTATION = "multigres.com/scheduled-at"


class ScheduledShard(NamedTuple):
    """A shard, when it was created, and by how many seconds it begins later than its schedule says."""

    path: ShardPath
    namespace: str
    created_at: float
    delay: float = 0.0


class ScheduledBackup(NamedTuple):
    type: BackupType
    at: float
    name: str


def start_delay(shard: str, shards: Collection[str]) -> float:
    """Seconds for one of the shards of a cluster: no two begin at the same time, and all within `SPREAD_SECONDS`."""
    ordered = sorted({shard, *shards})
    return ordered.index(shard) * min(SPACING_SECONDS, SPREAD_SECONDS / len(ordered))


def due_backup(
    shard: ScheduledShard, backup: Backup, listing: RepositoryListing, existing: Collection[str], now: float
) -> ScheduledBackup | None:
    """The first type that is due; `existing` are the names of the MultigresBackups of the shard."""
    for backup_type, line in schedule_lines(backup).items():
        at = line.last_before(now - shard.delay)
        if at is None or at <= shard.created_at:
            continue
        found = _scheduled(shard.path, backup_type, at)
        known = [each for each in listing.complete if _started_at(each) <= now + SKEW_SECONDS]
        if found.name not in existing and not _is_served(known, backup_type, at):
            return found
    return None


def _scheduled(path: ShardPath, backup_type: BackupType, at: float) -> ScheduledBackup:
    stamp = f"{datetime.fromtimestamp(at, UTC):%Y%m%d%H%M}"
    return ScheduledBackup(backup_type, at, names.timed_backup(path, backup_type, stamp))


def _is_served(backups: Sequence[RepositoryBackup], backup_type: BackupType, at: float) -> bool:
    enough = TYPES[: TYPES.index(backup_type) + 1]
    return any(type_of(each) in enough and _started_at(each) >= at for each in backups)


def _started_at(backup: RepositoryBackup) -> float:
    return from_timestamp(backup.start_timestamp or "1970-01-01T00:00:00Z")


def next_time(shard: ScheduledShard, backup: Backup, now: float) -> float | None:
    """When the next backup begins, None if there is no schedule."""
    times = [line.next_after(now - shard.delay) for line in schedule_lines(backup).values()]
    return min((time + shard.delay for time in times if time is not None), default=None)


def scheduled_manifest(shard: ScheduledShard, scheduled: ScheduledBackup) -> dict[str, Any]:
    """Without an owner: a record of a backup outlives the cluster, as the backup does."""
    path = shard.path
    location = {DATABASE_LABEL: path.database, TABLE_GROUP_LABEL: path.table_group, SHARD_LABEL: path.shard}
    return {
        "apiVersion": API_VERSION,
        "kind": "MultigresBackup",
        "metadata": {
            "name": scheduled.name,
            "namespace": shard.namespace,
            "labels": component_labels(path.cluster, COMPONENT, location),
            "annotations": {TIME_ANNOTATION: to_timestamp(scheduled.at)},
        },
        "spec": {
            "cluster": path.cluster,
            "database": path.database,
            "tableGroup": path.table_group,
            "shard": path.shard,
            "type": scheduled.type,
        },
    }
