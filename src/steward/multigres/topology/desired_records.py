"""Records that a cluster needs in the topology server. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.cell import CellSpec, CellTopoServer
from steward.multigres.api.topo import Etcd, TopoReference
from steward.multigres.api.unset import or_default
from steward.multigres.names import ShardPath
from steward.multigres.resolution import defaults
from steward.multigres.resolution.resolved import ClusterIdentity, LocatedShard, ResolvedCell, ResolvedCluster
from steward.multigres.topology.store_records import (
    CellRecord,
    DatabaseRecord,
    PoolerRecord,
    cell_key,
    database_key,
    encode_cell,
    encode_database,
    find_primary,
)


def desired_records(cluster: ResolvedCluster) -> dict[str, bytes]:
    root = cluster.topo.reference.root_path
    registered = cluster.cells if cluster.topology.register_cell else ()
    cells = {cell_key(root, cell.name): encode_cell(cell_record(cluster, cell)) for cell in registered}
    databases = {
        database_key(root, database.name): encode_database(
            DatabaseRecord(
                database.name,
                database_cells(cluster, database.name),
                database.backup,
                database.durability_policy,
            )
        )
        for database in cluster.databases
    }
    return {**cells, **databases}


def cell_record(cluster: ResolvedCluster, cell: ResolvedCell) -> CellRecord:
    reference = cell_reference(cluster, cell)
    return CellRecord(cell.name, tuple(reference.address.split(",")), reference.root_path)


def cell_reference(cluster: ResolvedCluster, cell: ResolvedCell) -> TopoReference:
    """The topology server with the cell's records: its own one if it has one, otherwise the global one."""
    if cell.local_topo is None:
        return cluster.topo.reference
    identity, etcd, external = cluster.identity, cell.local_topo.etcd, cell.local_topo.external
    if external is not UNSET:
        return TopoReference(
            address=",".join(external.endpoints),
            root_path=or_default(
                external.root_path, f"/multigres/{identity.namespace}/{identity.name}/{cell.name}"
            ),
            implementation="etcd",
            ca_secret=external.ca_secret,
            client_cert_secret=external.client_cert_secret,
        )
    return _local_reference(identity, cell.name, or_default(etcd, Etcd()))


def existing_cell_reference(identity: ClusterIdentity, cell: CellSpec) -> TopoReference | None:
    """The own topology server of a cell that exists, desired or not; None if it uses the global one."""
    server = or_default(cell.topo_server, CellTopoServer())
    if server.external is not UNSET:
        return server.external
    return None if server.etcd is UNSET else _local_reference(identity, cell.name, server.etcd)


def _local_reference(identity: ClusterIdentity, cell: str, etcd: Etcd) -> TopoReference:
    host = f"{names.local_topo(names.cell(identity.name, cell))}.{identity.namespace}.svc"
    return TopoReference(
        address=f"{host}:{defaults.ETCD_CLIENT_PORT}",
        root_path=or_default(etcd.root_path, f"/multigres/{cell}"),
        implementation="etcd",
    )


def local_server_name(cluster: ResolvedCluster, cell: ResolvedCell) -> str:
    """Name of the TopoServer that the operator runs for this cell; empty if there is none."""
    if cell.local_topo is None or cell.local_topo.etcd is UNSET:
        return ""
    return names.local_topo(names.cell(cluster.identity.name, cell.name))


def database_cells(cluster: ResolvedCluster, database: str) -> tuple[str, ...]:
    """The cells in which a database has servers."""
    used = {
        cell
        for located in cluster.shards()
        if located.database.name == database
        for pool in located.pools.values()
        for cell in or_default(pool.cells, [])
    }
    return tuple(sorted(used))


def expected_pods(cluster: ResolvedCluster) -> set[str]:
    """Names of all pods that the pools of the cluster should have, including those that are restarting."""
    return {pod for located in cluster.shards() for pod in shard_pods(cluster, located)}


def shard_pods(cluster: ResolvedCluster, located: LocatedShard) -> Iterable[str]:
    """Names of the pods that the pools of a shard should have."""
    path = resolved_shard_path(cluster, located)
    for name, pool in located.pools.items():
        for cell in or_default(pool.cells, []):
            replicas = or_default(pool.replicas_per_cell, defaults.POOL_REPLICAS)
            for ordinal in range(replicas):
                yield f"{names.pool(path, name, cell)}-{ordinal}"


def resolved_shard_path(cluster: ResolvedCluster, located: LocatedShard) -> ShardPath:
    return ShardPath(cluster.identity.name, located.database.name, located.group.name, located.shard.name)


def poolers_by_shard(
    cluster: ResolvedCluster, poolers: Iterable[PoolerRecord]
) -> dict[str, list[PoolerRecord]]:
    """Poolers by name of their Shard."""
    by_path: dict[tuple[str, str, str], list[PoolerRecord]] = {}
    for record in poolers:
        by_path.setdefault((record.database, record.table_group, record.shard), []).append(record)
    paths = [resolved_shard_path(cluster, located) for located in cluster.shards()]
    return {
        names.shard(path): by_path.get((path.database, path.table_group, path.shard), []) for path in paths
    }


def shards_with_servers(cluster: ResolvedCluster) -> set[str]:
    """Names of the Shards whose pools have replicas: no other Shard can have a primary."""
    return {
        names.shard(resolved_shard_path(cluster, located))
        for located in cluster.shards()
        if any(or_default(pool.replicas_per_cell, defaults.POOL_REPLICAS) for pool in located.pools.values())
    }


class PrimaryCell(NamedTuple):
    """The cell of a shard's primary; empty if unknown."""

    shard: str
    cell: str


def primary_cells(cluster: ResolvedCluster, poolers: Iterable[PoolerRecord]) -> list[PrimaryCell]:
    # The text of a record is not trusted: only names of the cluster's own cells reach a status.
    cells = {cell.name for cell in cluster.cells}
    by_shard = poolers_by_shard(cluster, poolers)
    primaries = {shard: find_primary(records) for shard, records in by_shard.items()}
    return [
        PrimaryCell(shard, primary.cell if primary is not None and primary.cell in cells else "")
        for shard, primary in primaries.items()
    ]


def managed_servers(resolved: ResolvedCluster) -> list[str]:
    """The topology servers that the operator runs for the cluster."""
    local = [name for cell in resolved.cells if (name := local_server_name(resolved, cell))]
    return local if resolved.topo.etcd is None else [names.global_topo(resolved.identity.name), *local]
