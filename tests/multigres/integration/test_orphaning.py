"""Deleted with `--cascade=orphan`, a Cell, a Shard and a TopoServer let go of what is theirs and touch none of it."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.cache_rules import Rules
from steward.multigres.controllers.cell.deletion import CellRemoval
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.deregistration import Deregistration
from steward.multigres.controllers.shard.deletion import ShardRemoval
from steward.multigres.controllers.toposerver import TopoServerReconciler
from steward.multigres.deletion.annotations import Grace
from steward.multigres.deletion.draining import unknown_connections
from steward.multigres.objects.metadata import FINALIZER
from steward.multigres.views import CellView, ShardView, TopoServerView
from steward.runtime.plan.steps import Patch, Plan
from steward.testkit import FakeClock

GOING = ObjectMeta(
    name="mine",
    namespace="ns",
    uid="u",
    resource_version="7",
    deletion_timestamp="2027-01-15T08:00:00Z",
    finalizers=(FINALIZER, "orphan"),
)


@pytest.fixture
def context() -> ControllerContext:
    stores: dict[Any, Store[Any]] = {}
    played = SimpleNamespace(
        rules=Rules(""),
        store=lambda rule: stores.setdefault(rule.kind, Store(rule)),
        grace=Grace(),
        clock=FakeClock(),
        connections=unknown_connections,
    )
    return cast(ControllerContext, played)


def is_let_go(plan: Plan) -> bool:
    [step] = plan
    assert isinstance(step, Patch)
    assert isinstance(step.patch, MergePatch)
    return bool(step.patch.changes["metadata"]["finalizers"] == ["orphan"])


async def test_a_cell_leaves_its_gateways(context: ControllerContext) -> None:
    removal = CellRemoval(context, cast(Deregistration, None))
    assert is_let_go(await removal.leave(CellView(GOING, CellSpec(name="z1")), []))


async def test_a_shard_leaves_its_servers(context: ControllerContext) -> None:
    assert is_let_go(await ShardRemoval(context).leave(ShardView(GOING, ShardSpec(shard_name="0-inf")), []))


async def test_a_topology_server_leaves_its_members(context: ControllerContext) -> None:
    assert is_let_go(TopoServerReconciler(context)._leave(TopoServerView(GOING, TopoServerSpec())))
