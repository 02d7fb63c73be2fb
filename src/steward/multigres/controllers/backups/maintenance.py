"""The backup maintenance controller: expires and verifies the repositories of shards, as the backups controller asks.

Both take minutes, and an hour for a large repository: the worker of a shard must not wait for them. One at a time for
each cluster, because a call occupies one of the few connections to its multiadmin. Nothing is kept over a restart: the
backups controller asks again.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.multiadmin.errors import INTERNAL, MultiadminError, RequestRejected, names_dead_connection
from steward.multigres import reasons
from steward.multigres.backups.health import Verification
from steward.multigres.cache_rules import SHARD
from steward.multigres.controllers.backups.data_plane import backups_of, describe_error
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.views import ShardView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.triggers import Channel, For
from steward.runtime.plan.steps import Emit, EventType
from steward.runtime.reconcile import DONE, RequeueAfter, Result

WORKERS = 4
BUSY_SECONDS = 10.0


class MaintenanceRequest(NamedTuple):
    """An expiry with these options of pgBackRest, or a verification."""

    options: dict[str, str]

    @property
    def is_verification(self) -> bool:
        return not self.options


@dataclass
class MaintenanceRequests:
    """What is asked for, and the results of verifications, by Shard."""

    pending: dict[Key, MaintenanceRequest] = field(default_factory=dict)
    verifications: dict[Key, Verification] = field(default_factory=dict)
    requests: Channel = field(default_factory=Channel)
    results: Channel = field(default_factory=Channel)
    """The Shards whose repository the backups controller looks at again."""

    def request(self, shard: Key, request: MaintenanceRequest) -> None:
        if shard not in self.pending:
            self.pending[shard] = request
            self.requests.enqueue(shard)

    def forget(self, shard: Key) -> None:
        self.pending.pop(shard, None)
        self.verifications.pop(shard, None)


class BackupMaintenanceReconciler:
    def __init__(self, context: MultigresContext, requests: MaintenanceRequests) -> None:
        self.context = context
        self.requests = requests
        self.shards = context.store(context.rules.shard)
        self._busy: set[tuple[str, str]] = set()

    def controller(self) -> Controller:
        # Only requests trigger it: a change of a Shard is none.
        for_shards = For(self.context.rules.shard, when=lambda change: False)
        return Controller(
            "backup-maintenance", self, (for_shards,), workers=WORKERS, channel=self.requests.requests
        )

    async def reconcile(self, key: Key) -> Result:
        request, shard = self.requests.pending.get(key), self.shards.get(key)
        if request is None or shard is None:
            self.requests.pending.pop(key, None)
            return DONE
        cluster = (key.namespace, shard_path(shard).cluster)
        if cluster in self._busy:
            return RequeueAfter(BUSY_SECONDS)
        self._busy.add(cluster)
        try:
            await (self._verify(shard) if request.is_verification else self._expire(shard, request))
        finally:
            self._busy.discard(cluster)
            self.requests.pending.pop(key, None)
        self.requests.results.enqueue(key)
        return DONE

    async def _verify(self, shard: ShardView) -> None:
        """What is no result, because the data plane could not be asked, is asked for again later."""
        at, key = self.context.now(), key_of(shard)
        data_plane = backups_of(self.context.multiadmin, key.namespace, shard_path(shard))
        try:
            await data_plane.verify()
            self.requests.verifications[key] = Verification(at)
        except RequestRejected as error:
            if error.code == INTERNAL and not names_dead_connection(error.sentence):
                self.requests.verifications[key] = Verification(at, describe_error(error))
        except MultiadminError:
            return

    async def _expire(self, shard: ShardView, request: MaintenanceRequest) -> None:
        data_plane = backups_of(self.context.multiadmin, shard.metadata.namespace, shard_path(shard))
        try:
            expired = await data_plane.expire(**request.options)
        except MultiadminError as error:
            message = (
                f"backups that the retention no longer keeps could not be deleted: {describe_error(error)}"
            )
            await self._emit(shard, reasons.RETENTION_FAILED, message, EventType.WARNING)
            return
        if expired:
            message = f"deleted from the repository, as the retention asks: {', '.join(sorted(expired)[:20])}"
            await self._emit(shard, reasons.BACKUPS_EXPIRED, message, EventType.NORMAL)

    async def _emit(self, shard: ShardView, reason: str, message: str, kind: EventType) -> None:
        ref = Ref(SHARD, key_of(shard))
        await self.context.executor.execute((Emit(ref, reason, message, kind),), ref)
