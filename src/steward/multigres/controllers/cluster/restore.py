"""Holds the creation of a cluster with `spec.restore` back until it can be restored, and reports that.

Only before the cluster has table groups, and before its condition says that the restore has begun: volumes exist from
then on, and a TableGroup that a user deletes must come back.
"""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from steward.kube.objects.conditions import FALSE, Condition, find_condition
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.multigres import names, reasons
from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.unset import or_default
from steward.multigres.backups.restore import RestoredShard, RestoreFacts, restore_problem
from steward.multigres.controllers.cluster.user_secrets import UserSecrets
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.objects.pool import CLAIM
from steward.multigres.resolution import defaults
from steward.multigres.resolution.repositories import (
    ObjectLocation,
    describe_repository,
    is_shared_volume,
    object_locations,
    shard_cells,
)
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, LocatedShard, ResolvedCluster, Templates
from steward.multigres.status.conditions import RESTORED, Stall, read_conditions
from steward.multigres.topology.desired_records import resolved_shard_path, shard_pods
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Plan, Requeue

RETRY_SECONDS = 10.0


class RestoreGuard:
    def __init__(self, context: MultigresContext) -> None:
        rules = context.rules
        self._clusters = context.store(rules.cluster)
        self._groups = context.store(rules.table_group)
        self._claims = context.store(rules.claim)
        self._backups = context.store(rules.backup)
        self._secrets = UserSecrets(context)

    async def stall(
        self, cluster: ClusterView, spec: MultigresClusterSpec, resolved: ResolvedCluster
    ) -> Stall | None:
        if spec.restore is UNSET or self._has_begun(cluster):
            return None
        problem = restore_problem(await self._facts(cluster, spec, resolved))
        return Stall(reasons.RESTORE_BLOCKED, f"spec.restore: {problem}") if problem else None

    def _has_begun(self, cluster: ClusterView) -> bool:
        written = _written(cluster)
        if written is not None and written.reason != reasons.RESTORE_BLOCKED:
            return True
        groups = self._groups.list(cluster.metadata.namespace)
        return any(each.metadata.labels.get(CLUSTER_LABEL) == cluster.metadata.name for each in groups)

    async def _facts(
        self, cluster: ClusterView, spec: MultigresClusterSpec, resolved: ResolvedCluster
    ) -> RestoreFacts:
        assert spec.restore is not UNSET
        namespace = cluster.metadata.namespace
        return RestoreFacts(
            spec.restore.source,
            tuple(_restored_shard(resolved, located) for located in resolved.shards()),
            tuple(self._backups.list(namespace)),
            frozenset(claim.metadata.name for claim in self._claims.list(namespace)),
            dict(self._users(cluster, resolved)),
            await self._missing_password(cluster, spec),
        )

    async def _missing_password(self, cluster: ClusterView, spec: MultigresClusterSpec) -> str:
        """A Secret that the spec names and that is missing is reported as such, and made later at will."""
        name = names.password_secret(cluster.metadata.name)
        if spec.postgres_password_secret_ref is not UNSET:
            name = spec.postgres_password_secret_ref.name
        return "" if await self._secrets.exists(Key(cluster.metadata.namespace, name)) else name

    def _users(self, cluster: ClusterView, resolved: ResolvedCluster) -> Iterator[tuple[str, str]]:
        own = {
            location: describe_repository(database.backup)
            for database in resolved.databases
            if (location := object_locations(resolved).get(database.name)) is not None
        }
        for other in self._clusters.list() if own else ():
            if key_of(other) == key_of(cluster):
                continue
            for location in _locations(other):
                if location in own:
                    yield own[location], f"{other.metadata.namespace}/{other.metadata.name}"


def restore_conditions(
    cluster: ClusterView, spec: MultigresClusterSpec, stall: Stall | None
) -> tuple[Condition, ...]:
    """Blocked, or begun; how it ends is known to the backups controller, when the servers serve."""
    if spec.restore is UNSET:
        return ()
    written, generation = _written(cluster), cluster.metadata.generation
    if stall is not None and stall.reason == reasons.RESTORE_BLOCKED:
        return (Condition(RESTORED, FALSE, reasons.RESTORE_BLOCKED, stall.message, generation),)
    if stall is not None or (written is not None and written.reason != reasons.RESTORE_BLOCKED):
        return ()
    message = "every server restores the newest backup of its repository"
    return (Condition(RESTORED, FALSE, reasons.RESTORING, message, generation),)


def restore_requeue(stall: Stall | None) -> Plan:
    """What is missing may appear in objects that are not watched."""
    is_blocked = stall is not None and stall.reason == reasons.RESTORE_BLOCKED
    return (Requeue(RETRY_SECONDS),) if is_blocked else ()


def _written(cluster: ClusterView) -> Condition | None:
    return find_condition(read_conditions(cluster.status.conditions), RESTORED)


def _restored_shard(resolved: ResolvedCluster, located: LocatedShard) -> RestoredShard:
    path, backup = resolved_shard_path(resolved, located), or_default(located.shard.backup, defaults.BACKUP)
    servers = frozenset(shard_pods(resolved, located))
    return RestoredShard(
        path,
        describe_repository(backup),
        servers,
        frozenset(f"{CLAIM}-{server}" for server in servers),
        () if backup.type == "s3" else tuple(_repository_claims(path, located, backup)),
    )


def _repository_claims(path: ShardPath, located: LocatedShard, backup: Backup) -> Iterator[frozenset[str]]:
    cells = [names.backup_claim(path, cell) for cell in shard_cells(located.pools)]
    if is_shared_volume(backup):
        yield frozenset([names.shared_backup_claim(path), *cells])
    else:
        yield from (frozenset([claim]) for claim in cells)


def _locations(cluster: ClusterView) -> Iterator[ObjectLocation]:
    try:
        spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
    except msgspec.ValidationError:
        return
    identity = ClusterIdentity(cluster.metadata.namespace, cluster.metadata.name)
    # Templates have no part in repositories.
    yield from object_locations(resolve(identity, spec, Templates({}, {}, {}))).values()
