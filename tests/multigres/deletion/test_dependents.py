"""Who stands on a topology server, and what is said of it."""

from typing import Any

import pytest

from steward.kube.objects.conditions import find_condition
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names
from steward.multigres.api.cell import CellSpec, CellTopoServer, TopoServerRef
from steward.multigres.api.compute import MultiOrch, Pool
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.tablegroup import TableGroupSpec
from steward.multigres.api.topo import Etcd
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.deletion.dependents import (
    Beside,
    Dependent,
    blocked,
    dependents_of,
    servers_used,
    unblocked,
)
from steward.multigres.objects.metadata import CLUSTER
from steward.multigres.views import (
    CellView,
    ShardView,
    TableGroupView,
    TopoServerView,
)

GOING = "2027-01-15T08:00:00Z"


def meta(name: str, going: bool = False, **labels: str) -> ObjectMeta:
    known = {CLUSTER: "mini", **{f"multigres.com/{key}": value for key, value in labels.items()}}
    return ObjectMeta(
        name=name, namespace="ns", uid=name, labels=known, deletion_timestamp=GOING if going else None
    )


GLOBAL = TopoServerView(meta("mini-global-topo"), TopoServerSpec())
REF = TopoServerRef(name="mini-global-topo")
Z1 = names.cell("mini", "z1")
LOCAL = TopoServerView(meta(names.local_topo(Z1), cell="z1"), TopoServerSpec())


def cell(name: str = Z1, going: bool = False, local: bool = False, ref: Any = REF) -> CellView:
    own = CellTopoServer(etcd=Etcd()) if local else CellTopoServer()
    return CellView(meta(name, going), CellSpec(name="z1", topo_server=own, topo_server_ref=ref))


def shard(
    name: str = "s", cells: tuple[str, ...] = ("z1",), ref: Any = REF, going: bool = False
) -> ShardView:
    pools = {"default": Pool(cells=list(cells))}
    spec = ShardSpec(
        shard_name="0-inf", pools=pools, multiorch=MultiOrch(cells=list(cells)), topo_server_ref=ref
    )
    return ShardView(meta(name, going), spec)


def group(name: str = "g", ref: Any = REF) -> TableGroupView:
    spec = TableGroupSpec(database_name="postgres", table_group_name="default", topo_server_ref=ref)
    return TableGroupView(meta(name), spec)


OTHER = TopoServerRef(name="another")


@pytest.mark.parametrize(
    ("server", "beside", "found"),
    [
        (GLOBAL, Beside([], [], []), []),
        (GLOBAL, Beside([cell()], [], []), [Dependent("Cell", Z1)]),
        (GLOBAL, Beside([cell(going=True)], [], []), [Dependent("Cell", Z1)]),
        (
            GLOBAL,
            Beside([cell()], [group()], [shard()]),
            [Dependent("Cell", Z1), Dependent("Shard", "s"), Dependent("TableGroup", "g")],
        ),
        (GLOBAL, Beside([cell(ref=OTHER)], [group(ref=OTHER)], [shard(ref=OTHER)]), []),
        (LOCAL, Beside([cell(local=True)], [], []), [Dependent("Cell", Z1)]),
        (LOCAL, Beside([cell(local=True, going=True)], [], []), []),
        (LOCAL, Beside([cell(local=True, going=True)], [], [shard()]), [Dependent("Shard", "s")]),
        (LOCAL, Beside([cell(local=True, going=True)], [], [shard(cells=("z2",))]), []),
        (LOCAL, Beside([cell(local=False)], [], [shard()]), []),
        (LOCAL, Beside([], [group()], []), []),
    ],
)
def test_who_stands_on_a_topology_server(
    server: TopoServerView, beside: Beside, found: list[Dependent]
) -> None:
    assert dependents_of(server, beside) == found


def test_every_server_that_an_object_uses_hears_of_it() -> None:
    assert set(servers_used(cell(local=True))) == {"mini-global-topo", names.local_topo(Z1)}
    both = [names.local_topo(names.cell("mini", name)) for name in ("z1", "z2")]
    assert list(servers_used(shard(cells=("z2", "z1")))) == ["mini-global-topo", *both]


def test_a_blocked_deletion_says_how_many_and_who() -> None:
    two = [Dependent("Cell", "my-gateway"), Dependent("Shard", "my-pooler")]
    conditions = blocked(GLOBAL.metadata, two)
    stopped = find_condition(conditions, "DeletionBlocked")
    safe = find_condition(conditions, "SafeToDelete")
    assert stopped is not None
    assert safe is not None
    assert (stopped.status, stopped.reason) == ("True", "DependentComponentsExist")
    assert stopped.message == "Cannot delete: 2 components depend on this etcd (my-gateway, my-pooler)"
    assert (safe.status, safe.reason) == ("False", "HasDependents")
    assert safe.message == "Remove or update dependent components first"


def test_an_unprotected_server_with_dependents_is_not_called_safe() -> None:
    safe = find_condition(unblocked(GLOBAL.metadata), "SafeToDelete")
    unsafe = find_condition(unblocked(GLOBAL.metadata, [Dependent("Cell", "c")]), "SafeToDelete")
    assert safe is not None
    assert unsafe is not None
    assert (safe.status, unsafe.status, unsafe.reason) == ("True", "False", "ProtectionOff")
