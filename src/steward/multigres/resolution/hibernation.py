"""A cluster with `spec.hibernation`: which replicas are 0, in which order. Pure.

Gateways stop first, so that no client sees its server end; then orchestrators, which would appoint another primary when
the first server ends; then all servers at once, since none is to survive. The topology server stays: its records are
what servers and gateways read when they start again, and it costs little. Volumes are retained while the cluster
hibernates, also with `whenScaled: Delete`.
"""

from collections.abc import Iterable
from enum import IntEnum

from msgspec.structs import replace

from steward.multigres.api.compute import MultiOrch, Pool, PvcDeletionPolicy
from steward.multigres.api.tablegroup import ResolvedShard
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.inheritance import RETAIN
from steward.multigres.resolution.resolved import ResolvedCluster, ResolvedDatabase, ResolvedGroup


class HibernationStage(IntEnum):
    """The last components that are stopped; those of the stages before are stopped, too."""

    GATEWAYS = 1
    ORCHESTRATORS = 2
    SERVERS = 3


def hibernation_stage(running: Iterable[str], gateway: str, orchestrator: str) -> HibernationStage:
    """By the components of the pods that still run."""
    components = set(running)
    if gateway in components:
        return HibernationStage.GATEWAYS
    return HibernationStage.ORCHESTRATORS if orchestrator in components else HibernationStage.SERVERS


def hibernate(resolved: ResolvedCluster, stage: HibernationStage) -> ResolvedCluster:
    stops_all = stage is HibernationStage.SERVERS
    return resolved._replace(
        cells=tuple(cell._replace(gateway=replace(cell.gateway, replicas=0)) for cell in resolved.cells),
        databases=tuple(_database(database, stage) for database in resolved.databases),
        multiadmin=replace(resolved.multiadmin, replicas=0) if stops_all else resolved.multiadmin,
        multiadmin_web=replace(resolved.multiadmin_web, replicas=0) if stops_all else resolved.multiadmin_web,
    )


def _database(database: ResolvedDatabase, stage: HibernationStage) -> ResolvedDatabase:
    return database._replace(groups=tuple(_group(group, stage) for group in database.groups))


def _group(group: ResolvedGroup, stage: HibernationStage) -> ResolvedGroup:
    return group._replace(
        pvc_deletion_policy=_retained(group.pvc_deletion_policy),
        shards=tuple(_shard(shard, stage) for shard in group.shards),
    )


def _shard(shard: ResolvedShard, stage: HibernationStage) -> ResolvedShard:
    orchestrators = or_default(shard.multiorch, MultiOrch())
    if stage >= HibernationStage.ORCHESTRATORS:
        orchestrators = replace(orchestrators, replicas=0)
    return replace(
        shard,
        multiorch=orchestrators,
        pools={name: _pool(pool, stage) for name, pool in or_default(shard.pools, {}).items()},
        pvc_deletion_policy=_retained(or_default(shard.pvc_deletion_policy, RETAIN)),
    )


def _pool(pool: Pool, stage: HibernationStage) -> Pool:
    kept = replace(pool, pvc_deletion_policy=_retained(or_default(pool.pvc_deletion_policy, RETAIN)))
    return replace(kept, replicas_per_cell=0) if stage is HibernationStage.SERVERS else kept


def _retained(policy: PvcDeletionPolicy) -> PvcDeletionPolicy:
    return replace(policy, when_scaled="Retain")
