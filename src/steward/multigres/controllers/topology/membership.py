"""Whether the cohort of a shard still has a server whose pod is gone.

The record of such a server is deleted when its cohort has dropped it, and not before (`store_records.retire_pooler`).
Only an observation that began after the pod was missed proves that: an older one may be from before the server joined.
"""

from steward.kube.objects.kinds import Key
from steward.multigres import names
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.servers.assessment import newest_rule
from steward.multigres.servers.reports import ServerId
from steward.multigres.topology.store_records import PoolerRecord


class CohortMembership:
    def __init__(self, context: MultigresContext) -> None:
        self._context = context
        self._shards = context.store(context.rules.shard)
        self._missed: dict[Key, dict[ServerId, float]] = {}
        self._asked: dict[Key, set[ServerId]] = {}

    def begin_check(self, cluster: Key) -> None:
        self._asked[cluster] = set()

    def end_check(self, cluster: Key) -> None:
        """Forgets servers whose records are gone, or whose pods are back."""
        asked, missed = self._asked.pop(cluster, set()), self._missed.pop(cluster, {})
        if asked:
            self._missed[cluster] = {server: missed[server] for server in asked}

    def forget(self, cluster: Key) -> None:
        self._missed.pop(cluster, None)
        self._asked.pop(cluster, None)

    def is_member(self, cluster: Key, pooler: PoolerRecord) -> bool | None:
        """None while it is unknown."""
        server = ServerId(pooler.cell, pooler.name)
        missed = self._missed.setdefault(cluster, {}).setdefault(server, self._context.clock.monotonic())
        self._asked.setdefault(cluster, set()).add(server)
        path = names.ShardPath(cluster.name, pooler.database, pooler.table_group, pooler.shard)
        shard = Key(cluster.namespace, names.shard(path))
        if self._shards.get(shard) is None:
            return False
        observation = self._context.servers.get(shard)
        if observation is None or observation.at < missed:
            self._context.servers.request_check(shard, missed)
            return None
        rule = newest_rule(observation.reports.values())
        return None if rule is None else server in rule.cohort
