"""How the superuser reaches the primary of a shard."""

from typing import NamedTuple

from steward.kube.objects.meta import key_of
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.postgres_servers import PostgresServers
from steward.multigres.controllers.postgres_access.user_secrets import UserSecrets
from steward.multigres.views import ShardView
from steward.postgres.address import PostgresAddress


class PrimaryLogin(NamedTuple):
    address: PostgresAddress
    password: str

    def __repr__(self) -> str:
        return f"PrimaryLogin({self.address.host})"


class PrimaryLogins:
    def __init__(self, context: MultigresContext) -> None:
        self._known = context.servers
        self._servers = PostgresServers(context)
        self._secrets = UserSecrets(context)

    async def read(self, shard: ShardView) -> PrimaryLogin | None:
        """None if no primary is known, or if the password is missing. A new shard whose primary takes writes does not
        report it yet."""
        primary = or_default(shard.status.primary, "") or self._known.writable(key_of(shard))
        if not primary:
            return None
        password = await self._secrets.superuser_password(shard)
        return None if password is None else PrimaryLogin(self._servers.server(shard, primary), password)
