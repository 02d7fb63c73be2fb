"""Evictions with a fake server."""

from __future__ import annotations

import pytest

from steward.kube.errors import (
    Conflict,
    DisruptionBudget,
    InternalError,
    KubeError,
    NotFound,
)
from steward.kube.objects.kinds import Key
from steward.kube.objects.options import DeleteOptions
from steward.runtime.plan.executor import (
    StepEffect,
)
from steward.runtime.plan.steps import Delete
from tests.runtime.support.fake_api_server import OBJECT, FakeServer, api_error, body, ref

EVICTION = Delete(ref("x"), "uid-x", "test", by="eviction")


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


async def test_an_evicted_pod_is_terminating_in_the_cache_before_the_next_step(server: FakeServer) -> None:
    server.store.put_watched(0, body("x", 3))
    server.answers["x"] = body("x", 4, deletionTimestamp="2026-01-01T00:00:00Z")
    outcome = await server.executor().execute((EVICTION,), OBJECT)
    assert server.calls == ["evict x"]
    assert server.options == [DeleteOptions(uid="uid-x", propagation="Background")]
    assert [executed.effect for executed in outcome.steps] == [StepEffect.DELETED]
    left = server.store.get(Key("shop", "x"))
    assert left is not None
    assert left.metadata.deletion_timestamp


async def test_an_evicted_and_deleted_pod_leaves_the_cache_at_once(server: FakeServer) -> None:
    server.store.put_watched(0, body("x", 3))
    await server.executor().execute((EVICTION,), OBJECT)
    assert server.store.get(Key("shop", "x")) is None


async def test_the_replacement_of_an_evicted_pod_is_not_confused_with_it(server: FakeServer) -> None:
    server.store.put_watched(0, body("x", 3))
    server.answers["x"] = body("x", 5, uid="uid-of-the-next")
    await server.executor().execute((EVICTION,), OBJECT)
    found = server.store.get(Key("shop", "x"))
    assert found is not None
    assert found.metadata.uid == "uid-of-the-next"


@pytest.mark.parametrize(
    ("error", "effect"),
    [(NotFound, StepEffect.GONE), (Conflict, StepEffect.GONE), (DisruptionBudget, StepEffect.FORBIDDEN)],
)
async def test_an_eviction_that_a_budget_forbids_or_that_comes_too_late_is_no_error(
    server: FakeServer, error: type[KubeError], effect: StepEffect
) -> None:
    server.errors["x"] = api_error(error)
    outcome = await server.executor().execute((EVICTION,), OBJECT)
    assert [executed.effect for executed in outcome.steps] == [effect]
    assert outcome.writes == 0
    assert outcome.forbidden == ((EVICTION,) if effect is StepEffect.FORBIDDEN else ())


async def test_a_pod_with_two_budgets_stays_and_another_internal_error_is_raised(
    server: FakeServer,
) -> None:
    two = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    server.errors["x"] = api_error(InternalError, two)
    assert (await server.executor().execute((EVICTION,), OBJECT)).forbidden == (EVICTION,)
    server.errors["x"] = api_error(InternalError, "etcd is full")
    with pytest.raises(InternalError):
        await server.executor().execute((EVICTION,), OBJECT)
