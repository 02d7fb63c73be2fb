"""Finds components of one cluster whose objects would have the same name. Pure.

A name ends in a 32-bit hash over its parts; the text before it may be equal after truncation. Two components can
collide by chance or on purpose, and the second would silently overwrite objects of the first. Such a spec is rejected,
and the message names both.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.unset import or_default
from steward.multigres.names import ShardPath
from steward.multigres.resolution.resolved import LocatedShard, ResolvedCluster, SpecProblem


class PlannedName(NamedTuple):
    """Kind and name of an object, and the field that it is created for."""

    kind: str
    name: str
    field: str


def name_collisions(resolved: ResolvedCluster, shard_names: Iterable[PlannedName]) -> Iterator[SpecProblem]:
    """`shard_names` are the planned names of all shards."""
    taken: dict[tuple[str, str], str] = {}
    for kind, name, field in chain(_planned_names(resolved), shard_names):
        other = taken.setdefault((kind, name), field)
        if other != field:
            message = f"its {kind} would be called {name}, like that of {other}; rename one of the two"
            yield SpecProblem(field, message)


def _planned_names(resolved: ResolvedCluster) -> Iterator[PlannedName]:
    cluster = resolved.identity.name
    for cell in resolved.cells:
        field = f"spec.cells[{cell.name}]"
        yield PlannedName("Cell", names.cell(cluster, cell.name), field)
        yield PlannedName("Service", names.gateway_service(cluster, cell.name), field)
        if cell.local_topo is not None:
            yield PlannedName("StatefulSet", names.local_topo(names.cell(cluster, cell.name)), field)
    for database in resolved.databases:
        for group in database.groups:
            field = f"spec.databases[{database.name}].tablegroups[{group.name}]"
            yield PlannedName("TableGroup", names.table_group(cluster, database.name, group.name), field)


def planned_shard_names(cluster: str, located: LocatedShard) -> Iterator[PlannedName]:
    path = ShardPath(cluster, located.database.name, located.group.name, located.shard.name)
    yield PlannedName("Shard", names.shard(path), located.field)
    yield PlannedName("PodDisruptionBudget", names.disruption_budget(path), located.field)
    yield PlannedName("PersistentVolumeClaim", names.shared_backup_claim(path), located.field)
    for cell in _shard_cells(located):
        yield PlannedName("Service", names.orchestrator_service(path, cell), located.field)
        yield PlannedName("PersistentVolumeClaim", names.backup_claim(path, cell), located.field)
    for pool, pool_spec in located.pools.items():
        for cell in or_default(pool_spec.cells, []):
            field = f"{located.field}.pools[{pool}]"
            yield PlannedName("StatefulSet", names.pool(path, pool, cell), field)
            yield PlannedName("Service", names.pool_headless(path, pool, cell), field)


def _shard_cells(located: LocatedShard) -> list[str]:
    orchestrators = located.shard.multiorch
    orchestrated = [] if orchestrators is UNSET else or_default(orchestrators.cells, [])
    pooled = (cell for pool_spec in located.pools.values() for cell in or_default(pool_spec.cells, []))
    return sorted({*orchestrated, *pooled})
