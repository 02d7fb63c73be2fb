"""Addresses of the Postgres servers of a cluster, for connections as the superuser.

Servers are addressed directly, not through a gateway: a gateway reaches the shard of one database, and logs queries.
"""

from collections.abc import Iterator

from steward.kube.objects.kinds import Key
from steward.multigres import names
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects import pool_containers
from steward.multigres.objects.metadata import CELL_LABEL, CLUSTER_LABEL, POOL_LABEL
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.resolution import defaults
from steward.multigres.views import ShardView
from steward.postgres.address import PostgresAddress
from steward.runtime.manager.connect_to import Redirect


class PostgresServers:
    def __init__(self, context: MultigresContext) -> None:
        self._shards = context.store(context.rules.shard)
        self._pods = context.store(context.rules.pod)
        self._redirect = Redirect(context.settings.connect_to)

    def shards(self, cluster: Key) -> Iterator[ShardView]:
        for shard in self._shards.list(cluster.namespace):
            is_part = shard.metadata.labels.get(CLUSTER_LABEL) == cluster.name
            if is_part and shard.metadata.deletion_timestamp is None:
                yield shard

    def primary(self, shard: ShardView) -> PostgresAddress:
        """Only of a shard that reports one."""
        return self.server(shard, or_default(shard.status.primary, ""))

    def server(self, shard: ShardView, pod: str) -> PostgresAddress:
        namespace = shard.metadata.namespace
        live = self._pods.get(Key(namespace, pod))
        labels = {} if live is None else live.metadata.labels
        service = names.pool_headless(
            shard_path(shard), labels.get(POOL_LABEL, ""), labels.get(CELL_LABEL, "")
        )
        host = f"{pod}.{service}.{namespace}.svc.cluster.local"
        address = self._redirect(host, pool_containers.POSTGRES.number)
        return PostgresAddress(*address, defaults.SUPERUSER, defaults.SYSTEM_DATABASE)
