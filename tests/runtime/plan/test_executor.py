"""How a plan is carried out, with a server that is played: order, bounds and errors."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from steward.kube.apply.applier import Applied, Outcome
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.errors import (
    AlreadyExists,
    Conflict,
    DisruptionBudget,
    FieldConflict,
    Forbidden,
    InternalError,
    Invalid,
    KubeError,
    NotFound,
)
from steward.kube.objects.kinds import CONFIG_MAP, Key, Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import ApplyOptions, DeleteOptions
from steward.kube.objects.patches import JsonPatch, MergePatch
from steward.kube.objects.patches import Patch as PatchBody
from steward.runtime.controller.workqueue import Lane
from steward.runtime.plan.event_recorder import Note
from steward.runtime.plan.executor import (
    WRITES_OF_A_PLAN,
    Effect,
    ExecutorDependencies,
    PlanExecutor,
    StepHooks,
    is_still_there,
)
from steward.runtime.plan.lanes import lane_in_hand
from steward.runtime.plan.steps import Apply, Create, Delete, Emit, Hold, Patch, Requeue, Status, Step
from steward.runtime.reconcile import DONE, RequeueAfter

CAUSE = Ref(CONFIG_MAP, Key("shop", "cause"))
GONE = b'{"kind":"Status","status":"Success"}'


def manifest(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}}


def ref(name: str) -> Ref:
    return Ref(CONFIG_MAP, Key("shop", name))


def body(name: str, version: int, **meta: Any) -> bytes:
    fields = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return msgspec.json.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields | meta})


class Server:
    """Plays client, applier, caches and events; answers what it was told to, else success."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.errors: dict[str, Exception] = {}
        self.answers: dict[str, bytes] = {}
        self.notes: list[Note] = []
        self.store: Store[Metadata] = Store(CacheRule(CONFIG_MAP, Metadata, owned_by="us"))
        self.more_stores: list[Store[Metadata]] = []
        self.asked_stores: list[Any] = []
        self.at_once = 0
        self.most_at_once = 0
        self.options: list[Any] = []

    def stores_of(self, kind: Kind) -> tuple[Store[Metadata], ...]:
        return tuple(store for store in (*self.more_stores, self.store) if store.kind == kind)

    async def _answer(self, verb: str, name: str, otherwise: bytes) -> bytes:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        self.said.append(f"{verb} {name}")
        if name in self.errors:
            raise self.errors[name]
        return self.answers.get(name, otherwise)

    async def apply(self, manifest: Manifest, options: ApplyOptions, store: Any = None) -> Applied:
        self.options.append(options)
        self.asked_stores.append(store)
        verb = f"apply {options.subresource}".strip()
        name = ref_of(manifest).key.name
        answer = await self._answer(verb, name, body(name, 1))
        if store is not None:
            store.observe(answer)
        return Applied(Outcome.CHANGED, answer)

    async def create(self, manifest: Manifest, **options: Any) -> bytes:
        name = ref_of(manifest).key.name
        return await self._answer("create", name, body(name, 1))

    async def patch(self, ref: Ref, patch: PatchBody, subresource: str = "", **options: Any) -> bytes:
        return await self._answer("patch", ref.key.name, body(ref.key.name, 5))

    async def delete(self, ref: Ref, options: DeleteOptions) -> bytes:
        self.options.append(options)
        return await self._answer("delete", ref.key.name, GONE)

    async def evict(self, ref: Ref, options: DeleteOptions) -> None:
        self.options.append(options)
        await self._answer("evict", ref.key.name, GONE)

    async def get(self, kind: Kind, key: Key) -> Any:
        if key.name not in self.answers:
            raise refusal(NotFound)
        return msgspec.json.decode(self.answers[key.name])

    def emit(self, note: Note) -> None:
        self.said.append(f"emit {note.reason}")
        self.notes.append(note)

    def executor(self, hooks: StepHooks | None = None) -> PlanExecutor:
        return PlanExecutor(ExecutorDependencies(self, self, self, self), "us", hooks)  # type: ignore[arg-type]


@pytest.fixture
def server() -> Server:
    return Server()


def refusal(kind: type[KubeError], message: str = "refused") -> Any:
    return kind(400, "Reason", message)


async def test_steps_go_out_in_the_order_of_the_plan(server: Server) -> None:
    plan = (
        Patch(ref("a"), MergePatch({})),
        Apply(manifest("b")),
        Status(ref("a"), {}),
        Delete(ref("c"), "uid-c", "test"),
        Emit(ref("a"), "Ready", "it is"),
    )
    await server.executor().execute(plan, CAUSE)
    assert server.said == ["patch a", "apply b", "apply status a", "delete c", "emit Ready"]


async def test_neighbouring_applies_go_out_together_within_a_bound(server: Server) -> None:
    plan = tuple(Apply(manifest(f"n{number}")) for number in range(3 * WRITES_OF_A_PLAN))
    await server.executor().execute(plan, CAUSE)
    assert server.most_at_once == WRITES_OF_A_PLAN
    assert len(server.said) == len(plan)


async def test_all_plans_of_a_process_share_one_bound(server: Server) -> None:
    reach = ExecutorDependencies(server, server, server, server, asyncio.Semaphore(3))  # type: ignore[arg-type]
    executor = PlanExecutor(reach, "us")
    plans = [tuple(Apply(manifest(f"p{one}-{two}")) for two in range(5)) for one in range(5)]
    await asyncio.gather(*(executor.execute(plan, CAUSE) for plan in plans))
    assert server.most_at_once == 3


async def test_a_plan_cancelled_before_its_steps_begin_forgets_none_of_them(server: Server) -> None:
    """A step that was a coroutine in the hands of another was never awaited, and Python said so at the end."""
    carrying = asyncio.create_task(
        server.executor().execute((Apply(manifest("a")), Apply(manifest("b"))), CAUSE)
    )
    await asyncio.sleep(0)
    carrying.cancel()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        await asyncio.wait((carrying,))
        gc.collect()
    assert [str(warning.message) for warning in told] == []
    assert server.said == []


async def test_the_first_error_stops_later_steps_but_not_its_own_group(server: Server) -> None:
    server.errors["bad"] = refusal(Invalid)
    plan = (Apply(manifest("bad")), Apply(manifest("good")), Status(ref("a"), {}))
    with pytest.raises(Invalid):
        await server.executor().execute(plan, CAUSE)
    assert sorted(server.said) == ["apply bad", "apply good"]


@pytest.mark.parametrize("kind", [Invalid, Forbidden, FieldConflict, Conflict])
async def test_an_error_keeps_its_type_and_names_the_object(server: Server, kind: type[KubeError]) -> None:
    server.errors["bad"] = refusal(kind)
    with pytest.raises(kind) as raised:
        await server.executor().execute((Apply(manifest("bad")),), CAUSE)
    assert raised.value.__notes__ == ["while applying ConfigMap shop/bad for ConfigMap shop/cause"]


async def test_all_errors_of_a_group_are_told(server: Server) -> None:
    server.errors = {"one": refusal(Forbidden, "no right"), "two": refusal(Invalid, "no sense")}
    with pytest.raises(Forbidden) as raised:
        await server.executor().execute((Apply(manifest("one")), Apply(manifest("two"))), CAUSE)
    assert (
        raised.value.__notes__[1]
        == "also failed: applying ConfigMap shop/two for ConfigMap shop/cause: no sense"
    )


@pytest.mark.parametrize(
    ("step", "error", "effect"),
    [
        (Create(manifest("x")), AlreadyExists, Effect.UNCHANGED),
        (Delete(ref("x"), "uid-x", "test"), NotFound, Effect.GONE),
        (Delete(ref("x"), "uid-x", "test"), Conflict, Effect.GONE),
        (Status(ref("x"), {}), NotFound, Effect.GONE),
    ],
    ids=[
        "create of what is there",
        "delete of what is gone",
        "delete of a namesake",
        "status of what is gone",
    ],
)
async def test_what_is_already_as_it_should_be_is_no_error(
    server: Server, step: Step, error: type[KubeError], effect: Effect
) -> None:
    server.errors["x"] = refusal(error)
    outcome = await server.executor().execute((step,), CAUSE)
    assert [carried.effect for carried in outcome.carried] == [effect]
    assert outcome.writes == 0


async def test_what_may_go_only_as_it_was_seen_stays_when_it_has_changed(server: Server) -> None:
    server.errors["x"] = refusal(Conflict)
    with pytest.raises(Conflict):
        await server.executor().execute((Delete(ref("x"), "uid-x", "test", resource_version="7"),), CAUSE)


async def test_a_patch_of_what_is_gone_is_an_error(server: Server) -> None:
    server.errors["x"] = refusal(NotFound)
    with pytest.raises(NotFound):
        await server.executor().execute((Patch(ref("x"), JsonPatch([])),), CAUSE)


@pytest.mark.parametrize(
    "step", [Apply(manifest("x")), Create(manifest("x")), Patch(ref("x"), MergePatch({}))]
)
async def test_the_answer_of_a_write_is_in_the_cache_at_once(server: Server, step: Step) -> None:
    await server.executor().execute((step,), CAUSE)
    assert server.store.get(Key("shop", "x")) is not None


async def test_whoever_hears_of_a_write_of_the_slow_lane_can_tell_that_it_is_one(server: Server) -> None:
    reach = ExecutorDependencies(server, server, server, server)  # type: ignore[arg-type]
    heard = []
    server.store.subscribe(lambda change: heard.append(reach.echoes.is_slow(Ref(change.kind, change.key))))
    lane_in_hand.set(Lane.SLOW)
    await PlanExecutor(reach, "us").execute((Apply(manifest("a")), Apply(manifest("b"))), CAUSE)
    lane_in_hand.set(Lane.FAST)
    await PlanExecutor(reach, "us").execute((Apply(manifest("c")),), CAUSE)
    assert heard == [True, True, False]


async def test_of_two_caches_that_keep_what_we_own_the_one_is_asked_that_holds_the_object(
    server: Server,
) -> None:
    part = Store(CacheRule(CONFIG_MAP, Metadata, {"*": "part=1"}, owned_by="us"))
    server.more_stores.append(part)
    for store in (part, server.store):
        store.finish_list(0, set(), "1")
    labelled = manifest("b")
    labelled["metadata"]["labels"] = {"part": "1"}
    await server.executor().execute((Apply(manifest("a")), Apply(labelled)), CAUSE)
    assert server.asked_stores == [server.store, part]


async def test_an_object_that_was_deleted_leaves_the_cache_at_once(server: Server) -> None:
    server.store.put(0, body("x", 3))
    await server.executor().execute((Delete(ref("x"), "uid-x", "test"),), CAUSE)
    assert server.store.get(Key("shop", "x")) is None


async def test_an_object_that_waits_for_its_finalizers_stays_in_the_cache(server: Server) -> None:
    server.store.put(0, body("x", 3))
    server.answers["x"] = body("x", 4, deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["a/b"])
    await server.executor().execute((Delete(ref("x"), "uid-x", "test"),), CAUSE)
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
def test_the_answer_of_a_delete_tells_whether_the_object_lives_on(answer: bytes, there: bool) -> None:
    assert is_still_there(answer) is there


async def test_who_loses_its_last_finalizer_is_gone_from_the_cache_at_once(server: Server) -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
    server.store.put(0, body("x", 3, **leaving, finalizers=["a/b"]))
    server.answers["x"] = body("x", 3, **leaving)
    patch = JsonPatch([{"op": "remove", "path": "/metadata/finalizers"}])
    await server.executor().execute((Patch(ref("x"), patch),), CAUSE)
    assert server.store.get(Key("shop", "x")) is None


async def test_a_delete_is_bound_to_the_uid(server: Server) -> None:
    step = Delete(ref("x"), "uid-x", "test", propagation="Orphan", grace_seconds=5)
    await server.executor().execute((step,), CAUSE)
    assert server.options == [DeleteOptions(uid="uid-x", propagation="Orphan", grace_seconds=5)]


EVICTION = Delete(ref("x"), "uid-x", "test", by="eviction")


async def test_a_pod_that_was_evicted_is_known_to_go_before_the_next_step(server: Server) -> None:
    server.store.put(0, body("x", 3))
    server.answers["x"] = body("x", 4, deletionTimestamp="2026-01-01T00:00:00Z")
    outcome = await server.executor().execute((EVICTION,), CAUSE)
    assert server.said == ["evict x"]
    assert server.options == [DeleteOptions(uid="uid-x", propagation="Background")]
    assert [carried.effect for carried in outcome.carried] == [Effect.DELETED]
    left = server.store.get(Key("shop", "x"))
    assert left is not None
    assert left.metadata.deletion_timestamp


async def test_a_pod_that_was_evicted_and_is_gone_leaves_the_cache_at_once(server: Server) -> None:
    server.store.put(0, body("x", 3))
    await server.executor().execute((EVICTION,), CAUSE)
    assert server.store.get(Key("shop", "x")) is None


async def test_the_successor_of_an_evicted_pod_is_not_taken_for_it(server: Server) -> None:
    server.store.put(0, body("x", 3))
    server.answers["x"] = body("x", 5, uid="uid-of-the-next")
    await server.executor().execute((EVICTION,), CAUSE)
    found = server.store.get(Key("shop", "x"))
    assert found is not None
    assert found.metadata.uid == "uid-of-the-next"


@pytest.mark.parametrize(
    ("error", "effect"),
    [(NotFound, Effect.GONE), (Conflict, Effect.GONE), (DisruptionBudget, Effect.FORBIDDEN)],
)
async def test_an_eviction_that_a_budget_forbids_or_that_comes_too_late_is_no_error(
    server: Server, error: type[KubeError], effect: Effect
) -> None:
    server.errors["x"] = refusal(error)
    outcome = await server.executor().execute((EVICTION,), CAUSE)
    assert [carried.effect for carried in outcome.carried] == [effect]
    assert outcome.writes == 0
    assert outcome.forbidden == ((EVICTION,) if effect is Effect.FORBIDDEN else ())


async def test_a_pod_with_two_budgets_stays_and_another_fault_of_the_server_is_an_error(
    server: Server,
) -> None:
    two = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    server.errors["x"] = refusal(InternalError, two)
    assert (await server.executor().execute((EVICTION,), CAUSE)).forbidden == (EVICTION,)
    server.errors["x"] = refusal(InternalError, "etcd is full")
    with pytest.raises(InternalError):
        await server.executor().execute((EVICTION,), CAUSE)


async def test_a_status_is_a_forced_apply_of_the_subresource_by_our_manager(server: Server) -> None:
    await server.executor().execute((Status(ref("x"), {"ready": True}),), CAUSE)
    assert server.options == [ApplyOptions(manager="us", force=True, subresource="status")]


async def test_an_event_finds_the_uid_of_its_object_in_the_caches(server: Server) -> None:
    server.store.put(0, body("x", 3))
    await server.executor().execute((Emit(ref("x"), "Ready", "it is"),), CAUSE)
    assert server.notes[0].uid == "uid-x"


async def test_the_earliest_requeue_is_the_answer(server: Server) -> None:
    outcome = await server.executor().execute((Requeue(30.0), Requeue(5.0)), CAUSE)
    assert outcome.result == RequeueAfter(5.0)


async def test_without_a_requeue_the_answer_is_done(server: Server) -> None:
    outcome = await server.executor().execute((Hold(3, "EmptyResult", "held"),), CAUSE)
    assert outcome.result == DONE
    assert [hold.count for hold in outcome.holds] == [3]


async def test_hooks_stand_before_and_after_each_step(server: Server) -> None:
    def note(when: str) -> Callable[[Step], None]:
        return lambda step: server.said.append(f"{when} {type(step).__name__}")

    hooks = StepHooks(before=note("before"), after=note("after"))
    await server.executor(hooks).execute((Patch(ref("a"), MergePatch({})), Requeue(1.0)), CAUSE)
    assert server.said == ["before Patch", "patch a", "after Patch", "before Requeue", "after Requeue"]
