"""Holds the creation of a cluster with `spec.restore` back until it can be restored, and reports that.

Only before the cluster has table groups, and before its condition says that the restore has begun: volumes exist from
then on, and a TableGroup that a user deletes must come back.
"""

from msgspec import UNSET

from steward.kube.objects.conditions import FALSE, Condition, find_condition
from steward.kube.objects.kinds import Key
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.backups.restore import RestoreFacts, restore_problem
from steward.multigres.backups.restore_facts import password_secret, repository_users, restored_shards
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.user_secrets import UserSecrets
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import RESTORED, Stall, read_conditions
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
        namespace, name = cluster.metadata.namespace, cluster.metadata.name
        secret = password_secret(name, spec)
        return RestoreFacts(
            spec.restore.source,
            restored_shards(resolved),
            tuple(self._backups.list(namespace)),
            frozenset(claim.metadata.name for claim in self._claims.list(namespace)),
            repository_users(resolved, self._clusters.list()),
            "" if await self._secrets.exists(Key(namespace, secret)) else secret,
        )


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
