"""What a MultigresBackup does next. Pure: from its status and an answer of the data plane to the next status.

    Pending ──list──► Requested ──start──► Running ──job──► Completed
       ▲                  │                   │   └───────► Failed
       └──── refused ─────┴─── pod was away ──┘

Each backup is asked for once, although a request has no id of ours and no call lists jobs: Requested is written before
the request is sent, with the newest backup of the repository at that time. A process that finds Requested without a
job does not know whether the request was sent. It looks for a later backup first, for `SETTLE_SECONDS`, and asks again
only then. That is safe: the data plane aborts a backup that is running when it is asked for another.
"""

from collections.abc import Collection
from enum import Enum
from typing import NamedTuple

import msgspec

from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multiadmin.backup_answers import JOB_COMPLETED, JOB_FAILED, BackupJob, RepositoryBackup
from steward.multiadmin.errors import names_dead_connection
from steward.multigres.api.multigres_backup import MultigresBackupStatus
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.unset import or_default
from steward.multigres.backups.repository import RepositoryListing, find_newer, type_of

SETTLE_SECONDS = 60.0
"""For how long a later backup is looked for before the data plane is asked again."""
LIMIT_SECONDS = 45 * 60.0
"""A pooler ends a backup after 30 minutes and its verification after 10 more."""
POLL_SECONDS = 5.0
RETRY_SECONDS = 15.0
MAX_ATTEMPTS = 3

PENDING, REQUESTED, RUNNING, COMPLETED, FAILED = "Pending", "Requested", "Running", "Completed", "Failed"
ENDED = (COMPLETED, FAILED)
ACTIVE = (REQUESTED, RUNNING)


class Question(Enum):
    """What has to be asked before the next decision."""

    REPOSITORY = "repository"
    JOB = "job"


class Decision(NamedTuple):
    """The next status; with `starts`, the data plane is asked after the status was written."""

    status: MultigresBackupStatus
    retry_after: float | None = None
    starts: bool = False


class JobAnswer(NamedTuple):
    """A job; None if multiadmin does not know it; or an error."""

    job: BackupJob | None = None
    error: str = ""


class StartAnswer(NamedTuple):
    """The id of the job, or an error. `is_refused`: multiadmin said that it did not start one."""

    job: str = ""
    error: str = ""
    is_refused: bool = False


def question(status: MultigresBackupStatus) -> Question:
    return Question.JOB if or_default(status.phase, PENDING) == RUNNING else Question.REPOSITORY


def decide_request(
    status: MultigresBackupStatus, listing: RepositoryListing, taken: Collection[str], now: float
) -> Decision:
    """For Pending and Requested. `taken` are the backups of other MultigresBackups."""
    is_requested = or_default(status.phase, PENDING) == REQUESTED
    if listing.error:
        return _wait(status, f"the repository cannot be read: {listing.error}")
    if not is_requested:
        return _request(status, listing, now)
    found = find_newer(listing, or_default(status.previous_backup, ""), taken)
    if found is not None:
        return Decision(completed(status, found))
    if 0 <= now - _requested_at(status) < SETTLE_SECONDS:
        message = (
            "the operator was interrupted while it asked for the backup, and looks for it in the repository"
        )
        return _wait(status, message, POLL_SECONDS)
    return _request(status, listing, now)


def _request(status: MultigresBackupStatus, listing: RepositoryListing, now: float) -> Decision:
    requested = msgspec.structs.replace(
        status,
        phase=REQUESTED,
        requested_at=to_timestamp(now),
        previous_backup=listing.newest_id(),
        attempts=or_default(status.attempts, 0) + 1,
        job=UNSET,
        message="the data plane is asked for the backup",
    )
    return Decision(requested, starts=True)


def decide_started(status: MultigresBackupStatus, answer: StartAnswer) -> Decision:
    """After the request was sent."""
    if answer.job:
        message = "the backup is being made"
        running = msgspec.structs.replace(status, phase=RUNNING, job=answer.job, message=message)
        return Decision(running, POLL_SECONDS)
    if answer.is_refused:
        pending = msgspec.structs.replace(status, phase=PENDING)
        return _wait(pending, f"multiadmin refuses the backup for now: {answer.error}")
    return _wait(status, f"multiadmin has not confirmed the request: {answer.error}")


def decide_job(
    status: MultigresBackupStatus, answer: JobAnswer, listing: RepositoryListing | None, now: float
) -> Decision:
    """For Running. `listing` is None if the job has not ended."""
    if answer.error:
        return _wait(status, f"multiadmin does not report on the backup: {answer.error}")
    if answer.job is not None and answer.job.status == JOB_FAILED:
        return _failed_job(status, answer.job.error)
    if listing is None:
        return Decision(_with_message(status, "the backup is being made"), POLL_SECONDS)
    if listing.error:
        return _wait(status, f"the repository cannot be read: {listing.error}")
    found = _made_backup(status, answer.job, listing)
    if found is not None:
        return Decision(completed(status, found))
    if answer.job is None:
        return _unknown_job(status, now)
    return Decision(_completed_and_gone(status, answer.job))


def is_ended_job(answer: JobAnswer) -> bool:
    """Whether the repository is asked for the backup: the job is complete, or multiadmin no longer knows it."""
    return not answer.error and (answer.job is None or answer.job.status == JOB_COMPLETED)


def _made_backup(
    status: MultigresBackupStatus, job: BackupJob | None, listing: RepositoryListing
) -> RepositoryBackup | None:
    by_id = listing.find(job.backup_id) if job is not None and job.backup_id else None
    return by_id or listing.find_job(or_default(status.job, ""))


def _failed_job(status: MultigresBackupStatus, error: str) -> Decision:
    """A dead connection to a replaced pod ends the job before the backup begins: another is asked for."""
    if names_dead_connection(error) and or_default(status.attempts, 1) < MAX_ATTEMPTS:
        pending = msgspec.structs.replace(status, phase=PENDING, job=UNSET)
        return _wait(
            pending, f"multiadmin did not reach the server and is asked again: {error}", POLL_SECONDS
        )
    return Decision(failed(status, error or "the data plane names no cause"))


def _unknown_job(status: MultigresBackupStatus, now: float) -> Decision:
    """multiadmin was restarted: only a finished backup can be found by its job."""
    limit = _requested_at(status) + LIMIT_SECONDS
    if _requested_at(status) <= now < limit:
        message = (
            "multiadmin was restarted and no longer knows the job; it counts as failed if no backup of it is in the"
            f" repository by {to_timestamp(limit)}"
        )
        return _wait(status, message)
    return Decision(
        failed(status, "multiadmin was restarted during the backup, and no backup of its job appeared")
    )


def _completed_and_gone(status: MultigresBackupStatus, job: BackupJob) -> MultigresBackupStatus:
    message = "the backup was made and is no longer in the repository"
    return msgspec.structs.replace(status, phase=COMPLETED, backup_id=job.backup_id, message=message)


def completed(status: MultigresBackupStatus, backup: RepositoryBackup) -> MultigresBackupStatus:
    return msgspec.structs.replace(
        status,
        phase=COMPLETED,
        message=f"backup {backup.backup_id} is in the repository",
        backup_id=backup.backup_id,
        type=type_of(backup) or UNSET,
        size_bytes=int(backup.backup_size_bytes) if backup.backup_size_bytes else UNSET,
        start_lsn=backup.start_lsn or UNSET,
        stop_lsn=backup.stop_lsn or UNSET,
        started_at=_whole_seconds(backup.start_timestamp),
        stopped_at=_whole_seconds(backup.stop_timestamp),
        server=backup.multipooler_service_id or UNSET,
        job=backup.job_id or status.job,
        error=UNSET,
    )


def failed(status: MultigresBackupStatus, error: str) -> MultigresBackupStatus:
    return msgspec.structs.replace(status, phase=FAILED, message=f"the backup failed: {error}", error=error)


def without_shard(status: MultigresBackupStatus, what: str) -> Decision:
    """The cluster or the shard does not exist: it may be created later; a backup that was asked for ended with it."""
    if or_default(status.phase, PENDING) in ACTIVE:
        return Decision(failed(status, f"{what} was deleted before the backup was complete"))
    pending = msgspec.structs.replace(status, phase=PENDING)
    return Decision(
        _with_message(pending, f"{what} does not exist; create it, or delete this MultigresBackup")
    )


def behind(status: MultigresBackupStatus, other: str) -> Decision:
    pending = msgspec.structs.replace(status, phase=PENDING)
    return Decision(_with_message(pending, f"MultigresBackup {other} of the same shard is made first"))


def _wait(status: MultigresBackupStatus, message: str, seconds: float = RETRY_SECONDS) -> Decision:
    phase = or_default(status.phase, PENDING)
    return Decision(msgspec.structs.replace(status, phase=phase, message=message), seconds)


def _with_message(status: MultigresBackupStatus, message: str) -> MultigresBackupStatus:
    return msgspec.structs.replace(status, message=message)


def _requested_at(status: MultigresBackupStatus) -> float:
    return from_timestamp(or_default(status.requested_at, "1970-01-01T00:00:00Z"))


def _whole_seconds(timestamp: str | None) -> str | msgspec.UnsetType:
    return UNSET if timestamp is None else to_timestamp(from_timestamp(timestamp))
