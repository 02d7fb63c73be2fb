"""Carries a changed password of the superuser into Postgres, then publishes it.

The password that a user's Secret, or the operator's own, asks for is the desired one; the one in `{cluster}-app` is
published. While they differ, each shard's primary is asked: one that accepts the desired password is done, another gets
it with the published one. `{cluster}-app` changes only when all primaries accept the desired password. Nothing is
remembered: after a crash at any step the next process asks again.

Primaries are asked directly, not through a gateway: a gateway reaches the shard of one database, and logs queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.cluster.external_refs import ExternalReferences
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects import pool_containers
from steward.multigres.objects.metadata import CELL_LABEL, CLUSTER_LABEL, POOL_LABEL
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.resolution import defaults
from steward.multigres.status.password import PublishedPassword
from steward.multigres.status.pause import is_paused
from steward.multigres.views import ClusterView, ShardView
from steward.runtime.manager.connect_to import Redirect

if TYPE_CHECKING:
    from steward.postgres.role_password import PostgresAddress

PASSWORD_BYTES = 24


def cluster_of_password(secret: HasMetadata) -> list[Key]:
    """The cluster whose password is in a Secret that the operator made."""
    meta = secret.metadata
    name = meta.labels.get(CLUSTER_LABEL, "")
    return [Key(meta.namespace, name)] if meta.name == names.password_secret(name) else []


class PasswordRotation:
    def __init__(self, context: MultigresContext, references: ExternalReferences) -> None:
        self._context = context
        self._references = references
        self._shards = context.store(context.rules.shard)
        self._pods = context.store(context.rules.pod)
        self._redirect = Redirect(context.settings.connect_to)

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
        for shard in self._shards_of(cluster):
            found = await self._references.shard_password(cluster.metadata.namespace, shard.metadata.name)
            if found is not None:
                return found
        return token_urlsafe(PASSWORD_BYTES)

    async def _publish_again(self, cluster: ClusterView, desired: str) -> PublishedPassword:
        """For the first time, or after the Secret was deleted: then the desired password may be another one."""
        from steward.postgres.role_password import ServerUnreachable, accepts_password

        for shard in self._shards_of(cluster):
            try:
                is_valid = not shard.status.primary or await accepts_password(self._primary(shard), desired)
            except ServerUnreachable:
                is_valid = True
            if not is_valid:
                message = (
                    "Postgres does not accept the password of the cluster's Secret, and no other one is known"
                )
                return PublishedPassword(refusal=f"{message}; put the last password back into the Secret")
        return PublishedPassword(desired)

    async def _rotate(self, cluster: ClusterView, published: str, desired: str) -> PublishedPassword:
        shards = list(self._shards_of(cluster))
        missing = next((shard for shard in shards if not or_default(shard.status.primary, "")), None)
        if missing is not None or not shards:
            name = cluster.metadata.name if missing is None else missing.metadata.name
            return PublishedPassword(published, f"the changed password waits until {name} has a primary")
        # Imported on first use: the driver costs memory, and passwords change seldom.
        from steward.postgres.role_password import PasswordNotSet, set_password

        try:
            for shard in shards:
                await set_password(self._primary(shard), published, desired)
        except PasswordNotSet as error:
            return PublishedPassword(published, refusal=f"{error}; the published password is not changed")
        return PublishedPassword(desired)

    def _shards_of(self, cluster: ClusterView) -> Iterator[ShardView]:
        for shard in self._shards.list(cluster.metadata.namespace):
            is_part = shard.metadata.labels.get(CLUSTER_LABEL) == cluster.metadata.name
            if is_part and shard.metadata.deletion_timestamp is None:
                yield shard

    def _primary(self, shard: ShardView) -> PostgresAddress:
        from steward.postgres.role_password import PostgresAddress

        pod, namespace = or_default(shard.status.primary, ""), shard.metadata.namespace
        live = self._pods.get(Key(namespace, pod))
        labels = {} if live is None else live.metadata.labels
        service = names.pool_headless(
            shard_path(shard), labels.get(POOL_LABEL, ""), labels.get(CELL_LABEL, "")
        )
        host = f"{pod}.{service}.{namespace}.svc.cluster.local"
        address = self._redirect(host, pool_containers.POSTGRES.number)
        return PostgresAddress(*address, defaults.SUPERUSER, defaults.SYSTEM_DATABASE)
