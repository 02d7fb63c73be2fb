"""The backup repository of one shard and the backups that are being made. Pure; the caller passes the time.

The data plane makes the first backup by itself, as soon as the shard has its first primary. A backup that is asked for
takes `seconds`; another request aborts it, and so do the end of its server and a restart of multiadmin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from steward.testkit.fake_data_plane.faults import DataPlaneFault, DataPlaneFaults
from steward.testkit.fake_data_plane.rule import ServerId

FULL, DIFFERENTIAL, INCREMENTAL = "full", "diff", "incr"
SUFFIXES = {FULL: "F", DIFFERENTIAL: "D", INCREMENTAL: "I"}
ABORTED = "pooler backup failed: rpc error: code = Canceled desc = context canceled: backup lease lost"
SERVER_ENDED = "pooler backup failed: rpc error: code = Unavailable desc = transport is closing"
FAILURES = {
    DataPlaneFault.REPOSITORY_UNREACHABLE: "ERROR: [049]: unable to connect to the repository",
    DataPlaneFault.WRONG_CREDENTIALS: "ERROR: [039]: HTTP request failed with 403 (Forbidden)",
    DataPlaneFault.REPOSITORY_FULL: "ERROR: [041]: unable to write file: [28] No space left on device",
    DataPlaneFault.ARCHIVE_FAILS: "ERROR: [082]: WAL segment was not archived before the 60000ms timeout",
    DataPlaneFault.BACKUP_FAILS: "ERROR: [055]: unable to open missing file for read",
}


class FakeBackup(NamedTuple):
    label: str
    type: str
    server: str
    job: str
    start: float
    stop: float
    is_from_primary: bool = False
    lineage: str = ""
    """Which data it has: that of the first primary, which all servers since then were made from."""

    @property
    def full_label(self) -> str:
        """The full backup that it needs."""
        return self.label.partition("_")[0]


class RunningBackup(NamedTuple):
    """`pod` is the uid of the pod that makes it."""

    job: str
    type: str
    server: ServerId
    pod: str
    start: float
    lineage: str = ""


class FinishedJob(NamedTuple):
    label: str = ""
    error: str = ""


class Repository(NamedTuple):
    backups: tuple[FakeBackup, ...] = ()
    running: RunningBackup | None = None
    finished: Mapping[str, FinishedJob] = {}
    """The jobs that multiadmin remembers."""

    def knows(self, job: str) -> bool:
        return job in self.finished or (self.running is not None and self.running.job == job)

    def find_job(self, job: str) -> FakeBackup | None:
        return next((backup for backup in self.backups if backup.job == job), None)


def with_first_backup(repository: Repository, leader: ServerId, lineage: str, now: float) -> Repository:
    """The repository with the backup that the first primary made."""
    label, job = new_label(repository, FULL, now), job_id(leader, now)
    first = FakeBackup(label, FULL, leader.name, job, now, now, is_from_primary=True, lineage=lineage)
    return repository._replace(backups=(*repository.backups, first))


def start_backup(repository: Repository, backup: RunningBackup) -> Repository:
    return abort_backup(repository, ABORTED)._replace(running=backup)


def abort_backup(repository: Repository, error: str) -> Repository:
    if repository.running is None:
        return repository
    finished = {**repository.finished, repository.running.job: FinishedJob(error=error)}
    return repository._replace(running=None, finished=finished)


def forget_jobs(repository: Repository) -> Repository:
    """After a restart of multiadmin: the call of a running backup ended with it, and its job is unknown."""
    return repository._replace(running=None, finished={})


def advance_backups(
    repository: Repository,
    faults: DataPlaneFaults,
    runs: Callable[[ServerId, str], bool],
    now: float,
    seconds: float,
) -> Repository:
    """`runs` says whether the pod of a server still runs."""
    running = repository.running
    if running is None:
        return repository
    if not runs(running.server, running.pod):
        return abort_backup(repository, SERVER_ENDED)
    if now < running.start + seconds:
        return repository
    if error := failure(faults):
        return abort_backup(repository, f"pooler backup failed: exit status 1\nOutput: {error}")
    return _finish(repository, running, running.start + seconds)


def _finish(repository: Repository, running: RunningBackup, stop: float) -> Repository:
    label = new_label(repository, running.type, running.start)
    kind = FULL if label.endswith("F") else running.type
    made = FakeBackup(
        label, kind, running.server.name, running.job, running.start, stop, lineage=running.lineage
    )
    finished = {**repository.finished, running.job: FinishedJob(label=label)}
    return Repository((*repository.backups, made), None, finished)


def failure(faults: DataPlaneFaults) -> str:
    """The error of pgBackRest while a backup is made; "" if none."""
    return next((error for fault, error in FAILURES.items() if fault in faults), "")


def new_label(repository: Repository, backup_type: str, now: float) -> str:
    """Later than every label before it. Without a full backup to build on, the backup becomes a full one."""
    last = max((label_time(each.label) for each in repository.backups), default="")
    text = _stamp(now)
    if text <= last:
        text = _stamp(datetime.strptime(last, "%Y%m%d-%H%M%S").replace(tzinfo=UTC) + timedelta(seconds=1))
    full = next((each.label for each in reversed(repository.backups) if each.type == FULL), "")
    if backup_type == FULL or not full:
        return f"{text}F"
    return f"{full}_{text}{SUFFIXES[backup_type]}"


def label_time(label: str) -> str:
    return label.rsplit("_", 1)[-1][:15]


def expire(repository: Repository, full_count: int) -> Repository:
    """Keeps the newest full backups and what needs them."""
    fulls = [each.label for each in repository.backups if each.type == FULL]
    kept = set(fulls[-full_count:])
    return repository._replace(backups=tuple(each for each in repository.backups if each.full_label in kept))


def expire_before(repository: Repository, before: float) -> Repository:
    """Keeps the full backups since a time, and the newest one before it: pgBackRest restores up to that time."""
    fulls = [each for each in repository.backups if each.type == FULL]
    older = [each for each in fulls if each.stop < before]
    return expire(repository, len(fulls) - len(older) + min(1, len(older)))


def job_id(server: ServerId, now: float) -> str:
    moment = datetime.fromtimestamp(now, UTC)
    return f"{moment:%Y%m%d-%H%M%S.%f}_multipooler-{server.cell}-{server.name}"


def _stamp(time: float | datetime) -> str:
    moment = datetime.fromtimestamp(time, UTC) if isinstance(time, float | int) else time
    return f"{moment:%Y%m%d-%H%M%S}"
