"""Warnings about volume policies that delete data, at whatever level they begin. Pure.

Policies inherit from level to level, so only the level at which `Delete` begins is named: a cluster that deletes all
its volumes gets one warning, not one for each pool.
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.compute import PvcDeletionPolicy
from steward.multigres.api.scalars import Unset
from steward.multigres.api.topo import Etcd, GlobalTopoServer
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.inheritance import RETAIN, inherited_policy
from steward.multigres.resolution.resolved import LocatedShard, ResolvedCluster

DELETE = "Delete"


class PolicyLevel(NamedTuple):
    """One level, and the policy that it would have without its own."""

    field: str
    subject: str
    policy: PvcDeletionPolicy | Unset
    inherited: PvcDeletionPolicy | Unset = RETAIN


def retention_warnings(resolved: ResolvedCluster, spec: MultigresClusterSpec) -> Iterator[str]:
    for level in _levels(resolved, spec):
        yield from level_warnings(level)


def level_warnings(level: PolicyLevel) -> Iterator[str]:
    policy, inherited = or_default(level.policy, RETAIN), or_default(level.inherited, RETAIN)
    if policy.when_deleted == DELETE != inherited.when_deleted:
        yield f"{level.field}.whenDeleted: Delete loses all data when the {level.subject} is deleted"
    if policy.when_scaled == DELETE != inherited.when_scaled:
        yield f"{level.field}.whenScaled: Delete loses the data of every server that is scaled down"


def _levels(resolved: ResolvedCluster, spec: MultigresClusterSpec) -> Iterator[PolicyLevel]:
    cluster = spec.pvc_deletion_policy
    yield PolicyLevel("spec.pvcDeletionPolicy", "cluster", cluster)
    if resolved.topo.etcd is not None:
        yield from _global_topo_levels(resolved.topo.etcd, spec)
    yield from _local_topo_levels(resolved, cluster)
    for database in resolved.databases:
        for group in database.groups:
            field = f"spec.databases[{database.name}].tablegroups[{group.name}].pvcDeletionPolicy"
            yield PolicyLevel(field, "table group", group.pvc_deletion_policy, cluster)
    for located in resolved.shards():
        yield from _shard_levels(located)


def _global_topo_levels(etcd: Etcd, spec: MultigresClusterSpec) -> Iterator[PolicyLevel]:
    written = or_default(spec.global_topo_server, GlobalTopoServer()).pvc_deletion_policy
    cluster, field = spec.pvc_deletion_policy, "spec.globalTopoServer"
    server = inherited_policy(written, cluster)
    yield PolicyLevel(f"{field}.pvcDeletionPolicy", "topology server", server, cluster)
    yield PolicyLevel(f"{field}.etcd.pvcDeletionPolicy", "topology server", etcd.pvc_deletion_policy, server)


def _local_topo_levels(
    resolved: ResolvedCluster, cluster: PvcDeletionPolicy | Unset
) -> Iterator[PolicyLevel]:
    for index, cell in enumerate(resolved.cells):
        if cell.local_topo is not None and cell.local_topo.etcd is not UNSET:
            field = f"spec.cells[{index}].spec.localTopoServer.etcd.pvcDeletionPolicy"
            yield PolicyLevel(field, "topology server", cell.local_topo.etcd.pvc_deletion_policy, cluster)


def _shard_levels(located: LocatedShard) -> Iterator[PolicyLevel]:
    policy = located.shard.pvc_deletion_policy
    field = f"{located.field}.pvcDeletionPolicy"
    yield PolicyLevel(field, "shard", policy, located.group.pvc_deletion_policy)
    for name, pool in located.pools.items():
        field = f"{located.field}.pools[{name}].pvcDeletionPolicy"
        yield PolicyLevel(field, "pool", pool.pvc_deletion_policy, policy)
