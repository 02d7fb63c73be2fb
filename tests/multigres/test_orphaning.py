"""Deleted with `--cascade=orphan`, a Cell, a Shard and a TopoServer let go of what is theirs and touch none of it."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.kube.meta import ObjectMeta
from steward.kube.patches import MergePatch
from steward.kube.store import Store
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.controllers.cell_removal import CellRemoval
from steward.multigres.controllers.deregistration import Deregistration
from steward.multigres.controllers.ground import Ground
from steward.multigres.controllers.shard_removal import ShardRemoval
from steward.multigres.controllers.toposerver import TopoServerReconciler
from steward.multigres.deletion import Grace
from steward.multigres.draining import unknown_connections
from steward.multigres.objects.metadata import FINALIZER
from steward.multigres.rules import Rules
from steward.multigres.views import CellView, ShardView, TopoServerView
from steward.runtime.plan import Patch, Plan
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
def ground() -> Ground:
    stores: dict[Any, Store[Any]] = {}
    played = SimpleNamespace(
        rules=Rules(""),
        store=lambda rule: stores.setdefault(rule.kind, Store(rule)),
        grace=Grace(),
        clock=FakeClock(),
        connections=unknown_connections,
    )
    return cast(Ground, played)


def is_let_go(plan: Plan) -> bool:
    [step] = plan
    assert isinstance(step, Patch)
    assert isinstance(step.patch, MergePatch)
    return bool(step.patch.changes["metadata"]["finalizers"] == ["orphan"])


async def test_a_cell_leaves_its_gateways(ground: Ground) -> None:
    removal = CellRemoval(ground, cast(Deregistration, None))
    assert is_let_go(await removal.leave(CellView(GOING, CellSpec(name="z1")), []))


async def test_a_shard_leaves_its_servers(ground: Ground) -> None:
    assert is_let_go(await ShardRemoval(ground).leave(ShardView(GOING, ShardSpec(shard_name="0-inf")), []))


async def test_a_topology_server_leaves_its_members(ground: Ground) -> None:
    assert is_let_go(TopoServerReconciler(ground)._leave(TopoServerView(GOING, TopoServerSpec())))
