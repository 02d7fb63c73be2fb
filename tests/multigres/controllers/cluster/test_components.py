"""Which children count as components of a cluster."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.api.cell import CellSpec
from steward.multigres.controllers.cluster.components import owned
from steward.multigres.views import CellView, ClusterView

CLUSTER = msgspec.convert({"metadata": {"name": "shop", "namespace": "ns", "uid": "u1"}}, ClusterView)


def cell(*owners: dict[str, Any]) -> CellView:
    metadata = msgspec.convert({"name": "shop-z1", "ownerReferences": owners}, ObjectMeta)
    return CellView(metadata, CellSpec(name="z1"))


def owner(uid: str, *, controller: bool = True) -> dict[str, Any]:
    return {"kind": "MultigresCluster", "name": "shop", "uid": uid, "controller": controller}


def test_a_child_of_the_cluster_is_a_component() -> None:
    child = cell(owner("u1"))
    assert owned(child, CLUSTER) is child


@pytest.mark.parametrize(
    "child",
    [None, cell(), cell(owner("u0")), cell(owner("u1", controller=False))],
    ids=["missing", "orphan", "of a deleted cluster", "without a controller"],
)
def test_a_child_that_the_cluster_does_not_control_is_none(child: CellView | None) -> None:
    assert owned(child, CLUSTER) is None
