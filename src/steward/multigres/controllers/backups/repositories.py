"""Looks at the repository of each shard at rest: schedules, retention, verification, and the shard's backup status.

The repository is listed when something may have changed and every ten minutes. Nothing is written as long as nothing
changes: the status has times and no ages.
"""

from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from steward.kube.objects.conditions import TRUE, Condition
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.timestamps import from_timestamp
from steward.multigres import reasons
from steward.multigres.api.backup import Backup
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.shard import ShardBackupStatus
from steward.multigres.api.unset import or_default
from steward.multigres.backups.health import (
    BackupFacts,
    Verification,
    assess_backups,
    backup_status,
    last_failure,
    stale_time,
)
from steward.multigres.backups.repository import RepositoryListing, newest_complete
from steward.multigres.backups.restore import restored_backup
from steward.multigres.backups.retention import expiry_options, pruned_backups
from steward.multigres.backups.schedule import (
    ScheduledShard,
    due_backup,
    next_time,
    scheduled_manifest,
    start_delay,
)
from steward.multigres.cache_rules import BACKUP, SHARD
from steward.multigres.controllers.backups.archiver_states import ArchiverStates
from steward.multigres.controllers.backups.cluster_report import ClusterReport
from steward.multigres.controllers.backups.data_plane import backups_of, list_repository
from steward.multigres.controllers.backups.maintenance import MaintenanceRequest, MaintenanceRequests
from steward.multigres.controllers.backups.repository_sizes import RepositorySizes
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import BACKUPS, StatusContribution
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.resolution import defaults
from steward.multigres.resolution.backup_schedule import schedule_problems, verify_line
from steward.multigres.status.conditions import AVAILABLE, BACKUP_HEALTHY
from steward.multigres.views import MultigresBackupView, ShardView
from steward.runtime.plan.steps import Create, Delete, Emit

REST_SECONDS = 600.0
RETRY_SECONDS = 60.0
SHORTEST_SECONDS = 1.0
EARLY_SECONDS = 2.0
"""Between two early looks at the repository of a shard that takes writes and does not report so yet."""
VERIFY = MaintenanceRequest({})


@dataclass
class _Listed:
    listing: RepositoryListing
    at: float


class RestingShard(NamedTuple):
    """A shard of which no backup is being made, and its MultigresBackups."""

    view: ShardView
    backups: list[MultigresBackupView]

    @property
    def key(self) -> Key:
        return key_of(self.view)

    @property
    def backup(self) -> Backup:
        found = or_default(self.view.spec.backup, defaults.BACKUP)
        # A schedule that cannot be read is a problem of the cluster's spec, and reported there.
        return found if not any(schedule_problems(found)) else Backup(type=found.type)


class Repositories:
    def __init__(self, context: MultigresContext, requests: MaintenanceRequests) -> None:
        self.context = context
        self.requests = requests
        self.clusters = ClusterReport(context)
        self.sizes = RepositorySizes(context)
        self.archivers = ArchiverStates(context)
        self._listed: dict[Key, _Listed] = {}

    def forget(self, shard: Key) -> None:
        self._listed.pop(shard, None)
        self.sizes.forget(shard)
        self.archivers.forget(shard)
        self.requests.forget(shard)

    def mark_changed(self, shard: Key) -> None:
        """The next look lists the repository again."""
        self._listed.pop(shard, None)

    async def care_for(self, shard: RestingShard) -> float | None:
        """Seconds until the next look; None while the shard does not serve: its status triggers the next look."""
        if not is_available(shard.view):
            return await self._report_first_backup(shard)
        listing, now = await self._listing(shard), self.context.clock.now()
        if await self._create_scheduled(shard, listing, now):
            return SHORTEST_SECONDS
        await self._prune(shard, listing)
        self._request_maintenance(shard, listing, now)
        await self._contribute(shard, listing, now)
        return self._pause(shard, listing, now)

    async def _report_first_backup(self, shard: RestingShard) -> float | None:
        """A backup that exists before the shard reports that it serves becomes part of that status. A look after it
        would be followed by a second status of the shard and of the cluster. That there is no backup yet is not
        reported so early: the data plane makes the first one at this time."""
        if not self.context.servers.writable(shard.key):
            return None
        if self.context.contributions.has(Ref(SHARD, shard.key), BACKUPS):
            return None
        listing = await self._listing(shard)
        if listing.error or not listing.complete:
            self.mark_changed(shard.key)
            return EARLY_SECONDS
        await self._contribute(shard, listing, self.context.clock.now())
        return None

    async def _listing(self, shard: RestingShard) -> RepositoryListing:
        known, now = self._listed.get(shard.key), self.context.clock.monotonic()
        is_recent = known is not None and now - known.at < REST_SECONDS and not known.listing.error
        if known is not None and is_recent and self._due(shard, known.listing) is None:
            return known.listing
        path = shard_path(shard.view)
        listing = await list_repository(backups_of(self.context.multiadmin, shard.key.namespace, path))
        self._listed[shard.key] = _Listed(listing, now)
        return listing

    def _due(self, shard: RestingShard, listing: RepositoryListing) -> object:
        existing = {each.metadata.name for each in shard.backups}
        now = self.context.clock.now()
        return due_backup(self._scheduled_shard(shard), shard.backup, listing, existing, now)

    async def _create_scheduled(self, shard: RestingShard, listing: RepositoryListing, now: float) -> bool:
        if listing.error:
            return False
        place = self._scheduled_shard(shard)
        existing = {each.metadata.name for each in shard.backups}
        due = due_backup(place, shard.backup, listing, existing, now)
        if due is None:
            return False
        message = f"the schedule asks for a {due.type} backup: MultigresBackup {due.name}"
        event = Emit(Ref(SHARD, shard.key), reasons.BACKUP_SCHEDULED, message)
        plan = (Create(scheduled_manifest(place, due)), event)
        await self.context.executor.execute(plan, Ref(SHARD, shard.key))
        return True

    def _scheduled_shard(self, shard: RestingShard) -> ScheduledShard:
        path, meta = shard_path(shard.view), shard.view.metadata
        others = [each.metadata.name for each in self.clusters.shards_beside(shard.view)]
        created = from_timestamp(meta.creation_timestamp or "1970-01-01T00:00:00Z")
        return ScheduledShard(path, meta.namespace, created, start_delay(meta.name, others))

    async def _prune(self, shard: RestingShard, listing: RepositoryListing) -> None:
        steps = tuple(
            Delete(Ref(BACKUP, key_of(each.backup)), each.backup.metadata.uid, each.reason)
            for each in pruned_backups(shard.backups, listing)
        )
        if steps:
            await self.context.executor.execute(steps, Ref(SHARD, shard.key))

    def _request_maintenance(self, shard: RestingShard, listing: RepositoryListing, now: float) -> None:
        if listing.error or not listing.complete:
            return
        if options := expiry_options(shard.backup, listing, now):
            self.requests.request(shard.key, MaintenanceRequest(options))
            self.mark_changed(shard.key)
        elif self._is_verification_due(shard, now):
            self.requests.request(shard.key, VERIFY)

    def _is_verification_due(self, shard: RestingShard, now: float) -> bool:
        line = verify_line(shard.backup)
        at = None if line is None else line.last_before(now)
        verified = self._verification(shard).at or shard.view.metadata.creation_timestamp
        return at is not None and at > from_timestamp(verified or "1970-01-01T00:00:00Z")

    def _verification(self, shard: RestingShard) -> Verification:
        known = self.requests.verifications.get(shard.key)
        if known is not None:
            return known
        written = or_default(shard.view.status.backup, ShardBackupStatus())
        return Verification(or_default(written.verified_at, ""), or_default(written.verification_error, ""))

    async def _contribute(self, shard: RestingShard, listing: RepositoryListing, now: float) -> None:
        restored = self._restored_from(shard, listing)
        previous = or_default(shard.view.status.backup, ShardBackupStatus())
        facts = BackupFacts(
            shard.backup,
            listing,
            last_failure(shard.backups),
            self._verification(shard),
            or_default(previous.backups, 0),
            restored,
            await self.sizes.read(shard.view, listing),
            await self.archivers.failing_wal(shard.view),
        )
        health = assess_backups(facts, now)
        condition = Condition(BACKUP_HEALTHY, *health, shard.view.metadata.generation)
        upcoming = next_time(self._scheduled_shard(shard), shard.backup, now)
        status = backup_status(previous, facts, upcoming)
        contribution = StatusContribution((condition,), {"backup": msgspec.to_builtins(status)})
        self.context.contributions.set(Ref(SHARD, shard.key), BACKUPS, contribution)
        self.clusters.contribute(shard.view, health, status)

    def _restored_from(self, shard: RestingShard, listing: RepositoryListing) -> str | None:
        """Found once, when the shard serves for the first time: the backup may expire later."""
        written = or_default(shard.view.status.backup, ShardBackupStatus()).restored_from
        if written is not UNSET:
            return written
        if listing.error or not self.clusters.is_restored(shard.view):
            return None
        return restored_backup(listing, self._scheduled_shard(shard).created_at)

    def _pause(self, shard: RestingShard, listing: RepositoryListing, now: float) -> float:
        if listing.error:
            return RETRY_SECONDS
        line = verify_line(shard.backup)
        times = (
            next_time(self._scheduled_shard(shard), shard.backup, now),
            stale_time(shard.backup, newest_complete(listing.complete)),
            None if line is None else line.next_after(now),
            now + REST_SECONDS,
        )
        return max(SHORTEST_SECONDS, min(each for each in times if each is not None and each > now) - now)


def is_available(shard: ShardView) -> bool:
    return any(
        each.type == AVAILABLE and each.status == TRUE for each in or_default(shard.status.conditions, [])
    )
