"""The dependents of a topology server, and the conditions that report them."""

from typing import Any

import pytest

from steward.kube.objects.conditions import find_condition
from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names
from steward.multigres.api.cell import CellSpec, CellTopoServer
from steward.multigres.api.cluster_wide import TopoServerRef
from steward.multigres.api.compute import MultiOrch, Pool
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.tablegroup import TableGroupSpec
from steward.multigres.api.topo import Etcd
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.deletion.dependents import (
    Dependent,
    NamespaceObjects,
    blocked_conditions,
    dependents_of,
    servers_used,
    unblocked_conditions,
)
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.views import (
    CellView,
    ShardView,
    TableGroupView,
    TopoServerView,
)

DELETED_AT = "2027-01-15T08:00:00Z"


def meta(name: str, terminating: bool = False, **labels: str) -> ObjectMeta:
    known = {CLUSTER_LABEL: "mini", **{f"multigres.com/{key}": value for key, value in labels.items()}}
    return ObjectMeta(
        name=name,
        namespace="ns",
        uid=name,
        labels=known,
        deletion_timestamp=DELETED_AT if terminating else None,
    )


GLOBAL = TopoServerView(meta("mini-global-topo"), TopoServerSpec())
REF = TopoServerRef(name="mini-global-topo")
Z1 = names.cell("mini", "z1")
LOCAL = TopoServerView(meta(names.local_topo(Z1), cell="z1"), TopoServerSpec())


def cell(name: str = Z1, terminating: bool = False, local: bool = False, ref: Any = REF) -> CellView:
    own = CellTopoServer(etcd=Etcd()) if local else CellTopoServer()
    return CellView(meta(name, terminating), CellSpec(name="z1", topo_server=own, topo_server_ref=ref))


def shard(
    name: str = "s", cells: tuple[str, ...] = ("z1",), ref: Any = REF, terminating: bool = False
) -> ShardView:
    pools = {"default": Pool(cells=list(cells))}
    spec = ShardSpec(
        shard_name="0-inf", pools=pools, multiorch=MultiOrch(cells=list(cells)), topo_server_ref=ref
    )
    return ShardView(meta(name, terminating), spec)


def group(name: str = "g", ref: Any = REF) -> TableGroupView:
    spec = TableGroupSpec(database_name="postgres", table_group_name="default", topo_server_ref=ref)
    return TableGroupView(meta(name), spec)


OTHER = TopoServerRef(name="another")


@pytest.mark.parametrize(
    ("server", "objects", "found"),
    [
        (GLOBAL, NamespaceObjects([], [], []), []),
        (GLOBAL, NamespaceObjects([cell()], [], []), [Dependent("Cell", Z1)]),
        (GLOBAL, NamespaceObjects([cell(terminating=True)], [], []), [Dependent("Cell", Z1)]),
        (
            GLOBAL,
            NamespaceObjects([cell()], [group()], [shard()]),
            [Dependent("Cell", Z1), Dependent("Shard", "s"), Dependent("TableGroup", "g")],
        ),
        (GLOBAL, NamespaceObjects([cell(ref=OTHER)], [group(ref=OTHER)], [shard(ref=OTHER)]), []),
        (LOCAL, NamespaceObjects([cell(local=True)], [], []), [Dependent("Cell", Z1)]),
        (LOCAL, NamespaceObjects([cell(local=True, terminating=True)], [], []), []),
        (
            LOCAL,
            NamespaceObjects([cell(local=True, terminating=True)], [], [shard()]),
            [Dependent("Shard", "s")],
        ),
        (LOCAL, NamespaceObjects([cell(local=True, terminating=True)], [], [shard(cells=("z2",))]), []),
        (LOCAL, NamespaceObjects([cell(local=False)], [], [shard()]), []),
        (LOCAL, NamespaceObjects([], [group()], []), []),
    ],
)
def test_the_dependents_of_a_topology_server(
    server: TopoServerView, objects: NamespaceObjects, found: list[Dependent]
) -> None:
    assert dependents_of(server, objects) == found


def test_an_object_triggers_every_server_that_it_uses() -> None:
    assert set(servers_used(cell(local=True))) == {"mini-global-topo", names.local_topo(Z1)}
    both = [names.local_topo(names.cell("mini", name)) for name in ("z1", "z2")]
    assert list(servers_used(shard(cells=("z2", "z1")))) == ["mini-global-topo", *both]


def test_a_blocked_deletion_names_the_dependents() -> None:
    two = [Dependent("Cell", "my-gateway"), Dependent("Shard", "my-pooler")]
    conditions = blocked_conditions(GLOBAL.metadata, two)
    stopped = find_condition(conditions, "DeletionBlocked")
    safe = find_condition(conditions, "SafeToDelete")
    assert stopped is not None
    assert safe is not None
    assert (stopped.status, stopped.reason) == ("True", "DependentComponentsExist")
    assert stopped.message == "Cannot delete: 2 components depend on this etcd (my-gateway, my-pooler)"
    assert (safe.status, safe.reason) == ("False", "HasDependents")
    assert safe.message == "Remove or update dependent components first"


def test_an_unprotected_server_with_dependents_is_not_reported_as_safe_to_delete() -> None:
    safe = find_condition(unblocked_conditions(GLOBAL.metadata), "SafeToDelete")
    unsafe = find_condition(unblocked_conditions(GLOBAL.metadata, [Dependent("Cell", "c")]), "SafeToDelete")
    assert safe is not None
    assert unsafe is not None
    assert (safe.status, unsafe.status, unsafe.reason) == ("True", "False", "ProtectionOff")


@pytest.mark.parametrize(
    ("skipped", "reason"), [([], "NoDependents"), ([Dependent("Cell", "c")], "ProtectionOff")]
)
def test_a_server_that_may_be_deleted_says_why(skipped: list[Dependent], reason: str) -> None:
    found = unblocked_conditions(GLOBAL.metadata, skipped)
    assert [(each.status, each.reason) for each in found if each.type == "DeletionBlocked"] == [
        ("False", reason)
    ]
