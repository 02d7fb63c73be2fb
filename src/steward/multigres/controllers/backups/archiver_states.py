"""Asks the primary of each shard every ten minutes whether it fails to archive its WAL.

Between two backups nothing else reports that: multiadmin does not, and the exporter's figures reach Prometheus only.
"""

from dataclasses import dataclass

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.primary_logins import PrimaryLogin, PrimaryLogins
from steward.multigres.views import ShardView

REST_SECONDS = 590.0
"""A little less than the time between two looks at a repository."""


@dataclass
class _Answer:
    at: float
    wal: str


class ArchiverStates:
    def __init__(self, context: MultigresContext) -> None:
        self._clock = context.clock
        self._logins = PrimaryLogins(context)
        self._answers: dict[Key, _Answer] = {}

    def forget(self, shard: Key) -> None:
        self._answers.pop(shard, None)

    async def failing_wal(self, shard: ShardView) -> str:
        """The WAL file that cannot be archived; "" if there is none, or if the primary does not answer."""
        known, now = self._answers.get(key_of(shard)), self._clock.monotonic()
        if known is None or now - known.at >= REST_SECONDS:
            login = await self._logins.read(shard)
            wal = "" if login is None else await _failing_wal(login)
            known = self._answers[key_of(shard)] = _Answer(now, wal)
        return known.wal


async def _failing_wal(login: PrimaryLogin) -> str:
    # Imported on first use: the driver costs memory.
    from steward.postgres import archiver
    from steward.postgres.sessions import PostgresFailure

    try:
        return await archiver.failing_wal(*login)
    except PostgresFailure:
        return ""
