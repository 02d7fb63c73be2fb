"""What a reconcile cannot do for a lasting reason stands in the status of its object."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.kube.errors import AlreadyExists, Conflict, Forbidden, Invalid
from steward.kube.objects.kinds import Key
from steward.multigres.cache_rules import SHARD
from steward.multigres.controllers.common.stall_reporter import ENDING_SECONDS, Telling
from steward.multigres.objects.needed import IncompleteError
from steward.multigres.views import ShardView
from steward.runtime.plan.steps import Plan, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result

KEY = Key("shop", "x")
SEEN = msgspec.convert(
    {
        "metadata": {"name": "x", "namespace": "shop", "generation": 2},
        "spec": {"shardName": "0-inf"},
        "status": {"orchReady": True, "primaryCell": "z1"},
    },
    ShardView,
)


class FakeGround:
    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self.executor = self
        self.forgotten: list[str] = []
        self.neighbours = SimpleNamespace(forget=self.forgotten.append)

    def now(self) -> str:
        return "2026-01-01T00:00:00Z"

    def report(self, ref: object, seen: object, status: dict[str, Any]) -> Plan:
        self.written.append(status)
        return ()

    async def execute(self, plan: Plan, ref: object) -> Any:
        assert not any(isinstance(step, Status) for step in plan)
        return SimpleNamespace(result=DONE)


class Failing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    async def reconcile(self, key: Key) -> Result:
        raise self.error


def telling(error: Exception) -> tuple[Telling, FakeGround]:
    context = FakeGround()
    store: Any = SimpleNamespace(kind=SHARD, get=lambda key: SEEN)
    return Telling(Failing(error), context, store), context  # type: ignore[arg-type]


async def test_what_the_server_refuses_is_quoted_and_tried_again() -> None:
    error = Invalid(422, "Invalid", "affinity: wrong type")
    error.add_note("while applying StatefulSet shop/x for Shard shop/x")
    reconciler, context = telling(error)
    with pytest.raises(Invalid):
        await reconciler.reconcile(KEY)
    [status] = context.written
    assert status["message"].startswith("applying StatefulSet shop/x for Shard shop/x: affinity: wrong type")
    assert "Stalled" in [condition["type"] for condition in status["conditions"]]


async def test_what_a_spec_lacks_is_told_and_not_tried_again() -> None:
    reconciler, context = telling(IncompleteError("spec.globalTopoServer is missing"))
    assert await reconciler.reconcile(KEY) == DONE
    assert context.written[0]["phase"] == "Degraded"


async def test_what_the_status_said_before_stays() -> None:
    reconciler, context = telling(IncompleteError("spec.globalTopoServer is missing"))
    await reconciler.reconcile(KEY)
    assert context.written[0]["primaryCell"] == "z1"
    assert context.written[0]["orchReady"] is True


async def test_what_passes_by_itself_is_left_to_the_next_try() -> None:
    reconciler, context = telling(Conflict(409, "Conflict", "changed meanwhile"))
    with pytest.raises(Conflict):
        await reconciler.reconcile(KEY)
    assert context.written == []


async def test_that_a_namespace_goes_is_no_error_of_what_is_in_it() -> None:
    told = "unable to create new content in namespace shop because it is being terminated"
    reconciler, context = telling(Forbidden(403, "Forbidden", told))
    assert await reconciler.reconcile(KEY) == RequeueAfter(ENDING_SECONDS)
    assert context.written == []


async def test_whoever_finds_a_name_taken_looks_around_again() -> None:
    reconciler, context = telling(AlreadyExists(409, "AlreadyExists", "Service shop/x is there already"))
    with pytest.raises(AlreadyExists):
        await reconciler.reconcile(KEY)
    assert context.forgotten == ["shop"]
    assert context.written == []
