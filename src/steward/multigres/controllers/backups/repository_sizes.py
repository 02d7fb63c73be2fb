"""Asks the primary of a shard what its backups take in the repository, once for each change of the repository.

The size is part of the status: an operator that restarts asks nothing. If the primary does not answer, the size is
unknown, and it is asked again after ten minutes.
"""

from dataclasses import dataclass

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.multigres.api.shard import ShardBackupStatus
from steward.multigres.api.unset import or_default
from steward.multigres.backups.health import reported_size
from steward.multigres.backups.repository import RepositoryListing
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.primary_logins import PrimaryLogin, PrimaryLogins
from steward.multigres.views import ShardView

RETRY_SECONDS = 600.0


@dataclass
class _Answer:
    backups: tuple[str, ...]
    at: float
    size: int | None


class RepositorySizes:
    def __init__(self, context: MultigresContext) -> None:
        self._context = context
        self._logins = PrimaryLogins(context)
        self._answers: dict[Key, _Answer] = {}

    def forget(self, shard: Key) -> None:
        self._answers.pop(shard, None)

    async def read(self, shard: ShardView, listing: RepositoryListing) -> int | None:
        """None if it is unknown."""
        backups = tuple(each.backup_id for each in listing.complete)
        reported = reported_size(or_default(shard.status.backup, ShardBackupStatus()), listing)
        if reported is not None or not backups:
            return reported
        known, now = self._answers.get(key_of(shard)), self._context.clock.monotonic()
        if known is None or known.backups != backups or _is_due(known, now):
            login = await self._logins.read(shard)
            size = None if login is None else await _repository_bytes(login)
            known = self._answers[key_of(shard)] = _Answer(backups, now, size)
        return known.size


def _is_due(answer: _Answer, now: float) -> bool:
    return answer.size is None and now - answer.at >= RETRY_SECONDS


async def _repository_bytes(login: PrimaryLogin) -> int | None:
    # Imported on first use: the driver costs memory.
    from steward.postgres import repository_size
    from steward.postgres.sessions import PostgresFailure

    try:
        # A repository that pgBackRest cannot read has no backups in its answer, and is listed with some.
        return await repository_size.repository_bytes(*login) or None
    except PostgresFailure:
        return None
