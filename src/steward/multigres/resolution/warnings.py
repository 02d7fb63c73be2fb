"""Admission warnings for valid but inadvisable specs. Pure. Each names the field and a better choice."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import MultigresClusterSpec, ShardEntry
from steward.multigres.api.compute import Pool
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults
from steward.multigres.resolution.bounded_lists import first_texts
from steward.multigres.resolution.resolved import LocatedShard, ResolvedCluster

UPSTREAM_IMAGES = "ghcr.io/multigres/"
READ_WRITE_MANY = "ReadWriteMany"
READ_ONLY = "readOnly"


def spec_warnings(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> list[str]:
    warnings = [
        *_etcd_members(resolved),
        *_deleted_volumes(spec),
        *_skipped_placements(resolved),
        *_deprecated_fields(spec),
        *_read_only_shards(resolved),
        *_too_few_servers(resolved),
        *_filesystem_backups(resolved),
        *_unsupported_sharding(resolved),
        *_load_balancer(spec),
    ]
    return first_texts(warnings, "warnings")


def deletion_warnings(options: Mapping[str, Any]) -> tuple[str, ...]:
    """`options` are the DeleteOptions of the request."""
    is_foreground = (
        options.get("propagationPolicy") == "Foreground" or options.get("orphanDependents") is False
    )
    if not is_foreground:
        return ()
    message = (
        "propagationPolicy Foreground: the API server deletes all components of the cluster at once, including etcd,"
        " without the operator's order; volumes still follow their policy. Background deletion keeps the order"
    )
    return (message,)


def _etcd_members(resolved: ResolvedCluster) -> Iterator[str]:
    etcd = resolved.topo.etcd
    replicas = 0 if etcd is None else or_default(etcd.replicas, 3)
    if replicas == 1:
        yield "spec.globalTopoServer.etcd.replicas: one member has no redundancy: its loss stops the cluster; use 3"
    elif replicas and replicas % 2 == 0:
        yield f"spec.globalTopoServer.etcd.replicas: {replicas} members tolerate no more failures than {replicas - 1}"


def _deleted_volumes(spec: MultigresClusterSpec) -> Iterator[str]:
    policy = spec.pvc_deletion_policy
    if policy is UNSET:
        return
    if policy.when_deleted == "Delete":
        yield "spec.pvcDeletionPolicy.whenDeleted: Delete loses all data when the cluster is deleted"
    if policy.when_scaled == "Delete":
        yield "spec.pvcDeletionPolicy.whenScaled: Delete loses the data of every server that is scaled down"


def _skipped_placements(resolved: ResolvedCluster) -> Iterator[str]:
    for skipped in resolved.skipped:
        yield f"{skipped.field}: the template names cell {skipped.cell!r}, which this cluster does not have; skipped"


def _deprecated_fields(spec: MultigresClusterSpec) -> Iterator[str]:
    for field, entry in _shard_entries(spec):
        inline = entry.spec if entry.spec is not UNSET else entry.overrides
        for name, pool in ({} if inline is UNSET else or_default(inline.pools, {})).items():
            yield from _deprecated_pool_fields(f"{field}.pools[{name}]", pool)


def _deprecated_pool_fields(field: str, pool: Pool) -> Iterator[str]:
    if pool.cell is not UNSET:
        yield f"{field}.cell: deprecated; write cells: [{pool.cell}]"
    if pool.replicas is not UNSET:
        yield f"{field}.replicas: deprecated; write replicasPerCell: {pool.replicas}"


def _shard_entries(spec: MultigresClusterSpec) -> Iterator[tuple[str, ShardEntry]]:
    for database in or_default(spec.databases, []):
        for group in or_default(database.tablegroups, []):
            for shard in or_default(group.shards, []):
                yield f"spec.databases[{database.name}].tablegroups[{group.name}].shards[{shard.name}]", shard


def _read_only_shards(resolved: ResolvedCluster) -> Iterator[str]:
    for located in resolved.shards():
        if located.pools and all(pool.type == READ_ONLY for pool in located.pools.values()):
            yield f"{located}: every pool is {READ_ONLY}, so that no server can become primary; make one readWrite"


def _too_few_servers(resolved: ResolvedCluster) -> Iterator[str]:
    for located in resolved.shards():
        policy = located.database.durability_policy
        if 0 < _servers(located) < 2:
            yield f"{located}: one server cannot elect a primary under {policy}; use two or more"
        elif policy.startswith("MULTI_CELL") and len(_cells(located)) < 2:
            yield f"{located}: {policy} needs servers in two cells"


def _servers(located: LocatedShard) -> int:
    return sum(
        or_default(pool.replicas_per_cell, 0) * len(or_default(pool.cells, []))
        for pool in located.pools.values()
    )


def _cells(located: LocatedShard) -> set[str]:
    return {cell for pool in located.pools.values() for cell in or_default(pool.cells, [])}


def _filesystem_backups(resolved: ResolvedCluster) -> Iterator[str]:
    for located in resolved.shards():
        backup = or_default(located.shard.backup, defaults.BACKUP)
        if backup.type != "filesystem":
            continue
        if len(_cells(located)) > 1:
            yield f"{located}: filesystem backups stay in their cell; use s3 for a shard in several cells"
        is_shared = any(or_default(pool.replicas_per_cell, 0) > 1 for pool in located.pools.values())
        if is_shared and READ_WRITE_MANY not in _access_modes(backup):
            yield f"{located}: several servers share a backup volume; it needs accessModes: [{READ_WRITE_MANY}]"


def _access_modes(backup: Backup) -> list[str]:
    if backup.filesystem is UNSET or backup.filesystem.storage is UNSET:
        return []
    return or_default(backup.filesystem.storage.access_modes, [])


def _unsupported_sharding(resolved: ResolvedCluster) -> Iterator[str]:
    if not or_default(resolved.images.multipooler, "").startswith(UPSTREAM_IMAGES):
        return
    for located in resolved.shards():
        if (located.group.name, located.shard.name) != (defaults.DEFAULT_TABLE_GROUP, defaults.DEFAULT_SHARD):
            yield f"{located}: the current images only support table group `default` with shard `0-inf`"


def _load_balancer(spec: MultigresClusterSpec) -> Iterator[str]:
    external = spec.external_gateway
    if external is not UNSET and external.enabled and external.external_ips is UNSET:
        yield "spec.externalGateway: without externalIPs the Service gets type LoadBalancer"
