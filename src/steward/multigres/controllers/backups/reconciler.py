"""The backups controller: makes the MultigresBackups of each shard, one after the other, and those of its schedule.

Its keys are Shards, not MultigresBackups: the data plane makes one backup of a shard at a time, and one worker at a
time has a key. A MultigresBackup of a shard that does not exist has the key that the Shard would have.
"""

from msgspec.structs import replace

from steward.kube.bounded_cache import LruCache
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.multiadmin.backups import Source
from steward.multigres import names
from steward.multigres.api.multigres_backup import MultigresBackupStatus
from steward.multigres.api.unset import or_default
from steward.multigres.backups import progress
from steward.multigres.backups.progress import Decision, JobAnswer, Question, StartAnswer
from steward.multigres.backups.queue import backup_path, backup_queue, taken_ids
from steward.multigres.backups.report import report_backup
from steward.multigres.cache_rules import BACKUP
from steward.multigres.controllers.backups.data_plane import (
    backups_of,
    list_repository,
    read_job,
    start_backup,
)
from steward.multigres.controllers.backups.maintenance import MaintenanceRequests
from steward.multigres.controllers.backups.repositories import Repositories, RestingShard, is_available
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.repository_claims import RepositoryClaims
from steward.multigres.objects.repository.host import backups_from_primary
from steward.multigres.resolution import defaults
from steward.multigres.resolution.checks.repositories import describe_repository
from steward.multigres.views import MultigresBackupView, ShardView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import any_of, own_spec, selected_fields
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.plan.executor import StepEffect
from steward.runtime.reconcile import DONE, RequeueAfter, Result

SHARDS = "shards"
AGAIN_SECONDS = 0.1
"""After a backup has ended: the next one, or a look at the repository."""
JOBS = 1000


class BackupReconciler:
    def __init__(self, context: MultigresContext, requests: MaintenanceRequests) -> None:
        rules = context.rules
        self.context = context
        self.shards = context.store(rules.shard)
        self.clusters = context.store(rules.cluster)
        self.backups = context.store(rules.backup)
        self.repositories = Repositories(context, requests)
        self.claims = RepositoryClaims(context)
        self.results = requests.results
        self.backups.add_index(SHARDS, lambda backup: [str(shard_key(backup))])
        self._jobs: LruCache[str, str] = LruCache(JOBS)
        """Jobs by MultigresBackup and request, for those whose status could not be written afterwards."""

    def controller(self) -> Controller:
        rules = self.context.rules
        watches = Watches(rules.backup, to=lambda backup: [shard_key(backup)], when=own_spec)
        shards = For(rules.shard, when=any_of(own_spec, selected_fields(is_available)))
        return Controller("backups", self, (shards, watches), channel=self.results)

    async def reconcile(self, key: Key) -> Result:
        shard, backups = self.shards.get(key), self._backups(key)
        queue = backup_queue(backups)
        if shard is None or shard.metadata.deletion_timestamp is not None:
            self.repositories.forget(key)
            return await self._report_missing(*queue.all)
        if queue.current is None:
            seconds = await self.repositories.care_for(RestingShard(shard, backups))
            return DONE if seconds is None else RequeueAfter(seconds)
        for backup in queue.waiting:
            await self._record(backup, progress.behind(backup.status, queue.current.metadata.name))
        decision = await self._advance(shard, queue.current)
        if decision.retry_after is not None:
            return RequeueAfter(decision.retry_after)
        self.repositories.mark_changed(key)
        return RequeueAfter(AGAIN_SECONDS)

    def _backups(self, shard: Key) -> list[MultigresBackupView]:
        found = self.backups.by_index(SHARDS, str(shard))
        return [each for each in found if each.metadata.deletion_timestamp is None]

    async def _report_missing(self, *backups: MultigresBackupView) -> Result:
        for backup in backups:
            path = backup_path(backup)
            cluster = self.clusters.get(Key(backup.metadata.namespace, path.cluster))
            shard = (
                f"shard {path.database}/{path.table_group}/{path.shard} of MultigresCluster {path.cluster}"
            )
            what = f"MultigresCluster {path.cluster}" if cluster is None else shard
            await self._record(backup, progress.without_shard(backup.status, what))
        return DONE

    async def _advance(self, shard: ShardView, backup: MultigresBackupView) -> Decision:
        if progress.question(backup.status) is Question.JOB:
            decision = await self._follow(backup)
        else:
            decision = await self._request(shard, backup)
        decision = _with_repository(decision, shard)
        await self._record(backup, decision)
        return decision

    async def _request(self, shard: ShardView, backup: MultigresBackupView) -> Decision:
        if job := self._unrecorded_job(backup):
            return progress.decide_started(backup.status, StartAnswer(job))
        data_plane = backups_of(self.context.multiadmin, backup.metadata.namespace, backup_path(backup))
        listing = await list_repository(data_plane)
        taken = taken_ids(self._backups(key_of(shard)), backup)
        decision = progress.decide_request(backup.status, listing, taken, self.context.clock.now())
        if not decision.starts:
            return decision
        if not await self._record(backup, decision):
            return Decision(decision.status)
        source: Source = "primary" if backups_from_primary(self.claims.inputs(shard)) else "standby"
        answer = await start_backup(data_plane, or_default(backup.spec.type, "full"), source)
        if answer.job:
            self._jobs.set(_request_id(backup, decision.status), answer.job)
        return progress.decide_started(decision.status, answer)

    def _unrecorded_job(self, backup: MultigresBackupView) -> str | None:
        """The job of a request of this process, if the status could not be written after it."""
        is_requested = or_default(backup.status.phase, progress.PENDING) == progress.REQUESTED
        return self._jobs.get(_request_id(backup, backup.status)) if is_requested else None

    async def _follow(self, backup: MultigresBackupView) -> Decision:
        data_plane = backups_of(self.context.multiadmin, backup.metadata.namespace, backup_path(backup))
        answer: JobAnswer = await read_job(data_plane, or_default(backup.status.job, ""))
        listing = await list_repository(data_plane) if progress.is_ended_job(answer) else None
        return progress.decide_job(backup.status, answer, listing, self.context.clock.now())

    async def _record(self, backup: MultigresBackupView, decision: Decision) -> bool:
        """Writes the status; False if the object was deleted meanwhile: then the data plane must not be asked."""
        ref = Ref(BACKUP, key_of(backup))
        live = self.backups.get(ref.key)
        if live is None or live.metadata.uid != backup.metadata.uid:
            return False
        plan = report_backup(ref, live, decision.status, self.context.now())
        result = await self.context.executor.execute(plan, ref)
        return all(step.effect is not StepEffect.GONE for step in result.steps)


def shard_key(backup: MultigresBackupView) -> Key:
    return Key(backup.metadata.namespace, names.shard(backup_path(backup)))


def _with_repository(decision: Decision, shard: ShardView) -> Decision:
    if decision.status.phase != progress.COMPLETED:
        return decision
    repository = describe_repository(or_default(shard.spec.backup, defaults.BACKUP))
    return decision._replace(status=replace(decision.status, repository=repository))


def _request_id(backup: MultigresBackupView, status: MultigresBackupStatus) -> str:
    return f"{backup.metadata.uid}/{or_default(status.attempts, 0)}"
