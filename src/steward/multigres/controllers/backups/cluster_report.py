"""What a cluster reports about the backups of its shards: whether they are healthy, and what it was restored from."""

import msgspec

from steward.kube.objects.conditions import TRUE, Condition, find_condition
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.shard import ShardBackupStatus
from steward.multigres.api.unset import or_default
from steward.multigres.backups.health import BackupHealth, cluster_backups, cluster_health
from steward.multigres.backups.restore import restore_outcome
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import BACKUPS, StatusContribution
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.status.conditions import BACKUP_HEALTHY, RESTORED, read_conditions
from steward.multigres.views import ClusterView, ShardView


class ClusterReport:
    """Shards that are not asked now have what their status says: after a restart of the operator, too."""

    def __init__(self, context: MultigresContext) -> None:
        self.context = context
        self.shards = context.store(context.rules.shard)
        self.clusters = context.store(context.rules.cluster)

    def contribute(self, shard: ShardView, health: BackupHealth, backup: ShardBackupStatus) -> None:
        shards, name = self.shards_beside(shard), shard.metadata.name
        written = {each.metadata.name: _written_health(each) for each in shards}
        known = {other: found for other, found in written.items() if found is not None}
        statuses = {**{each.metadata.name: _written_status(each) for each in shards}, name: backup}
        restores = {each: _restored_from(status) for each, status in statuses.items()}
        conditions = (
            Condition(BACKUP_HEALTHY, *cluster_health({**known, name: health})),
            *self._restore_conditions(shard, restores),
        )
        fields = {"backup": msgspec.to_builtins(cluster_backups(statuses.values()))}
        ref = Ref(CLUSTER, self._cluster_key(shard))
        self.context.contributions.set(ref, BACKUPS, StatusContribution(conditions, fields))

    def shards_beside(self, shard: ShardView) -> list[ShardView]:
        """All shards of the cluster, this one included."""
        cluster = shard_path(shard).cluster
        found = self.shards.list(shard.metadata.namespace)
        return [each for each in found if each.metadata.labels.get(CLUSTER_LABEL) == cluster]

    def is_restored(self, shard: ShardView) -> bool:
        """Whether its cluster was made from backups."""
        cluster = self._cluster(shard)
        return cluster is not None and "restore" in cluster.spec

    def _restore_conditions(self, shard: ShardView, restores: dict[str, str | None]) -> tuple[Condition, ...]:
        """Shards that are added to a restored cluster begin without data, as they should."""
        cluster = self._cluster(shard)
        if cluster is None or "restore" not in cluster.spec:
            return ()
        written = find_condition(read_conditions(cluster.status.conditions), RESTORED)
        if written is not None and written.status == TRUE:
            return ()
        return (Condition(RESTORED, *restore_outcome(restores)),)

    def _cluster(self, shard: ShardView) -> ClusterView | None:
        return self.clusters.get(self._cluster_key(shard))

    def _cluster_key(self, shard: ShardView) -> Key:
        return Key(key_of(shard).namespace, shard_path(shard).cluster)


def _written_health(shard: ShardView) -> BackupHealth | None:
    conditions = or_default(shard.status.conditions, [])
    found = next((each for each in conditions if each.type == BACKUP_HEALTHY), None)
    return None if found is None else BackupHealth(found.status, found.reason, found.message)


def _written_status(shard: ShardView) -> ShardBackupStatus:
    return or_default(shard.status.backup, ShardBackupStatus())


def _restored_from(status: ShardBackupStatus) -> str | None:
    return None if status.restored_from is UNSET else status.restored_from
