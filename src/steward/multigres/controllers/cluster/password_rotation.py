"""Carries a changed password of the superuser into Postgres, then publishes it.

The password that a user's Secret, or the operator's own, asks for is the desired one; the one in `{cluster}-app` is
published. While they differ, each shard's primary is asked: one that accepts the desired password is done, another gets
it with the published one. `{cluster}-app` changes only when all primaries accept the desired password. Nothing is
remembered: after a crash at any step the next process asks again.
"""

from secrets import token_urlsafe

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.cluster.external_refs import ExternalReferences
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.postgres_servers import PostgresServers
from steward.multigres.objects.metadata import CLUSTER_LABEL, ROLE_LABEL
from steward.multigres.status.password import PublishedPassword
from steward.multigres.status.pause import is_paused
from steward.multigres.views import ClusterView

PASSWORD_BYTES = 24


def cluster_of_password(secret: HasMetadata) -> list[Key]:
    """The cluster of a Secret that the operator made and in which users change passwords."""
    meta = secret.metadata
    name = meta.labels.get(CLUSTER_LABEL, "")
    is_password = meta.name == names.password_secret(name) or ROLE_LABEL in meta.labels
    return [Key(meta.namespace, name)] if is_password else []


class PasswordRotation:
    def __init__(self, context: MultigresContext, references: ExternalReferences) -> None:
        self._context = context
        self._references = references
        self._servers = PostgresServers(context)

    async def decide(self, cluster: ClusterView, spec: MultigresClusterSpec) -> PublishedPassword:
        namespace, name = key_of(cluster)
        desired = await self._references.password(namespace, name, spec)
        published = await self._references.published_password(namespace, name)
        if desired is None or is_paused(cluster):
            return PublishedPassword(published)
        if desired == published:
            return PublishedPassword(desired)
        if published is None:
            return await self._publish_again(cluster, desired)
        return await self._rotate(cluster, published, desired)

    async def initial_password(self, cluster: ClusterView) -> str:
        """The password of servers that the Go operator has started, else a random one."""
        for shard in self._servers.shards(key_of(cluster)):
            found = await self._references.shard_password(cluster.metadata.namespace, shard.metadata.name)
            if found is not None:
                return found
        return token_urlsafe(PASSWORD_BYTES)

    async def _publish_again(self, cluster: ClusterView, desired: str) -> PublishedPassword:
        """For the first time, or after the Secret was deleted: then the desired password may be another one."""
        from steward.postgres.role_password import accepts_password
        from steward.postgres.sessions import ServerUnreachable

        for shard in self._servers.shards(key_of(cluster)):
            try:
                is_valid = not shard.status.primary or await accepts_password(
                    self._servers.primary(shard), desired
                )
            except ServerUnreachable:
                is_valid = True
            if not is_valid:
                message = (
                    "Postgres does not accept the password of the cluster's Secret, and no other one is known"
                )
                return PublishedPassword(refusal=f"{message}; put the last password back into the Secret")
        return PublishedPassword(desired)

    async def _rotate(self, cluster: ClusterView, published: str, desired: str) -> PublishedPassword:
        shards = list(self._servers.shards(key_of(cluster)))
        missing = next((shard for shard in shards if not or_default(shard.status.primary, "")), None)
        if missing is not None or not shards:
            name = cluster.metadata.name if missing is None else missing.metadata.name
            return PublishedPassword(published, f"the changed password waits until {name} has a primary")
        # Imported on first use: the driver costs memory, and passwords change seldom.
        from steward.postgres.role_password import set_password
        from steward.postgres.sessions import PostgresFailure

        try:
            for shard in shards:
                await set_password(self._servers.primary(shard), published, desired)
        except PostgresFailure as error:
            return PublishedPassword(published, refusal=f"{error}; the published password is not changed")
        return PublishedPassword(desired)
