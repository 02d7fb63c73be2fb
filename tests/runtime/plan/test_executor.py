"""Execution of plans with a fake server: order, limits and errors."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Callable

import pytest

from steward.kube.apply.applier import is_authoritative
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.errors import (
    AlreadyExists,
    Conflict,
    FieldConflict,
    Forbidden,
    Invalid,
    KubeError,
    NotFound,
)
from steward.kube.objects.kinds import CONFIG_MAP, Key
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.kube.objects.options import ApplyOptions, DeleteOptions
from steward.kube.objects.patches import JsonPatch, MergePatch
from steward.runtime.plan.executor import (
    MAX_CONCURRENT_WRITES_PER_PLAN,
    ExecutorDependencies,
    PlanExecutor,
    StepEffect,
    StepHooks,
)
from steward.runtime.plan.remaining_object import is_terminating
from steward.runtime.plan.steps import Apply, Create, Delete, Emit, Hold, Patch, Requeue, Status, Step
from steward.runtime.plan.write_slots import WriteSlots
from steward.runtime.reconcile import DONE, RequeueAfter
from tests.runtime.support.fake_api_server import GONE, OBJECT, FakeServer, api_error, body, manifest, ref


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


async def test_steps_are_executed_in_the_order_of_the_plan(server: FakeServer) -> None:
    plan = (
        Patch(ref("a"), MergePatch({})),
        Apply(manifest("b")),
        Status(ref("a"), {}),
        Delete(ref("c"), "uid-c", "test"),
        Emit(ref("a"), "Ready", "it is"),
    )
    await server.executor().execute(plan, OBJECT)
    assert server.calls == ["patch a", "apply b", "apply status a", "delete c", "emit Ready"]


async def test_adjacent_applies_are_concurrent_within_a_limit(server: FakeServer) -> None:
    plan = tuple(Apply(manifest(f"n{number}")) for number in range(3 * MAX_CONCURRENT_WRITES_PER_PLAN))
    await server.executor().execute(plan, OBJECT)
    assert server.most_running == MAX_CONCURRENT_WRITES_PER_PLAN
    assert len(server.calls) == len(plan)


async def test_all_plans_of_a_process_share_one_limit(server: FakeServer) -> None:
    dependencies = ExecutorDependencies(server, server, server, server, WriteSlots(3, 3))  # type: ignore[arg-type]
    executor = PlanExecutor(dependencies, "us")
    plans = [tuple(Apply(manifest(f"p{one}-{two}")) for two in range(5)) for one in range(5)]
    await asyncio.gather(*(executor.execute(plan, OBJECT) for plan in plans))
    assert server.most_running == 3


async def test_a_plan_cancelled_before_its_steps_begin_leaves_no_coroutine_unawaited(
    server: FakeServer,
) -> None:
    """Once, the coroutine of a step was never awaited, and Python warned about it."""
    execution = asyncio.create_task(
        server.executor().execute((Apply(manifest("a")), Apply(manifest("b"))), OBJECT)
    )
    await asyncio.sleep(0)
    execution.cancel()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        await asyncio.wait((execution,))
        gc.collect()
    assert [str(warning.message) for warning in caught] == []
    assert server.calls == []


def test_absence_from_a_cache_that_leaves_the_object_out_proves_nothing() -> None:
    def kept(meta: ObjectMeta) -> bool:
        return meta.name == "kept"

    store = Store(CacheRule(CONFIG_MAP, Metadata, owned_by="us", accepts=kept))
    store.finish_list(0, set(), "1")
    options = ApplyOptions(manager="us")
    assert is_authoritative(store, ref("kept"), manifest("kept"), options)
    assert not is_authoritative(store, ref("other"), manifest("other"), options)


async def test_the_first_error_stops_later_steps_but_not_its_own_group(server: FakeServer) -> None:
    server.errors["bad"] = api_error(Invalid)
    plan = (Apply(manifest("bad")), Apply(manifest("good")), Status(ref("a"), {}))
    with pytest.raises(Invalid):
        await server.executor().execute(plan, OBJECT)
    assert sorted(server.calls) == ["apply bad", "apply good"]


@pytest.mark.parametrize("kind", [Invalid, Forbidden, FieldConflict, Conflict])
async def test_an_error_keeps_its_type_and_names_the_object(
    server: FakeServer, kind: type[KubeError]
) -> None:
    server.errors["bad"] = api_error(kind)
    with pytest.raises(kind) as raised:
        await server.executor().execute((Apply(manifest("bad")),), OBJECT)
    assert raised.value.__notes__ == ["while applying ConfigMap shop/bad for ConfigMap shop/cause"]


async def test_all_errors_of_a_group_are_reported(server: FakeServer) -> None:
    server.errors = {"one": api_error(Forbidden, "no right"), "two": api_error(Invalid, "no sense")}
    with pytest.raises(Forbidden) as raised:
        await server.executor().execute((Apply(manifest("one")), Apply(manifest("two"))), OBJECT)
    assert (
        raised.value.__notes__[1]
        == "also failed: applying ConfigMap shop/two for ConfigMap shop/cause: no sense"
    )


@pytest.mark.parametrize(
    ("step", "error", "effect"),
    [
        (Create(manifest("x")), AlreadyExists, StepEffect.UNCHANGED),
        (Delete(ref("x"), "uid-x", "test"), NotFound, StepEffect.GONE),
        (Delete(ref("x"), "uid-x", "test"), Conflict, StepEffect.GONE),
        (Status(ref("x"), {}), NotFound, StepEffect.GONE),
    ],
    ids=[
        "create of what is there",
        "delete of what is gone",
        "delete of a namesake",
        "status of what is gone",
    ],
)
async def test_a_step_whose_goal_is_reached_is_no_error(
    server: FakeServer, step: Step, error: type[KubeError], effect: StepEffect
) -> None:
    server.errors["x"] = api_error(error)
    outcome = await server.executor().execute((step,), OBJECT)
    assert [executed.effect for executed in outcome.steps] == [effect]
    assert outcome.writes == 0


async def test_a_delete_with_a_resource_version_spares_a_changed_object(server: FakeServer) -> None:
    server.errors["x"] = api_error(Conflict)
    with pytest.raises(Conflict):
        await server.executor().execute((Delete(ref("x"), "uid-x", "test", resource_version="7"),), OBJECT)


async def test_a_patch_of_a_missing_object_is_an_error(server: FakeServer) -> None:
    server.errors["x"] = api_error(NotFound)
    with pytest.raises(NotFound):
        await server.executor().execute((Patch(ref("x"), JsonPatch([])),), OBJECT)


@pytest.mark.parametrize(
    "step", [Apply(manifest("x")), Create(manifest("x")), Patch(ref("x"), MergePatch({}))]
)
async def test_the_response_of_a_write_is_cached_at_once(server: FakeServer, step: Step) -> None:
    await server.executor().execute((step,), OBJECT)
    assert server.store.get(Key("shop", "x")) is not None


async def test_of_two_caches_with_our_field_manager_the_one_that_selects_the_object_is_used(
    server: FakeServer,
) -> None:
    part = Store(CacheRule(CONFIG_MAP, Metadata, {"*": "part=1"}, owned_by="us"))
    server.more_stores.append(part)
    for store in (part, server.store):
        store.finish_list(0, set(), "1")
    labelled = manifest("b")
    labelled["metadata"]["labels"] = {"part": "1"}
    await server.executor().execute((Apply(manifest("a")), Apply(labelled)), OBJECT)
    assert server.used_stores == [server.store, part]


async def test_an_object_that_was_deleted_leaves_the_cache_at_once(server: FakeServer) -> None:
    server.store.put_watched(0, body("x", 3))
    await server.executor().execute((Delete(ref("x"), "uid-x", "test"),), OBJECT)
    assert server.store.get(Key("shop", "x")) is None


async def test_an_object_that_waits_for_its_finalizers_stays_in_the_cache(server: FakeServer) -> None:
    server.store.put_watched(0, body("x", 3))
    server.answers["x"] = body("x", 4, deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["a/b"])
    await server.executor().execute((Delete(ref("x"), "uid-x", "test"),), OBJECT)
    left = server.store.get(Key("shop", "x"))
    assert left is not None
    assert left.metadata.deletion_timestamp


@pytest.mark.parametrize(
    ("answer", "there"),
    [
        (GONE, False),
        (body("x", 1), False),
        (body("x", 1, deletionTimestamp="t", finalizers=["a/b"]), True),
        (body("x", 1, deletionTimestamp="t", deletionGracePeriodSeconds=30), True),
        (body("x", 1, deletionTimestamp="t", deletionGracePeriodSeconds=0), False),
    ],
)
def test_the_response_of_a_delete_shows_whether_the_object_still_exists(answer: bytes, there: bool) -> None:
    assert is_terminating(answer) is there


async def test_an_object_without_its_last_finalizer_leaves_the_cache_at_once(server: FakeServer) -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
    server.store.put_watched(0, body("x", 3, **leaving, finalizers=["a/b"]))
    server.answers["x"] = body("x", 3, **leaving)
    patch = JsonPatch([{"op": "remove", "path": "/metadata/finalizers"}])
    await server.executor().execute((Patch(ref("x"), patch),), OBJECT)
    assert server.store.get(Key("shop", "x")) is None


async def test_a_delete_is_bound_to_the_uid(server: FakeServer) -> None:
    step = Delete(ref("x"), "uid-x", "test", propagation="Orphan", grace_seconds=5)
    await server.executor().execute((step,), OBJECT)
    assert server.options == [DeleteOptions(uid="uid-x", propagation="Orphan", grace_seconds=5)]


async def test_a_status_is_a_forced_apply_of_the_subresource_by_our_manager(server: FakeServer) -> None:
    await server.executor().execute((Status(ref("x"), {"ready": True}),), OBJECT)
    assert server.options == [ApplyOptions(manager="us", force=True, subresource="status")]


async def test_an_event_finds_the_uid_of_its_object_in_the_caches(server: FakeServer) -> None:
    server.store.put_watched(0, body("x", 3))
    await server.executor().execute((Emit(ref("x"), "Ready", "it is"),), OBJECT)
    assert server.events[0].uid == "uid-x"


async def test_the_earliest_requeue_is_the_result(server: FakeServer) -> None:
    outcome = await server.executor().execute((Requeue(30.0), Requeue(5.0)), OBJECT)
    assert outcome.result == RequeueAfter(5.0)


async def test_without_a_requeue_the_result_is_done(server: FakeServer) -> None:
    outcome = await server.executor().execute((Hold(3, "EmptyResult", "held"),), OBJECT)
    assert outcome.result == DONE
    assert [hold.count for hold in outcome.holds] == [3]


async def test_hooks_are_called_before_and_after_each_step(server: FakeServer) -> None:
    def event(when: str) -> Callable[[Step], None]:
        return lambda step: server.calls.append(f"{when} {type(step).__name__}")

    hooks = StepHooks(before=event("before"), after=event("after"))
    await server.executor(hooks).execute((Patch(ref("a"), MergePatch({})), Requeue(1.0)), OBJECT)
    assert server.calls == ["before Patch", "patch a", "after Patch", "before Requeue", "after Requeue"]
