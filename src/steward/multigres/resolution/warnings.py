"""What a cluster may ask for and had better not. Pure. A warning names the field and what would be better."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import MultigresClusterSpec, ShardEntry
from steward.multigres.api.compute import Pool
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import ResolvedCluster, ShardInPlace

KNOWN_IMAGES = "ghcr.io/multigres/"
MANY_NODES = "ReadWriteMany"
READ_ONLY = "readOnly"


def advice(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> list[str]:
    return [
        *_few_members(resolved),
        *_lost_volumes(spec),
        *_skipped(resolved),
        *_spellings(spec),
        *_leaderless(resolved),
        *_durability(resolved),
        *_shared_backups(resolved),
        *_unknown_to_the_data_plane(resolved),
        *_exposure(spec),
    ]


def deletion_advice(options: Mapping[str, Any]) -> tuple[str, ...]:
    """`options` are the DeleteOptions of the request."""
    is_foreground = (
        options.get("propagationPolicy") == "Foreground" or options.get("orphanDependents") is False
    )
    if not is_foreground:
        return ()
    told = (
        "propagationPolicy Foreground: the server deletes all parts of the cluster at once, etcd among them"
    )
    return (
        f"{told}, and no order holds; volumes still follow their policy. Background deletion keeps the order",
    )


def _few_members(resolved: ResolvedCluster) -> Iterator[str]:
    etcd = resolved.topo.etcd
    replicas = 0 if etcd is None else given(etcd.replicas, 3)
    if replicas == 1:
        yield "spec.globalTopoServer.etcd.replicas: one member is no quorum: its loss stops the cluster; use 3"
    elif replicas and replicas % 2 == 0:
        yield f"spec.globalTopoServer.etcd.replicas: {replicas} members survive no more losses than {replicas - 1}"


def _lost_volumes(spec: MultigresClusterSpec) -> Iterator[str]:
    policy = spec.pvc_deletion_policy
    if policy is UNSET:
        return
    if policy.when_deleted == "Delete":
        yield "spec.pvcDeletionPolicy.whenDeleted: Delete loses all data when the cluster is deleted"
    if policy.when_scaled == "Delete":
        yield "spec.pvcDeletionPolicy.whenScaled: Delete loses the data of every server that is scaled away"


def _skipped(resolved: ResolvedCluster) -> Iterator[str]:
    for skipped in resolved.skipped:
        yield f"{skipped.field}: the template asks for cell {skipped.cell!r}, which this cluster lacks; it is left out"


def _spellings(spec: MultigresClusterSpec) -> Iterator[str]:
    for field, entry in _shard_entries(spec):
        own = entry.spec if entry.spec is not UNSET else entry.overrides
        for name, pool in ({} if own is UNSET else given(own.pools, {})).items():
            yield from _old(f"{field}.pools[{name}]", pool)


def _old(field: str, pool: Pool) -> Iterator[str]:
    if pool.cell is not UNSET:
        yield f"{field}.cell: old spelling; write cells: [{pool.cell}]"
    if pool.replicas is not UNSET:
        yield f"{field}.replicas: old spelling; write replicasPerCell: {pool.replicas}"


def _shard_entries(spec: MultigresClusterSpec) -> Iterator[tuple[str, ShardEntry]]:
    for database in given(spec.databases, []):
        for group in given(database.tablegroups, []):
            for shard in given(group.shards, []):
                yield f"spec.databases[{database.name}].tablegroups[{group.name}].shards[{shard.name}]", shard


def _leaderless(resolved: ResolvedCluster) -> Iterator[str]:
    for known in resolved.shards():
        if known.pools and all(pool.type == READ_ONLY for pool in known.pools.values()):
            yield f"{known}: every pool is {READ_ONLY}, so that no server can lead; make one readWrite"


def _durability(resolved: ResolvedCluster) -> Iterator[str]:
    for known in resolved.shards():
        policy = known.database.durability_policy
        if 0 < _servers(known) < 2:
            yield f"{known}: one server cannot elect a primary under {policy}; use two or more"
        elif policy.startswith("MULTI_CELL") and len(_cells(known)) < 2:
            yield f"{known}: {policy} needs servers in two cells"


def _servers(known: ShardInPlace) -> int:
    return sum(given(pool.replicas_per_cell, 0) * len(given(pool.cells, [])) for pool in known.pools.values())


def _cells(known: ShardInPlace) -> set[str]:
    return {cell for pool in known.pools.values() for cell in given(pool.cells, [])}


def _shared_backups(resolved: ResolvedCluster) -> Iterator[str]:
    for known in resolved.shards():
        backup = given(known.shard.backup, defaults.BACKUP)
        if backup.type != "filesystem":
            continue
        if len(_cells(known)) > 1:
            yield f"{known}: filesystem backups stay in their cell; use s3 for a shard in several cells"
        crowded = any(given(pool.replicas_per_cell, 0) > 1 for pool in known.pools.values())
        if crowded and MANY_NODES not in _access_modes(backup):
            yield f"{known}: several servers share a backup volume; it needs accessModes: [{MANY_NODES}]"


def _access_modes(backup: Backup) -> list[str]:
    if backup.filesystem is UNSET or backup.filesystem.storage is UNSET:
        return []
    return given(backup.filesystem.storage.access_modes, [])


def _unknown_to_the_data_plane(resolved: ResolvedCluster) -> Iterator[str]:
    if not given(resolved.images.multipooler, "").startswith(KNOWN_IMAGES):
        return
    for known in resolved.shards():
        if (known.group.name, known.shard.name) != (defaults.DEFAULT_TABLE_GROUP, defaults.DEFAULT_SHARD):
            yield f"{known}: today's images serve only table group `default` with shard `0-inf`"


def _exposure(spec: MultigresClusterSpec) -> Iterator[str]:
    external = spec.external_gateway
    if external is not UNSET and external.enabled and external.external_ips is UNSET:
        yield "spec.externalGateway: without externalIPs a load balancer is asked of the cloud"
