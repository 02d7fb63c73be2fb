"""Lasting failures of a reconcile are reported in the status of its object."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.kube.errors import AlreadyExists, Conflict, Forbidden, Invalid
from steward.kube.objects.kinds import Key
from steward.multigres.cache_rules import SHARD
from steward.multigres.controllers.common.stall_reporter import MultigresStallReporter
from steward.multigres.objects.topo_access import IncompleteSpecError
from steward.multigres.views import ShardView
from steward.runtime.plan.steps import Plan, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.runtime.status.stall_reporter import TERMINATING_SECONDS

KEY = Key("shop", "x")
LIVE = msgspec.convert(
    {
        "metadata": {"name": "x", "namespace": "shop", "generation": 2},
        "spec": {"shardName": "0-inf"},
        "status": {"orchReady": True, "primaryCell": "z1"},
    },
    ShardView,
)


class FakeContext:
    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self.executor = self
        self.forgotten: list[str] = []
        self.foreign_objects = SimpleNamespace(forget=self.forgotten.append)
        self.reporter = self
        self.rejections = 0

    def now(self) -> str:
        return "2026-01-01T00:00:00Z"

    def report(self, ref: object, live: object, status: dict[str, Any]) -> Plan:
        self.written.append(status)
        return ()

    async def execute(self, plan: Plan, ref: object) -> Any:
        assert not any(isinstance(step, Status) for step in plan)
        if self.rejections:
            self.rejections -= 1
            raise Invalid(422, "Invalid", "status is invalid")
        return SimpleNamespace(result=DONE)


class Failing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    async def reconcile(self, key: Key) -> Result:
        raise self.error


def failing_with(error: Exception) -> tuple[MultigresStallReporter, FakeContext]:
    context = FakeContext()
    store: Any = SimpleNamespace(kind=SHARD, get=lambda key: LIVE)
    return MultigresStallReporter(Failing(error), context, store), context  # type: ignore[arg-type]


async def test_a_rejected_request_is_reported_and_retried() -> None:
    error = Invalid(422, "Invalid", "affinity: wrong type")
    error.add_note("while applying StatefulSet shop/x for Shard shop/x")
    reconciler, context = failing_with(error)
    with pytest.raises(Invalid):
        await reconciler.reconcile(KEY)
    [status] = context.written
    assert status["message"].startswith("applying StatefulSet shop/x for Shard shop/x: affinity: wrong type")
    assert "Stalled" in [condition["type"] for condition in status["conditions"]]


async def test_an_incomplete_spec_is_reported_and_not_retried() -> None:
    reconciler, context = failing_with(IncompleteSpecError("spec.globalTopoServer is missing"))
    assert await reconciler.reconcile(KEY) == DONE
    assert context.written[0]["phase"] == "Degraded"


async def test_the_previous_status_fields_stay() -> None:
    reconciler, context = failing_with(IncompleteSpecError("spec.globalTopoServer is missing"))
    await reconciler.reconcile(KEY)
    assert context.written[0]["primaryCell"] == "z1"
    assert context.written[0]["orchReady"] is True


async def test_a_passing_error_is_not_reported() -> None:
    reconciler, context = failing_with(Conflict(409, "Conflict", "changed meanwhile"))
    with pytest.raises(Conflict):
        await reconciler.reconcile(KEY)
    assert context.written == []


async def test_a_terminating_namespace_is_not_reported() -> None:
    message = "unable to create new content in namespace shop because it is being terminated"
    reconciler, context = failing_with(Forbidden(403, "Forbidden", message))
    assert await reconciler.reconcile(KEY) == RequeueAfter(TERMINATING_SECONDS)
    assert context.written == []


async def test_a_name_that_is_taken_drops_the_cached_foreign_names() -> None:
    reconciler, context = failing_with(AlreadyExists(409, "AlreadyExists", "Service shop/x is there already"))
    with pytest.raises(AlreadyExists):
        await reconciler.reconcile(KEY)
    assert context.forgotten == ["shop"]
    assert context.written == []


async def test_a_status_that_is_rejected_is_written_without_its_details() -> None:
    """Else the status would stay as it was, and nothing would show why."""
    reconciler, context = failing_with(Invalid(422, "Invalid", "status.cells.z1: must not be null"))
    context.rejections = 1
    with pytest.raises(Invalid):
        await reconciler.reconcile(KEY)
    [rejected, written] = context.written
    assert rejected["primaryCell"] == "z1"
    assert written.keys() == {"observedGeneration", "conditions", "phase", "message"}
    assert "must not be null" in written["message"]
