"""Names the components whose pods a change of templates restarts or stops. Pure.

Changes of replicas, cells, volume sizes and volume policies restart nothing; all other fields of a template are part of
a pod.
"""

from collections.abc import Iterator
from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from steward.multigres.api.compute import MultiOrch, Pool, Stateless
from steward.multigres.api.scalars import Unset
from steward.multigres.api.topo import Etcd
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.postgres.settings import inline_settings, restart_text
from steward.multigres.resolution.resolved import (
    LocatedShard,
    ResolvedCell,
    ResolvedCluster,
    ResolvedTopo,
)

S = TypeVar("S", bound=Stateless)


def restarted_components(before: ResolvedCluster, after: ResolvedCluster) -> list[str]:
    """Every component whose pods would be replaced, as shown to users."""
    return [*_core(before, after), *_cells(before, after), *_shards(before, after)]


def _core(before: ResolvedCluster, after: ResolvedCluster) -> Iterator[str]:
    if _server(before.topo) != _server(after.topo):
        yield "the global topology server"
    if before.topo.reference != after.topo.reference:
        yield "every component, for the address of the topology server"
    if _pods(before.multiadmin) != _pods(after.multiadmin):
        yield "multiadmin"
    if _pods(before.multiadmin_web) != _pods(after.multiadmin_web):
        yield "multiadmin-web"


def _server(topo: ResolvedTopo) -> Etcd | None:
    return None if topo.etcd is None else _etcd(topo.etcd)


def _etcd(etcd: Etcd) -> Etcd:
    return replace(etcd, storage=UNSET, pvc_deletion_policy=UNSET)


def _pods(compute: S) -> S:
    return replace(compute, replicas=UNSET)


def _cells(before: ResolvedCluster, after: ResolvedCluster) -> Iterator[str]:
    old_cells = {cell.name: cell for cell in before.cells}
    for cell in after.cells:
        old = old_cells.get(cell.name)
        if old is None:
            continue
        if _pods(old.gateway) != _pods(cell.gateway):
            yield f"the gateways of cell {cell.name}"
        if _local(old) != _local(cell):
            yield f"the topology server of cell {cell.name}"


def _local(cell: ResolvedCell) -> Etcd | None:
    topo = cell.local_topo
    return None if topo is None or topo.etcd is UNSET else _etcd(topo.etcd)


def _shards(before: ResolvedCluster, after: ResolvedCluster) -> Iterator[str]:
    old_shards = {str(shard): shard for shard in before.shards()}
    for shard in after.shards():
        old = old_shards.get(str(shard))
        if old is not None:
            yield from _shard(old, shard)


def _shard(before: LocatedShard, after: LocatedShard) -> Iterator[str]:
    if _orchestrator(before.shard.multiorch) != _orchestrator(after.shard.multiorch):
        yield f"the orchestrators of {after}"
    settings = _settings(before) != _settings(after)
    arguments = before.shard.initdb_args != after.shard.initdb_args
    for name, pool in after.pools.items():
        old = before.pools.get(name)
        if old is not None and (settings or arguments or _servers(old) != _servers(pool)):
            yield f"pool {name} of {after}"


def _settings(shard: LocatedShard) -> tuple[object, str]:
    return shard.shard.postgres_config_ref, restart_text(inline_settings(shard.shard.postgres))


def stopped_servers(before: ResolvedCluster, after: ResolvedCluster) -> list[str]:
    """Every pool that loses servers, and every shard that has none left."""
    old_shards = {str(shard): shard for shard in before.shards()}
    return [
        text
        for shard in after.shards()
        if (old := old_shards.get(str(shard))) is not None
        for text in _stopped(old, shard)
    ]


def _stopped(before: LocatedShard, after: LocatedShard) -> Iterator[str]:
    remaining = sum(map(_server_count, after.pools.values()))
    for name, pool in before.pools.items():
        old, new = _server_count(pool), _server_count(after.pools[name]) if name in after.pools else 0
        if new < old:
            yield f"{old - new} of {old} servers of pool {name} of {after}"
    if not remaining and any(map(_server_count, before.pools.values())):
        yield f"all servers of {after}, so that nothing serves its data"


def _server_count(pool: Pool) -> int:
    return or_default(pool.replicas_per_cell, 0) * len(or_default(pool.cells, []))


def _orchestrator(compute: MultiOrch | Unset) -> MultiOrch:
    return replace(_pods(or_default(compute, MultiOrch())), cells=UNSET)


def _servers(pool: Pool) -> Pool:
    return replace(pool, replicas_per_cell=UNSET, cells=UNSET, storage=UNSET, pvc_deletion_policy=UNSET)
