"""Admission warnings for valid but inadvisable specs. Pure. Each names the field and a better choice."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from steward.multigres.api.cluster import MultigresClusterSpec, ShardEntry
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults
from steward.multigres.resolution.checks.bounded_lists import first_texts
from steward.multigres.resolution.checks.repositories import (
    READ_WRITE_MANY,
    is_served_volume,
    is_shared_volume,
)
from steward.multigres.resolution.durability import REQUIRED, counts_cells, server_count
from steward.multigres.resolution.resolved import LocatedShard, ResolvedCluster, managed_etcds
from steward.multigres.resolution.warnings.retention import retention_warnings
from steward.multigres.resolution.warnings.templates import deprecated_pool_fields

UPSTREAM_IMAGES = "ghcr.io/multigres/"
READ_ONLY = "readOnly"


def spec_warnings(spec: MultigresClusterSpec, resolved: ResolvedCluster) -> list[str]:
    warnings = [
        *_etcd_members(resolved),
        *retention_warnings(resolved, spec),
        *_skipped_placements(resolved),
        *_added_pools(resolved),
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
    for field, etcd in managed_etcds(resolved):
        replicas = or_default(etcd.replicas, or_default(defaults.ETCD.replicas, 0))
        if replicas == 1:
            yield f"{field}.replicas: one member has no redundancy: its loss stops {_users_of(field)}; use 3"
        elif replicas % 2 == 0:
            yield f"{field}.replicas: {replicas} members tolerate no more failures than {replicas - 1}"


def _users_of(field: str) -> str:
    return "the cell" if field.startswith("spec.cells") else "the cluster"


def _skipped_placements(resolved: ResolvedCluster) -> Iterator[str]:
    for skipped in resolved.skipped:
        yield f"{skipped.field}: the template names cell {skipped.cell!r}, which this cluster does not have; skipped"


def _added_pools(resolved: ResolvedCluster) -> Iterator[str]:
    for added in resolved.added_pools:
        existing = ", ".join(added.template_pools)
        yield (
            f"{added.field}: {added.template} has no pool {added.pool!r} (it has {existing}); this adds a pool,"
            " check the name"
        )


def _deprecated_fields(spec: MultigresClusterSpec) -> Iterator[str]:
    for field, entry in _shard_entries(spec):
        inline = entry.spec if entry.spec is not UNSET else entry.overrides
        for name, pool in ({} if inline is UNSET else or_default(inline.pools, {})).items():
            yield from deprecated_pool_fields(f"{field}.pools[{name}]", pool)


def _shard_entries(spec: MultigresClusterSpec) -> Iterator[tuple[str, ShardEntry]]:
    for database in or_default(spec.databases, []):
        for group in or_default(database.tablegroups, []):
            for shard in or_default(group.shards, []):
                yield f"spec.databases[{database.name}].tablegroups[{group.name}].shards[{shard.name}]", shard


def _read_only_shards(resolved: ResolvedCluster) -> Iterator[str]:
    for located in resolved.shards():
        names = [name for name, pool in located.pools.items() if pool.type == READ_ONLY]
        if names:
            yield (
                f"{located}: pool {names[0]} is {READ_ONLY}, which Multigres does not know yet: its servers confirm"
                " writes and may become primary"
            )


def _too_few_servers(resolved: ResolvedCluster) -> Iterator[str]:
    for located in resolved.shards():
        policy = located.database.durability_policy
        if 0 < server_count(located) < REQUIRED:
            yield f"{located}: one server cannot elect a primary under {policy}; use two or more"
        elif counts_cells(policy) and len(_cells(located)) < REQUIRED:
            yield f"{located}: {policy} needs servers in two cells"


def _cells(located: LocatedShard) -> set[str]:
    return {cell for pool in located.pools.values() for cell in or_default(pool.cells, [])}


def _filesystem_backups(resolved: ResolvedCluster) -> Iterator[str]:
    for located in resolved.shards():
        backup = or_default(located.shard.backup, defaults.BACKUP)
        # The built-in repository is nobody's choice: the Shard reports what it cannot do.
        if backup.type != "filesystem" or backup.filesystem == defaults.BACKUP.filesystem:
            continue
        if is_shared_volume(backup) or is_served_volume(backup):
            continue
        if len(_cells(located)) > 1:
            yield (
                f"{located}: with certificates of your own a filesystem repository stays in its cell, and servers that"
                " start from different repositories never elect a primary; give the volume accessModes:"
                " [ReadWriteMany], use s3, or leave pgbackrestTLS out"
            )
        elif _most_servers_in_a_cell(located) > 1:
            yield (
                f"{located}: with certificates of your own several servers mount one backup volume, which works on one"
                f" node only; give it accessModes: [{READ_WRITE_MANY}], use s3, or leave pgbackrestTLS out"
            )


def _most_servers_in_a_cell(located: LocatedShard) -> int:
    """All servers of a cell share one backup volume, whatever their pool."""
    servers: Counter[str] = Counter()
    for pool in located.pools.values():
        for cell in or_default(pool.cells, []):
            servers[cell] += or_default(pool.replicas_per_cell, 0)
    return max(servers.values(), default=0)


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
