"""The answers of multiadmin about backups, in the JSON of the real one. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from steward.testkit.fake_data_plane.backups.repository import FakeBackup, Repository
from steward.testkit.fake_data_plane.multiadmin_answers import Json, without_zeros
from steward.testkit.fake_data_plane.programs import ShardKey

FIRST_LSN = 0x5000028
WAL_SEGMENT_BYTES = 0x1000000
BACKUP_BYTES = 31_847_562


def backup_json(shard: ShardKey, backup: FakeBackup) -> Json:
    start = FIRST_LSN + int(backup.start) % 1000 * WAL_SEGMENT_BYTES
    return {
        "backupId": backup.label,
        "database": shard.database,
        "tableGroup": shard.table_group,
        "shard": shard.shard,
        "type": backup.type,
        "status": "BACKUP_STATUS_COMPLETE",
        "backupSizeBytes": str(BACKUP_BYTES),
        "multipoolerServiceId": backup.server,
        "routingRole": "ROUTING_ROLE_PRIMARY" if backup.is_from_primary else "ROUTING_ROLE_REPLICA",
        "startLsn": _lsn(start),
        "stopLsn": _lsn(start + 0x100),
        "pgVersion": "17.2",
        "startTimestamp": _timestamp(backup.start),
        "stopTimestamp": _timestamp(backup.stop),
        "jobId": backup.job,
    }


def job_json(job: str, repository: Repository) -> Json:
    """A job that multiadmin remembers."""
    if repository.running is not None and repository.running.job == job:
        return _job(job, "JOB_STATUS_RUNNING")
    finished = repository.finished[job]
    status = "JOB_STATUS_FAILED" if finished.error else "JOB_STATUS_COMPLETED"
    return _job(job, status, backupId=finished.label, errorMessage=finished.error)


def finished_job_json(job: str, label: str, shard: ShardKey) -> Json:
    """A job that a pooler has found among the backups of its repository."""
    place = {"database": shard.database, "tableGroup": shard.table_group, "shard": shard.shard}
    return _job(job, "JOB_STATUS_COMPLETED", backupId=label, **place)


def _job(job: str, status: str, **fields: str) -> Json:
    return without_zeros({"jobId": job, "jobType": "JOB_TYPE_BACKUP", "status": status, **fields})


def _lsn(position: int) -> str:
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:X}"


def _timestamp(time: float) -> str:
    return f"{datetime.fromtimestamp(int(time), UTC):%Y-%m-%dT%H:%M:%SZ}"
