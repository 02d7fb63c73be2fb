"""Finds the objects that depend on a topology server: it is not deleted before them. Pure.

The global server is named in `topoServerRef`. A cell's own server is used by its Cell and by every Shard with pods in
that cell. A Cell that is terminating does not block its own server: the Cell controller deletes it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import UNSET

from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names, reasons
from steward.multigres.api.cell import CellTopoServer
from steward.multigres.api.cluster_wide import TopoServerRef
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import CELL_LABEL, CLUSTER_LABEL
from steward.multigres.resolution import defaults
from steward.multigres.views import CellView, ShardView, TableGroupView, TopoServerView

DELETION_BLOCKED = "DeletionBlocked"
SAFE_TO_DELETE = "SafeToDelete"
NONE_LEFT = "No dependent components found, safe to delete"
REMOVE_FIRST = "Remove or update dependent components first"
NOT_BLOCKED = "nothing keeps it from being deleted"


class Dependent(NamedTuple):
    kind: str
    name: str


class NamespaceObjects(NamedTuple):
    """The possible dependents in the namespace of a topology server."""

    cells: Sequence[CellView]
    groups: Sequence[TableGroupView]
    shards: Sequence[ShardView]


def dependents_of(server: TopoServerView, objects: NamespaceObjects) -> list[Dependent]:
    found = [
        *(Dependent("Cell", cell.metadata.name) for cell in objects.cells if _cell_uses(cell, server)),
        *(
            Dependent("TableGroup", group.metadata.name)
            for group in objects.groups
            if _references(group.spec.topo_server_ref, server)
        ),
        *(
            Dependent("Shard", shard.metadata.name)
            for shard in objects.shards
            if _references(shard.spec.topo_server_ref, server)
            or (_is_in_use(server, objects.cells) and _is_in_its_cell(shard, server))
        ),
    ]
    return sorted(found)


def _is_in_use(server: TopoServerView, cells: Iterable[CellView]) -> bool:
    """Whether the cell of a local server still keeps its records there: it may have switched to the global one."""
    name = server.metadata.name
    return all(
        local_server_name(cell) == name for cell in cells if names.local_topo(cell.metadata.name) == name
    )


def _cell_uses(cell: CellView, server: TopoServerView) -> bool:
    if _references(cell.spec.topo_server_ref, server):
        return True
    if cell.metadata.deletion_timestamp is not None:
        return False
    return local_server_name(cell) == server.metadata.name


def local_server_name(cell: CellView) -> str:
    """The name of the server that the operator runs for this cell alone; "" if there is none."""
    local = or_default(cell.spec.topo_server, CellTopoServer())
    return "" if local.etcd is UNSET else names.local_topo(cell.metadata.name)


def _is_in_its_cell(shard: ShardView, server: TopoServerView) -> bool:
    cell = server.metadata.labels.get(CELL_LABEL, "")
    is_same_cluster = shard.metadata.labels.get(CLUSTER_LABEL) == server.metadata.labels.get(CLUSTER_LABEL)
    return bool(cell) and is_same_cluster and cell in shard_cells(shard)


def shard_cells(shard: ShardView) -> frozenset[str]:
    """Every cell in which a shard desires pods."""
    orchestrators = or_default(or_default(shard.spec.multiorch, defaults.ORCHESTRATOR).cells, [])
    pools = or_default(shard.spec.pools, {}).values()
    return frozenset(orchestrators).union(*(or_default(pool.cells, []) for pool in pools))


def _references(reference: TopoServerRef | Unset, server: TopoServerView) -> bool:
    return reference is not UNSET and reference.name == server.metadata.name


def blocked_message(dependents: Sequence[Dependent]) -> str:
    listed = ", ".join(dependent.name for dependent in dependents)
    # Scripts and alerts match this text, including the plural for one component, since the Go operator.
    return f"Cannot delete: {len(dependents)} components depend on this etcd ({listed})"


def blocked_conditions(meta: ObjectMeta, dependents: Sequence[Dependent]) -> list[Condition]:
    message = blocked_message(dependents)
    return [
        Condition(DELETION_BLOCKED, TRUE, reasons.DEPENDENTS_EXIST, message, meta.generation),
        Condition(SAFE_TO_DELETE, FALSE, reasons.HAS_DEPENDENTS, REMOVE_FIRST, meta.generation),
    ]


def unblocked_conditions(meta: ObjectMeta, skipped: Sequence[Dependent] = ()) -> list[Condition]:
    """For a server without dependents, or with dependents that are `skipped` because protection is off."""
    if skipped:
        message = f"{blocked_message(skipped).partition(': ')[2]}, and nothing protects it"
        safe = Condition(SAFE_TO_DELETE, FALSE, reasons.PROTECTION_OFF, message, meta.generation)
    else:
        safe = Condition(SAFE_TO_DELETE, TRUE, reasons.NO_DEPENDENTS, NONE_LEFT, meta.generation)
    reason = reasons.PROTECTION_OFF if skipped else reasons.NO_DEPENDENTS
    return [Condition(DELETION_BLOCKED, FALSE, reason, NOT_BLOCKED, meta.generation), safe]


def servers_used(live: CellView | TableGroupView | ShardView) -> Iterable[str]:
    """The servers to reconcile when this object is created, changed or deleted."""
    reference = live.spec.topo_server_ref
    if reference is not UNSET:
        yield reference.name
    cluster = live.metadata.labels.get(CLUSTER_LABEL, "")
    if isinstance(live, CellView):
        yield names.local_topo(live.metadata.name)
    elif isinstance(live, ShardView):
        yield from (names.local_topo(names.cell(cluster, cell)) for cell in sorted(shard_cells(live)))
