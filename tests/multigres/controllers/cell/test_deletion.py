"""Deletion of a Cell whose gateways lost their owner."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from steward.kube.bounded_cache import LruCache
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import DEPLOYMENT, Kind, Manifest
from steward.multigres import names
from steward.multigres.api.topo import TopologyReconciliation, TopoReference
from steward.multigres.cache_rules import CLUSTER, MultigresCacheRules
from steward.multigres.controllers.cell.deletion import CellDeletion
from steward.multigres.controllers.cluster_specs import ClusterSpecs
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.deregistration import Deregistration, DeregistrationResult
from steward.multigres.deletion.annotations import STARTED, GraceSettings
from steward.multigres.deletion.draining import unknown_connections
from steward.multigres.objects import gateway
from steward.multigres.objects.metadata import FINALIZER
from steward.multigres.views import CellView
from steward.runtime.plan.steps import Patch
from steward.testkit import FakeClock

TIME = "2027-01-15T08:00:00Z"
GATEWAY = names.gateway("mini", "z1")
LABELS = {
    "app.kubernetes.io/managed-by": "multigres-operator",
    "app.kubernetes.io/component": gateway.COMPONENT,
    "multigres.com/cluster": "mini",
    "multigres.com/cell": "z1",
}
CELL = msgspec.convert(
    {
        "metadata": {
            "name": names.cell("mini", "z1"),
            "namespace": "shop",
            "labels": LABELS,
            "deletionTimestamp": TIME,
            "finalizers": [FINALIZER],
            "annotations": {STARTED: TIME},
        },
        "spec": {"name": "z1"},
    },
    CellView,
)


class Deletion:
    """The deletion of a Cell with one gateway that has no owner; `desired` are the cells of its cluster."""

    def __init__(self, desired: tuple[str, ...], **cluster: Any) -> None:
        self.stores: dict[Kind, Store[Any]] = {}
        context = SimpleNamespace(
            rules=MultigresCacheRules(""),
            store=lambda rule: self.stores.setdefault(rule.kind, Store(rule)),
            grace=GraceSettings(),
            clock=FakeClock(),
            resolved_specs=LruCache(4),
            large_resolutions=asyncio.Lock(),
            cluster_specs=ClusterSpecs(),
            connections=unknown_connections,
            now=lambda: TIME,
            deletion_metrics=SimpleNamespace(observe_shutdown=lambda kind, seconds: None),
        )
        self.deletion = CellDeletion(cast(MultigresContext, context), cast(Deregistration, None))
        resolved = SimpleNamespace(
            resolved=SimpleNamespace(cells=[SimpleNamespace(name=name) for name in desired])
        )

        async def resolve(live: Any) -> Any:
            return resolved

        self.deletion.resolver = cast(Any, SimpleNamespace(resolve=resolve))
        self._add(CLUSTER, "mini", **cluster)
        self._add(DEPLOYMENT, GATEWAY)

    def _add(self, kind: Kind, name: str, **fields: Any) -> None:
        metadata = {"name": name, "namespace": "shop", "uid": name, "resourceVersion": "1", "labels": LABELS}
        body: Manifest = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {**metadata, **fields},
        }
        self.stores[kind].observe_write(json.dumps(body).encode())

    async def drains_gateway(self) -> bool:
        plan = await self.deletion.plan_deletion(CELL, [])
        return any(isinstance(step, Patch) and step.ref.key.name == GATEWAY for step in plan)


@pytest.mark.parametrize(
    "deletion",
    [Deletion(("z2",)), Deletion(("z1",), deletionTimestamp=TIME)],
    ids=["removed from its cluster", "its cluster is deleted"],
)
async def test_a_gateway_without_owner_ends_with_its_cell(deletion: Deletion) -> None:
    assert await deletion.drains_gateway()


async def test_a_gateway_without_owner_stays_for_a_cell_that_is_created_again() -> None:
    assert not await Deletion(("z1",)).drains_gateway()


@pytest.mark.parametrize(("register", "deregisters"), [(True, True), (False, False)])
async def test_the_record_of_a_cell_is_removed_only_if_the_operator_registers_cells(
    register: bool, deregisters: bool
) -> None:
    deletion, calls = Deletion(("z2",)), []

    async def deregister(*arguments: Any) -> DeregistrationResult:
        calls.append(arguments)
        return DeregistrationResult()

    deletion.deletion.records = cast(Any, SimpleNamespace(deregister=deregister))
    reference = TopoReference(address="topo:2379", root_path="/root", implementation="etcd")
    flags = TopologyReconciliation(register_cell=register)
    spec = replace(CELL.spec, global_topo_server=reference, topology_reconciliation=flags)
    cell = replace(CELL, spec=spec)
    await deletion.deletion._deregister(cell, cast(Any, SimpleNamespace(meta=cell.metadata)), cast(Any, None))
    assert bool(calls) is deregisters
