"""Plans, previews and events on a real API server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.client.client import Client
from steward.kube.errors import FieldConflict, Forbidden, Invalid, NotFound
from steward.kube.objects.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    EVENT,
    INGRESS,
    NAMESPACE,
    POD,
    SECRET,
    Key,
    Kind,
    Manifest,
    Ref,
)
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import ApplyOptions, ListQuery
from steward.kube.objects.patches import JsonPatch, MergePatch
from steward.runtime.manager.clients import Connection
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.plan.dry_run import DryRunCarrier, Verdict
from steward.runtime.plan.event_recorder import EventRecorder, Note, Reporter
from steward.runtime.plan.executor import Effect, PlanExecutor
from steward.runtime.plan.steps import (
    Apply,
    Create,
    Delete,
    Emit,
    EventType,
    Hold,
    Patch,
    Plan,
    Requeue,
    Status,
)
from tests.runtime.integration.support.greetings import eventually

OURS = "engine-test"


def manifest(namespace: str, name: str, kind: Kind = CONFIG_MAP, **content: Any) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **content}


@pytest.fixture
async def manager(connection: Connection, settings: Settings, namespace: str) -> AsyncIterator[Manager]:
    """A manager with the caches of three kinds, none of which is started unless a test does so."""
    connection.guard.ask(lambda: True)
    manager = Manager(connection, settings)
    connection.guard.ask(lambda: True)
    for kind in (CONFIG_MAP, SECRET, POD):
        manager.store(CacheRule(kind, Metadata, {namespace: ""}, owned_by=OURS))
    await manager.caches.start()
    await manager.caches.wait_synced()
    manager.events.start()
    yield manager
    await manager.events.stop(0)
    await manager.caches.stop()


@pytest.fixture
def executor(manager: Manager) -> PlanExecutor:
    return manager.executor(OURS)


async def effects(executor: PlanExecutor, *plan: Any) -> list[Effect]:
    outcome = await executor.execute(plan, Ref(CONFIG_MAP, Key("", "test")))
    return [carried.effect for carried in outcome.carried]


async def test_a_second_apply_sends_nothing_because_the_first_answer_is_already_known(
    executor: PlanExecutor, namespace: str
) -> None:
    step = Apply(manifest(namespace, "a", data={"x": "1"}))
    assert await effects(executor, step) == [Effect.CREATED]
    assert await effects(executor, step) == [Effect.UNCHANGED]
    assert await effects(executor, Apply(manifest(namespace, "a", data={"x": "2"}))) == [Effect.CHANGED]


async def test_a_create_leaves_what_is_there_as_it_is(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    assert await effects(executor, Create(manifest(namespace, "a", data={"x": "1"}))) == [Effect.CREATED]
    assert await effects(executor, Create(manifest(namespace, "a", data={"x": "2"}))) == [Effect.UNCHANGED]
    assert (await client.get(CONFIG_MAP, Key(namespace, "a")))["data"] == {"x": "1"}


async def test_a_delete_never_hits_a_namesake(executor: PlanExecutor, client: Client, namespace: str) -> None:
    ref = Ref(CONFIG_MAP, Key(namespace, "a"))
    await client.create(manifest(namespace, "a"))
    assert await effects(executor, Delete(ref, "another-uid", "test")) == [Effect.GONE]
    uid = (await client.get(*ref))["metadata"]["uid"]
    assert await effects(executor, Delete(ref, uid, "test")) == [Effect.DELETED]
    with pytest.raises(NotFound):
        await client.get(*ref)


async def test_what_was_deleted_is_out_of_the_cache_and_what_waits_for_its_finalizers_is_not(
    executor: PlanExecutor, manager: Manager, client: Client, namespace: str
) -> None:
    store = next(store for store in manager.caches.stores if store.kind == CONFIG_MAP)
    for name, finalizers in (("plain", []), ("kept", ["example.com/keep"])):
        made = manifest(namespace, name)
        made["metadata"]["finalizers"] = finalizers
        await effects(executor, Create(made))
        uid = store.get(Key(namespace, name)).metadata.uid
        await effects(executor, Delete(Ref(CONFIG_MAP, Key(namespace, name)), uid, "test"))
    assert store.get(Key(namespace, "plain")) is None
    kept = store.get(Key(namespace, "kept"))
    assert kept.metadata.deletion_timestamp
    drop = JsonPatch([{"op": "remove", "path": "/metadata/finalizers"}])
    await effects(executor, Patch(Ref(CONFIG_MAP, Key(namespace, "kept")), drop))


async def test_a_pod_with_a_grace_is_still_there_after_its_delete(
    executor: PlanExecutor, manager: Manager, namespace: str
) -> None:
    pod = manifest(namespace, "slow", POD, spec={"containers": [{"name": "c", "image": "c"}]})
    # Nothing but a kubelet ends a pod that has a node; this one has none that lives.
    pod["spec"]["nodeName"] = "no-such-node"
    store = next(store for store in manager.caches.stores if store.kind == POD)
    await effects(executor, Create(pod))
    ref = Ref(POD, Key(namespace, "slow"))
    await effects(executor, Delete(ref, store.get(ref.key).metadata.uid, "test"))
    assert store.get(ref.key).metadata.deletion_timestamp
    await effects(executor, Delete(ref, store.get(ref.key).metadata.uid, "test", grace_seconds=0))


async def test_a_field_that_somebody_else_owns_is_a_field_conflict_unless_forced(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    await client.apply(manifest(namespace, "a", data={"x": "theirs"}), ApplyOptions(manager="them"))
    ours = manifest(namespace, "a", data={"x": "ours"})
    with pytest.raises(FieldConflict) as raised:
        await effects(executor, Apply(ours, force=False))
    assert raised.value.managers == (("them", ".data.x"),)
    assert await effects(executor, Apply(ours)) == [Effect.CHANGED]


async def test_an_apply_into_a_namespace_that_is_going_is_forbidden(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    doomed = f"{namespace}-doomed"
    keep = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": doomed}}
    await client.create(keep)
    blocker = manifest(doomed, "blocker")
    blocker["metadata"]["finalizers"] = ["example.com/keep"]
    await client.create(blocker)
    await client.delete(Ref(NAMESPACE, Key("", doomed)))
    with pytest.raises(Forbidden) as raised:
        await effects(executor, Apply(manifest(doomed, "late")))
    assert "while applying ConfigMap" in raised.value.__notes__[0]
    drop = JsonPatch([{"op": "remove", "path": "/metadata/finalizers"}])
    await client.patch(Ref(CONFIG_MAP, Key(doomed, "blocker")), drop)


async def test_a_status_that_says_what_is_there_already_is_not_written(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    # A kind whose status nobody else writes here.
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    await client.create(manifest(namespace, "web", INGRESS, spec={"defaultBackend": backend}))
    step = Status(Ref(INGRESS, Key(namespace, "web")), {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}})
    assert await effects(executor, step) == [Effect.CHANGED]
    assert await effects(executor, step) == [Effect.UNCHANGED]


async def test_an_invalid_manifest_names_its_fields(executor: PlanExecutor, namespace: str) -> None:
    with pytest.raises(Invalid) as raised:
        await effects(executor, Apply(manifest(namespace, "a", DEPLOYMENT, spec={"replicas": -1})))
    assert "spec.replicas" in raised.value.causes


async def test_a_preview_shows_every_step_and_changes_nothing(client: Client, namespace: str) -> None:
    await client.apply(manifest(namespace, "same", data={"x": "1"}), ApplyOptions(manager=OURS))
    await client.apply(manifest(namespace, "other", data={"x": "1"}), ApplyOptions(manager=OURS))
    other = Ref(CONFIG_MAP, Key(namespace, "other"))
    uid = (await client.get(*other))["metadata"]["uid"]
    plan: Plan = (
        Apply(manifest(namespace, "same", data={"x": "1"})),
        Apply(manifest(namespace, "other", data={"x": "2"})),
        Apply(manifest(namespace, "new", data={"x": "1"})),
        Create(manifest(namespace, "same")),
        Create(manifest(namespace, "new")),
        Patch(other, MergePatch({"data": {"y": "1"}})),
        Delete(other, uid, "test"),
        Delete(other, "another-uid", "test"),
        Apply(manifest(namespace, "bad", DEPLOYMENT, spec={"replicas": -1})),
        Apply(manifest(f"{namespace}-none", "lost")),
        Status(Ref(DEPLOYMENT, Key(namespace, "none")), {"replicas": 1}),
        Emit(other, "Ready", "it is"),
        Hold(2, "EmptyResult", "held"),
        Requeue(5.0),
    )
    foreseen = await DryRunCarrier(client, OURS).execute(plan, other)
    assert [step.verdict for step in foreseen] == [
        Verdict.NOTHING,
        Verdict.CHANGE,
        Verdict.CREATE,
        Verdict.NOTHING,
        Verdict.CREATE,
        Verdict.CHANGE,
        Verdict.DELETE,
        Verdict.NOTHING,
        Verdict.REFUSED,
        Verdict.UNKNOWN,
        Verdict.UNKNOWN,
        Verdict.TOLD,
        Verdict.HELD,
        Verdict.LATER,
    ]
    assert foreseen[1].before is not None
    assert foreseen[1].after is not None
    assert (foreseen[1].before["data"], foreseen[1].after["data"]) == ({"x": "1"}, {"x": "2"})
    assert (await client.get(*other))["data"] == {"x": "1"}
    assert "spec.replicas" in foreseen[8].problem


async def test_an_event_is_shown_beside_its_object_and_a_series_counts(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    ref = Ref(CONFIG_MAP, Key(namespace, "a"))
    await effects(executor, Create(manifest(namespace, "a")))
    for reason in ("Ready", "Degraded", "Ready"):
        await effects(executor, Emit(ref, reason, f"it is {reason}", EventType.WARNING))

    async def events() -> list[Manifest]:
        found = (await client.list(EVENT, ListQuery(namespace=namespace))).items
        return [event for event in found if event["regarding"]["name"] == "a"]

    async def told() -> bool:
        found = await events()
        counts = {event["reason"]: (event.get("series") or {}).get("count", 1) for event in found}
        return counts == {"Ready": 2, "Degraded": 1}

    await eventually(told, "two events, one of them a series")
    (event, *_) = await events()
    uid = (await client.get(*ref))["metadata"]["uid"]
    assert event["regarding"]["uid"] == uid
    assert (event["type"], event["reportingController"]) == ("Warning", "engine-test")


async def test_an_event_in_a_namespace_that_is_not_there_is_counted_as_refused(
    connection: Connection, namespace: str
) -> None:
    connection.guard.ask(lambda: True)
    recorder = EventRecorder(connection.client, Reporter("t", "t"), connection.metrics, connection.clock)
    recorder.start()
    lost = Ref(CONFIG_MAP, Key(f"{namespace}-none", "a"))
    recorder.emit(Note(lost, "", EventType.NORMAL, "Ready", ""))
    await recorder.stop(30)
    assert connection.metrics.registry.get_sample_value("steward_events_total", {"result": "refused"}) == 1
