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
from steward.multigres.controllers.postgres_access.postgres_servers import PostgresServers
from steward.multigres.controllers.postgres_access.user_secrets import UserSecrets
from steward.multigres.objects.shard_inputs import shard_inputs
from steward.multigres.views import ShardView
from steward.postgres.address import PostgresAddress

RETRY_SECONDS = 600.0


@dataclass
class _Answer:
    backups: tuple[str, ...]
    at: float
    size: int | None


class RepositorySizes:
    def __init__(self, context: MultigresContext) -> None:
        self._context = context
        self._servers = PostgresServers(context)
        self._secrets = UserSecrets(context)
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
            known = self._answers[key_of(shard)] = _Answer(backups, now, await self._measure(shard))
        return known.size

    async def _measure(self, shard: ShardView) -> int | None:
        inputs = shard_inputs(shard)
        secret = Key(shard.metadata.namespace, inputs.password_secret)
        # A new shard does not report its primary yet when its repository is read for the first time.
        primary = or_default(shard.status.primary, "") or self._context.servers.writable(key_of(shard))
        if not primary:
            return None
        password = await self._secrets.value(secret, inputs.password_key)
        if password is None:
            return None
        return await _repository_bytes(
            self._servers.server(shard, primary), password.decode(errors="replace")
        )


def _is_due(answer: _Answer, now: float) -> bool:
    return answer.size is None and now - answer.at >= RETRY_SECONDS


async def _repository_bytes(primary: PostgresAddress, password: str) -> int | None:
    # Imported on first use: the driver costs memory.
    from steward.postgres import repository_size
    from steward.postgres.sessions import PostgresFailure

    try:
        # A repository that pgBackRest cannot read has no backups in its answer, and is listed with some.
        return await repository_size.repository_bytes(primary, password) or None
    except PostgresFailure:
        return None
