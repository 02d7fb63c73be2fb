"""The primary switch controller: asks multiadmin, and reports the result."""

from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import ObjectMeta
from steward.multiadmin.errors import MultiadminError, RequestRejected, Unreachable
from steward.multigres import reasons
from steward.multigres.api.shard import ShardSpec
from steward.multigres.controllers.common.primary_switches import PrimarySwitches, SwitchRequest
from steward.multigres.controllers.common.servers import Servers
from steward.multigres.controllers.shard.primary_switch import PrimarySwitchReconciler
from steward.multigres.metrics import SwitchMetrics
from steward.multigres.rollout.switching import SwitchAttempt
from steward.multigres.views import ShardView
from steward.runtime.controller.triggers import Channel
from steward.testkit import FakeClock
from tests.multigres.support.servers import HEALTHY

SHARD = Key("shop", "s")
REQUEST = SwitchRequest("pg-0", "its node is drained")


class Switching:
    """A shard whose primary is pg-0, and a multiadmin that fails with `error`, if any."""

    def __init__(self) -> None:
        self.clock, self.calls, self.events = FakeClock(), [], []  # type: tuple[FakeClock, list[Any], list[Any]]
        self.error: MultiadminError | None = None
        self.is_paused = False
        self.registry = CollectorRegistry()
        labels = {"multigres.com/cluster": "shop"}
        spec = ShardSpec(shard_name="0-inf", database_name="postgres", table_group_name="default")
        self.shard: ShardView | None = ShardView(ObjectMeta(name="s", namespace="shop", labels=labels), spec)
        self.context: Any = SimpleNamespace(
            clock=self.clock,
            rules=SimpleNamespace(shard=None),
            store=lambda rule: SimpleNamespace(get=lambda key: self.shard),
            switches=PrimarySwitches(self.clock),
            servers=Servers(self.clock, Channel()),
            switch_metrics=SwitchMetrics(self.registry),
            multiadmin=SimpleNamespace(at=lambda address: self),
            executor=self,
            paused=SimpleNamespace(includes=lambda ref: self.is_paused),
        )
        self.context.servers.record(SHARD, HEALTHY, ())
        self.reconciler = PrimarySwitchReconciler(self.context)

    async def switch_primary(self, *arguments: str) -> None:
        self.calls.append(arguments)
        if self.error is not None:
            raise self.error

    async def execute(self, plan: Any, ref: Any) -> None:
        self.events += [step.reason for step in plan]

    async def run(self, request: SwitchRequest = REQUEST) -> None:
        self.context.switches.request(SHARD, request)
        await self.reconciler.reconcile(SHARD)

    def count(self, result: str) -> float | None:
        labels = {"namespace": "shop", "result": result}
        return self.registry.get_sample_value("multigres_operator_primary_switches_total", labels)


@pytest.fixture
def switching() -> Switching:
    return Switching()


async def test_a_requested_switch_is_asked_for_and_reported(switching: Switching) -> None:
    await switching.run()
    assert switching.calls == [("postgres", "default", "0-inf", REQUEST.purpose)]
    assert switching.events == [reasons.SWITCH_REQUESTED]
    assert switching.context.switches.last(SHARD) == SwitchAttempt("pg-0")
    assert switching.context.switches.pending(SHARD) is None
    assert switching.count("done") == 1


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RequestRejected("the address: status 400: no standby", 9, "no standby"), "no standby"),
        (Unreachable("shop-multiadmin.shop.svc: no answer"), "shop-multiadmin.shop.svc: no answer"),
    ],
)
async def test_a_refusal_is_reported_with_its_cause(
    switching: Switching, error: MultiadminError, words: str
) -> None:
    switching.error = error
    await switching.run()
    assert switching.events == [reasons.SWITCH_REQUESTED, reasons.SWITCH_REFUSED]
    assert switching.context.switches.last(SHARD) == SwitchAttempt("pg-0", words)
    assert switching.count("refused") == 1


async def test_a_pod_that_is_no_longer_the_primary_is_not_switched(switching: Switching) -> None:
    await switching.run(SwitchRequest("pg-1", "it was the primary a moment ago"))
    assert switching.calls == []
    assert switching.context.switches.pending(SHARD) is None


async def test_a_shard_that_is_gone_is_not_switched(switching: Switching) -> None:
    switching.shard = None
    await switching.run()
    assert switching.calls == []
    assert switching.context.switches.pending(SHARD) is None


async def test_a_paused_cluster_is_not_switched(switching: Switching) -> None:
    switching.is_paused = True
    await switching.run()
    assert (switching.calls, switching.events) == ([], [])
