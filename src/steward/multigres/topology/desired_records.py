"""Which records a cluster wants in the topology server. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.topo import Etcd, TopoReference
from steward.multigres.names import ShardPath
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import ResolvedCell, ResolvedCluster, ShardInPlace
from steward.multigres.topology.store_records import (
    CellRecord,
    DatabaseRecord,
    PoolerRecord,
    cell_key,
    database_key,
    encode_cell,
    encode_database,
    primary,
)


def desired_records(cluster: ResolvedCluster) -> dict[str, bytes]:
    root = cluster.topo.reference.root_path
    cells = {cell_key(root, cell.name): encode_cell(cell_record(cluster, cell)) for cell in cluster.cells}
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
    """Where a cell keeps its own records: in the global server, unless it has one of its own."""
    if cell.local_topo is None:
        return cluster.topo.reference
    identity, etcd, external = cluster.identity, cell.local_topo.etcd, cell.local_topo.external
    if external is not UNSET:
        return TopoReference(
            address=",".join(external.endpoints),
            root_path=given(
                external.root_path, f"/multigres/{identity.namespace}/{identity.name}/{cell.name}"
            ),
            implementation="etcd",
            ca_secret=external.ca_secret,
            client_cert_secret=external.client_cert_secret,
        )
    host = f"{local_server(cluster, cell)}.{identity.namespace}.svc"
    return TopoReference(
        address=f"{host}:{defaults.ETCD_CLIENT_PORT}",
        root_path=given(given(etcd, Etcd()).root_path, f"/multigres/{cell.name}"),
        implementation="etcd",
    )


def local_server(cluster: ResolvedCluster, cell: ResolvedCell) -> str:
    """The TopoServer that Steward runs for this cell alone; empty where it runs none."""
    if cell.local_topo is None or cell.local_topo.etcd is UNSET:
        return ""
    return names.local_topo(names.cell(cluster.identity.name, cell.name))


def database_cells(cluster: ResolvedCluster, database: str) -> tuple[str, ...]:
    """The cells in which a database has servers."""
    used = {
        cell
        for known in cluster.shards()
        if known.database.name == database
        for pool in known.pools.values()
        for cell in given(pool.cells, [])
    }
    return tuple(sorted(used))


def expected_pods(cluster: ResolvedCluster) -> set[str]:
    """Every pod that a pool of the cluster asks for. A pod that is only restarting is still asked for."""
    return {pod for known in cluster.shards() for pod in _pods(cluster, known)}


def _pods(cluster: ResolvedCluster, known: ShardInPlace) -> Iterable[str]:
    path = shard_path(cluster, known)
    for name, pool in known.pools.items():
        for cell in given(pool.cells, []):
            replicas = given(pool.replicas_per_cell, given(defaults.POOL.replicas_per_cell, 0))
            for ordinal in range(replicas):
                yield f"{names.pool(path, name, cell)}-{ordinal}"


def shard_path(cluster: ResolvedCluster, known: ShardInPlace) -> ShardPath:
    return ShardPath(cluster.identity.name, known.database.name, known.group.name, known.shard.name)


def poolers_by_shard(
    cluster: ResolvedCluster, poolers: Iterable[PoolerRecord]
) -> dict[str, list[PoolerRecord]]:
    """The poolers of each shard, by the name of the Shard."""
    known = list(poolers)
    found = {}
    for each in cluster.shards():
        path = shard_path(cluster, each)
        found[names.shard(path)] = [
            p
            for p in known
            if (p.database, p.table_group, p.shard) == (path.database, path.table_group, path.shard)
        ]
    return found


class Leader(NamedTuple):
    """The cell that holds a shard's primary; empty when it is not known."""

    shard: str
    cell: str


def leaders(cluster: ResolvedCluster, poolers: Iterable[PoolerRecord]) -> list[Leader]:
    return [
        Leader(shard, "" if (leading := primary(own)) is None else leading.cell)
        for shard, own in poolers_by_shard(cluster, poolers).items()
    ]
