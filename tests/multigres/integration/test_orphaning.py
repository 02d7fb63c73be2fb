"""Deleted with `--cascade=orphan`, a Cell, a Shard and a TopoServer only remove their finalizer."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.kube.bounded_cache import LruCache
from steward.kube.cache.store import Store
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.toposerver import TopoServerSpec
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.cell.deletion import CellDeletion
from steward.multigres.controllers.cluster_specs import ClusterSpecs
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.deregistration import Deregistration
from steward.multigres.controllers.shard.deletion import ShardDeletion
from steward.multigres.controllers.toposerver import TopoServerReconciler
from steward.multigres.deletion.annotations import GraceSettings
from steward.multigres.deletion.draining import unknown_connections
from steward.multigres.objects.metadata import FINALIZER
from steward.multigres.views import CellView, ShardView, TopoServerView
from steward.runtime.plan.steps import Patch, Plan
from steward.testkit import FakeClock

TERMINATING = ObjectMeta(
    name="mine",
    namespace="ns",
    uid="u",
    resource_version="7",
    deletion_timestamp="2027-01-15T08:00:00Z",
    finalizers=(FINALIZER, "orphan"),
)


@pytest.fixture
def context() -> MultigresContext:
    stores: dict[Any, Store[Any]] = {}
    fake = SimpleNamespace(
        rules=MultigresCacheRules(""),
        store=lambda rule: stores.setdefault(rule.kind, Store(rule)),
        grace=GraceSettings(),
        clock=FakeClock(),
        connections=unknown_connections,
        resolved_specs=LruCache(8),
        large_resolutions=asyncio.Lock(),
        cluster_specs=ClusterSpecs(),
    )
    return cast(MultigresContext, fake)


def only_removes_finalizer(plan: Plan) -> bool:
    [step] = plan
    assert isinstance(step, Patch)
    assert isinstance(step.patch, MergePatch)
    return bool(step.patch.changes["metadata"]["finalizers"] == ["orphan"])


async def test_an_orphaned_cell_keeps_its_gateways(context: MultigresContext) -> None:
    removal = CellDeletion(context, cast(Deregistration, None))
    assert only_removes_finalizer(await removal.plan_deletion(CellView(TERMINATING, CellSpec(name="z1")), []))


async def test_an_orphaned_shard_keeps_its_servers(context: MultigresContext) -> None:
    assert only_removes_finalizer(
        await ShardDeletion(context).plan_deletion(ShardView(TERMINATING, ShardSpec(shard_name="0-inf")), [])
    )


async def test_an_orphaned_topology_server_keeps_its_members(context: MultigresContext) -> None:
    assert only_removes_finalizer(
        TopoServerReconciler(context)._plan_deletion(TopoServerView(TERMINATING, TopoServerSpec()))
    )
