"""Two parts of one cluster whose objects would carry one name. Pure.

A name ends in a hash of 32 bits over its parts, and what stands before it may be spelled or cut alike. That two parts
meet is a matter of chance, or of somebody who looked for it; whoever comes second would silently take the first one's
place. So it is refused, and both are named.
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.names import ShardPath
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import Problem, ResolvedCluster, ShardInPlace


class Named(NamedTuple):
    """An object to be: its kind, its name, and the field that asks for it."""

    kind: str
    name: str
    field: str


def collisions(resolved: ResolvedCluster) -> Iterator[Problem]:
    taken: dict[tuple[str, str], str] = {}
    for named in _all_names(resolved):
        other = taken.setdefault((named.kind, named.name), named.field)
        if other != named.field:
            told = (
                f"its {named.kind} would be called {named.name}, like that of {other}; rename one of the two"
            )
            yield Problem(named.field, told)


def _all_names(resolved: ResolvedCluster) -> Iterator[Named]:
    cluster = resolved.identity.name
    for cell in resolved.cells:
        field = f"spec.cells[{cell.name}]"
        yield Named("Cell", names.cell(cluster, cell.name), field)
        yield Named("Service", names.gateway_service(cluster, cell.name), field)
        if cell.local_topo is not None:
            yield Named("StatefulSet", names.local_topo(names.cell(cluster, cell.name)), field)
    for database in resolved.databases:
        for group in database.groups:
            field = f"spec.databases[{database.name}].tablegroups[{group.name}]"
            yield Named("TableGroup", names.table_group(cluster, database.name, group.name), field)
    for known in resolved.shards():
        yield from _names_of_shard(cluster, known)


def _names_of_shard(cluster: str, known: ShardInPlace) -> Iterator[Named]:
    path = ShardPath(cluster, known.database.name, known.group.name, known.shard.name)
    yield Named("Shard", names.shard(path), known.field)
    yield Named("PodDisruptionBudget", names.disruption_budget(path), known.field)
    for cell in _cells(known):
        yield Named("Service", names.orchestrator_service(path, cell), known.field)
        yield Named("PersistentVolumeClaim", names.backup_claim(path, cell), known.field)
    for pool, shape in known.pools.items():
        for cell in given(shape.cells, []):
            field = f"{known.field}.pools[{pool}]"
            yield Named("StatefulSet", names.pool(path, pool, cell), field)
            yield Named("Service", names.pool_headless(path, pool, cell), field)


def _cells(known: ShardInPlace) -> list[str]:
    orchestrators = known.shard.multiorch
    own = [] if orchestrators is UNSET else given(orchestrators.cells, [])
    pooled = (cell for shape in known.pools.values() for cell in given(shape.cells, []))
    return sorted({*own, *pooled})
