"""The routes of multiadmin about backups, over the repositories of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from steward.kube.clock import Clock
from steward.multigres.topology.store_records import SHUTDOWN
from steward.testkit.fake_data_plane import multiadmin_answers as answers
from steward.testkit.fake_data_plane.backups import repository as repositories
from steward.testkit.fake_data_plane.backups.answers import backup_json, finished_job_json, job_json
from steward.testkit.fake_data_plane.backups.repository import Repository, RunningBackup
from steward.testkit.fake_data_plane.backups.stored import ClusterRepositories, RepositoryStore
from steward.testkit.fake_data_plane.faults import DataPlaneFault, DataPlaneFaults
from steward.testkit.fake_data_plane.multiadmin_answers import Json, MultiadminError
from steward.testkit.fake_data_plane.programs import HOST_PREFIX, ShardKey
from steward.testkit.fake_data_plane.rule import ServerId
from steward.testkit.fake_data_plane.shard_model import UNREADABLE_REPOSITORY, PoolerState, ShardView
from steward.testkit.fake_data_plane.topology_reader import TopologyRecords

TYPES = {
    "full": repositories.FULL,
    "differential": repositories.DIFFERENTIAL,
    "incremental": repositories.INCREMENTAL,
}
DAY_SECONDS = 24 * 3600.0
TWO_HOSTS = "pooler backup failed: ERROR: [027]: pg and repo hosts cannot both be configured as remote"
"""A standby needs the primary for a backup, and pgBackRest reaches one other host only."""
View = Callable[[ShardKey], ShardView | None]


class BackupCall(NamedTuple):
    """A request about the backups of a shard, and the servers that are registered."""

    shard: ShardKey
    fields: Mapping[str, Any]
    topology: TopologyRecords


class MultiadminBackups:
    def __init__(self, view: View, clock: Clock, repositories: ClusterRepositories | None = None) -> None:
        self._view = view
        self._clock = clock
        self._repositories = repositories or ClusterRepositories(RepositoryStore(), "")

    def forget_jobs(self) -> None:
        """multiadmin has ended."""
        for shard in self._repositories.shards():
            self._repositories.replace(shard, repositories.forget_jobs(self._advanced(shard)))

    def start(self, call: BackupCall) -> Json:
        find = _primary if call.fields.get("force_primary") else _standby
        server = find(call, answers.FAILED_PRECONDITION, "failed to find pooler")
        kind = TYPES.get(str(call.fields.get("type", "")))
        view = self._view(call.shard)
        assert view is not None
        pooler, now = view.poolers.get(server), self._clock.now()
        job = repositories.job_id(server, now)
        pod = "" if pooler is None else pooler.uid
        started = RunningBackup(job, kind or "", server, pod, now, view.state.lineage)
        repository = repositories.start_backup(self._advanced(call.shard), started)
        if kind is None:
            error = f"pooler backup failed: invalid backup type '{call.fields.get('type', '')}'"
            repository = repositories.abort_backup(repository, error)
        elif pooler is not None and pooler.repository.startswith(HOST_PREFIX) and find is _standby:
            repository = repositories.abort_backup(repository, TWO_HOSTS)
        self._repositories.replace(call.shard, repository)
        return {"jobId": job}

    def job(self, job: str, call: BackupCall) -> Json:
        known = next((each for each in self._all_advanced() if each.knows(job)), None)
        if known is not None:
            return job_json(job, known)
        message = f"job not found: {job}"
        if not call.shard.database or not call.shard.table_group:
            raise MultiadminError(answers.NOT_FOUND, message)
        _standby(call, answers.NOT_FOUND, "job not found and unable to query pooler")
        made = self._advanced(call.shard).find_job(job)
        if made is None or self._is_unreachable(call.shard):
            raise MultiadminError(answers.NOT_FOUND, message)
        return finished_job_json(job, made.label, call.shard)

    def list(self, call: BackupCall) -> Json:
        self._require_standby(call)
        self._require_repository(call, "failed to get backups from pooler")
        found = [backup_json(call.shard, backup) for backup in self._advanced(call.shard).backups]
        limit = int(call.fields.get("limit") or 0)
        return answers.without_zeros({"backups": found[:limit] if limit else found})

    def verify(self, call: BackupCall) -> Json:
        self._require_standby(call)
        self._require_repository(call, "verify failed")
        if DataPlaneFault.DAMAGED_BACKUPS in self._faults(call.shard):
            message = (
                "verify failed: pgbackrest verify found problems in stanza multigres\nOutput: status: error"
            )
            raise MultiadminError(answers.INTERNAL, message)
        return {"duration": "0.5s", "rawOutput": "stanza: multigres\nstatus: ok"}

    def expire(self, call: BackupCall) -> Json:
        self._require_standby(call)
        self._require_repository(call, "failed to expire backups")
        before = self._advanced(call.shard)
        after = _expired(before, call.fields.get("overrides") or {}, self._clock.now())
        self._repositories.replace(call.shard, after)
        kept = {backup.label for backup in after.backups}
        return answers.without_zeros(
            {"expiredBackupIds": [each.label for each in before.backups if each.label not in kept]}
        )

    def _require_standby(self, call: BackupCall) -> None:
        for name, value in (("database", call.shard.database), ("table_group", call.shard.table_group)):
            if not value:
                raise MultiadminError(answers.INVALID_ARGUMENT, f"{name} cannot be empty")
        _standby(call, answers.NOT_FOUND, "failed to find replica pooler")

    def _require_repository(self, call: BackupCall, action: str) -> None:
        if self._is_unreachable(call.shard):
            raise MultiadminError(answers.INTERNAL, f"{action}: pgbackrest repo 1 status: other")

    def _is_unreachable(self, shard: ShardKey) -> bool:
        return bool(self._faults(shard) & UNREADABLE_REPOSITORY)

    def _faults(self, shard: ShardKey) -> DataPlaneFaults:
        view = self._view(shard)
        return frozenset() if view is None else view.faults

    def _all_advanced(self) -> Iterable[Repository]:
        return [self._advanced(shard) for shard in self._repositories.shards()]

    def _advanced(self, shard: ShardKey) -> Repository:
        repository, view, now = self._repositories.get(shard), self._view(shard), self._clock.now()
        if view is not None:
            rule, error = view.state.rule, repositories.failure(view.faults)
            if not repository.backups and rule is not None and not error:
                lineage = view.state.lineage
                repository = repositories.with_first_backup(repository, rule.leader, lineage, now)
            repository = repositories.advance_backups(
                repository, view.faults, lambda server, pod: _runs(view, server, pod), now, view.timing.backup
            )
        self._repositories.replace(shard, repository)
        return repository


def _primary(call: BackupCall, code: int, action: str) -> ServerId:
    primaries = call.topology.primaries()
    for record in call.topology.poolers():
        server = ServerId(record.cell, record.name)
        if (record.database, record.table_group, record.shard) == call.shard and server in primaries:
            return server
    database, group, shard = call.shard
    message = f"serving leader pooler not found for database={database}, table_group={group}, shard={shard}"
    raise MultiadminError(code, f"{action}: {message}")


def _standby(call: BackupCall, code: int, action: str) -> ServerId:
    """The first server that serves and is not the primary. The real one takes any of the table group, whose only shard
    it is: its poolers refuse other names of shards."""
    primaries = call.topology.primaries()
    for record in call.topology.poolers():
        server = ServerId(record.cell, record.name)
        is_of_shard = (record.database, record.table_group, record.shard) == call.shard
        if is_of_shard and record.lifecycle != SHUTDOWN and server not in primaries:
            return server
    database, group, shard = call.shard
    message = f"serving follower pooler not found for database={database}, table_group={group}, shard={shard}"
    raise MultiadminError(code, f"{action}: {message}")


def _runs(view: ShardView, server: ServerId, pod: str) -> bool:
    pooler = view.poolers.get(server)
    return pooler is not None and pooler.state is PoolerState.RUNNING and pooler.uid == pod


def _expired(repository: Repository, options: Mapping[str, str], now: float) -> Repository:
    """Without options nothing is expired: the configuration of the poolers has no retention."""
    number = int(options.get("repo1-retention-full") or 0)
    if number and options.get("repo1-retention-full-type") == "time":
        return repositories.expire_before(repository, now - number * DAY_SECONDS)
    return repositories.expire(repository, number) if number else repository
