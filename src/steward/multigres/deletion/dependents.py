"""Who stands on a topology server: it does not go before they do. Pure.

The global server is named in `topoServerRef`. A cell's own server is used by its Cell and by every shard with pods in
that cell. A Cell that is itself going does not hold up its own server: it is the one that takes it away.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import UNSET

from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names, reasons
from steward.multigres.api.cell import CellTopoServer, TopoServerRef
from steward.multigres.api.scalars import Unset
from steward.multigres.objects.metadata import CELL, CLUSTER
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given
from steward.multigres.views import CellView, ShardView, TableGroupView, TopoServerView

DELETION_BLOCKED = "DeletionBlocked"
SAFE_TO_DELETE = "SafeToDelete"
NONE_LEFT = "No dependent components found, safe to delete"
REMOVE_FIRST = "Remove or update dependent components first"
NOT_BLOCKED = "nothing keeps it from being deleted"


class Dependent(NamedTuple):
    kind: str
    name: str


class Beside(NamedTuple):
    """What stands in the namespace of a topology server."""

    cells: Sequence[CellView]
    groups: Sequence[TableGroupView]
    shards: Sequence[ShardView]


def dependents_of(server: TopoServerView, beside: Beside) -> list[Dependent]:
    found = [
        *(Dependent("Cell", cell.metadata.name) for cell in beside.cells if _cell_uses(cell, server)),
        *(
            Dependent("TableGroup", group.metadata.name)
            for group in beside.groups
            if _names(group.spec.topo_server_ref, server)
        ),
        *(
            Dependent("Shard", shard.metadata.name)
            for shard in beside.shards
            if _names(shard.spec.topo_server_ref, server)
            or (_is_in_use(server, beside.cells) and _is_in_its_cell(shard, server))
        ),
    ]
    return sorted(found)


def _is_in_use(server: TopoServerView, cells: Iterable[CellView]) -> bool:
    """Whether the cell of a local server still keeps its records there: it may have turned to the global one."""
    name = server.metadata.name
    return all(own_server(cell) == name for cell in cells if names.local_topo(cell.metadata.name) == name)


def _cell_uses(cell: CellView, server: TopoServerView) -> bool:
    if _names(cell.spec.topo_server_ref, server):
        return True
    if cell.metadata.deletion_timestamp is not None:
        return False
    return own_server(cell) == server.metadata.name


def own_server(cell: CellView) -> str:
    """The server that Steward runs for this cell alone; empty where it runs none."""
    own = given(cell.spec.topo_server, CellTopoServer())
    return "" if own.etcd is UNSET else names.local_topo(cell.metadata.name)


def _is_in_its_cell(shard: ShardView, server: TopoServerView) -> bool:
    of_cell = server.metadata.labels.get(CELL, "")
    is_beside = shard.metadata.labels.get(CLUSTER) == server.metadata.labels.get(CLUSTER)
    return bool(of_cell) and is_beside and of_cell in shard_cells(shard)


def shard_cells(shard: ShardView) -> frozenset[str]:
    """Every cell in which a shard asks for pods."""
    orchestrators = given(given(shard.spec.multiorch, defaults.ORCHESTRATOR).cells, [])
    pools = given(shard.spec.pools, {}).values()
    return frozenset(orchestrators).union(*(given(pool.cells, []) for pool in pools))


def _names(reference: TopoServerRef | Unset, server: TopoServerView) -> bool:
    return reference is not UNSET and reference.name == server.metadata.name


def blocked_message(dependents: Sequence[Dependent]) -> str:
    listed = ", ".join(dependent.name for dependent in dependents)
    # The wording, plural of one included, is what scripts and alerts of the first days look for.
    return f"Cannot delete: {len(dependents)} components depend on this etcd ({listed})"


def blocked(meta: ObjectMeta, dependents: Sequence[Dependent]) -> list[Condition]:
    told = blocked_message(dependents)
    return [
        Condition(DELETION_BLOCKED, TRUE, reasons.DEPENDENTS_EXIST, told, meta.generation),
        Condition(SAFE_TO_DELETE, FALSE, reasons.HAS_DEPENDENTS, REMOVE_FIRST, meta.generation),
    ]


def unblocked(meta: ObjectMeta, skipped: Sequence[Dependent] = ()) -> list[Condition]:
    """Nobody stands on it, or `skipped` do and somebody decided against them."""
    if skipped:
        told = f"{blocked_message(skipped).partition(': ')[2]}, and nothing protects it"
        safe = Condition(SAFE_TO_DELETE, FALSE, reasons.PROTECTION_OFF, told, meta.generation)
    else:
        safe = Condition(SAFE_TO_DELETE, TRUE, reasons.NO_DEPENDENTS, NONE_LEFT, meta.generation)
    reason = reasons.PROTECTION_OFF if skipped else reasons.NO_DEPENDENTS
    return [Condition(DELETION_BLOCKED, FALSE, reason, NOT_BLOCKED, meta.generation), safe]


def servers_used(seen: CellView | TableGroupView | ShardView) -> Iterable[str]:
    """The servers that must hear of it when this object comes, changes or goes."""
    reference = seen.spec.topo_server_ref
    if reference is not UNSET:
        yield reference.name
    cluster = seen.metadata.labels.get(CLUSTER, "")
    if isinstance(seen, CellView):
        yield names.local_topo(seen.metadata.name)
    elif isinstance(seen, ShardView):
        yield from (names.local_topo(names.cell(cluster, cell)) for cell in sorted(shard_cells(seen)))
