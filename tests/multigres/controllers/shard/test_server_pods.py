"""Servers of a removed cell leave after its gateways, pods included."""

from types import SimpleNamespace
from typing import Any

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres import names
from steward.multigres.api.shard import ShardSpec
from steward.multigres.controllers.shard.server_pods import ServerPods
from steward.multigres.objects import gateway
from steward.multigres.objects.metadata import CELL_LABEL, CLUSTER_LABEL, COMPONENT_LABEL
from steward.multigres.views import PodView, ShardView
from steward.testkit import FakeClock

CLOCK = FakeClock()
GATEWAY = names.gateway("shop", "z2")
SHARD = ShardView(
    ObjectMeta(name="s", namespace="home", labels={CLUSTER_LABEL: "shop"}),
    ShardSpec(shard_name="0-inf"),
)


def pod(ends_in: float | None = None, component: str = gateway.COMPONENT, cell: str = "z2") -> PodView:
    ends_at = None if ends_in is None else to_timestamp(CLOCK.now() + ends_in)
    labels = {COMPONENT_LABEL: component, CLUSTER_LABEL: "shop", CELL_LABEL: cell}
    meta = ObjectMeta(name="g", namespace="home", uid="u", labels=labels, deletion_timestamp=ends_at)
    return PodView(metadata=meta)


def server_pods(pods: list[PodView], deployments: dict[str, object], cells: dict[str, object]) -> ServerPods:
    stores = {
        "pod": SimpleNamespace(list=lambda namespace: pods),
        "deployment": SimpleNamespace(get=lambda key: deployments.get(key.name)),
        "cell": SimpleNamespace(get=lambda key: cells.get(key.name)),
        "stateful_set": None,
    }
    rules = SimpleNamespace(**{name: name for name in stores})
    context: Any = SimpleNamespace(clock=CLOCK, rules=rules, store=stores.__getitem__)
    return ServerPods(context)


@pytest.mark.parametrize(
    ("pods", "deployments", "expected"),
    [
        pytest.param([], {GATEWAY: object()}, GATEWAY, id="their Deployment exists"),
        pytest.param([pod(20.0)], {}, GATEWAY, id="a pod of theirs ends"),
        pytest.param([pod(-1.0)], {}, "", id="a pod of theirs should have ended"),
        pytest.param([pod(20.0, cell="z1")], {}, "", id="a pod of another cell ends"),
        pytest.param([pod(20.0, component="shard-pool")], {}, "", id="a pod of another component ends"),
        pytest.param([], {}, "", id="they are gone"),
    ],
)
def test_servers_of_a_removed_cell_wait_for_its_gateways(
    pods: list[PodView], deployments: dict[str, object], expected: str
) -> None:
    assert server_pods(pods, deployments, {}).blocking_gateways(SHARD, "z2") == expected


def test_servers_of_a_cell_that_stays_wait_for_no_gateway() -> None:
    stays = SimpleNamespace(metadata=ObjectMeta(name=names.cell("shop", "z2"), namespace="home"))
    found = server_pods([pod()], {GATEWAY: object()}, {names.cell("shop", "z2"): stays})
    assert found.blocking_gateways(SHARD, "z2") == ""
