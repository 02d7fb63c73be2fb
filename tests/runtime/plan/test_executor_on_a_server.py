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
from steward.runtime.plan.dry_run import DryRunExecutor, DryRunOutcome
from steward.runtime.plan.event_recorder import EventRecorder, ObjectEvent, Reporter
from steward.runtime.plan.executor import PlanExecutor, StepEffect
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
    """A manager with the caches of three kinds, started only by the tests that need them."""
    connection.write_fence.allow_when(lambda: True)
    manager = Manager(connection, settings)
    connection.write_fence.allow_when(lambda: True)
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


async def effects(executor: PlanExecutor, *plan: Any) -> list[StepEffect]:
    outcome = await executor.execute(plan, Ref(CONFIG_MAP, Key("", "test")))
    return [executed.effect for executed in outcome.steps]


async def test_a_second_apply_sends_nothing_because_the_first_response_is_cached(
    executor: PlanExecutor, namespace: str
) -> None:
    step = Apply(manifest(namespace, "a", data={"x": "1"}))
    assert await effects(executor, step) == [StepEffect.CREATED]
    assert await effects(executor, step) == [StepEffect.UNCHANGED]
    assert await effects(executor, Apply(manifest(namespace, "a", data={"x": "2"}))) == [StepEffect.CHANGED]


async def test_a_create_does_not_change_an_existing_object(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    assert await effects(executor, Create(manifest(namespace, "a", data={"x": "1"}))) == [StepEffect.CREATED]
    assert await effects(executor, Create(manifest(namespace, "a", data={"x": "2"}))) == [
        StepEffect.UNCHANGED
    ]
    assert (await client.get(CONFIG_MAP, Key(namespace, "a")))["data"] == {"x": "1"}


async def test_a_delete_never_deletes_another_object_of_the_same_name(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    ref = Ref(CONFIG_MAP, Key(namespace, "a"))
    await client.create(manifest(namespace, "a"))
    assert await effects(executor, Delete(ref, "another-uid", "test")) == [StepEffect.GONE]
    uid = (await client.get(*ref))["metadata"]["uid"]
    assert await effects(executor, Delete(ref, uid, "test")) == [StepEffect.DELETED]
    with pytest.raises(NotFound):
        await client.get(*ref)


async def test_a_deleted_object_leaves_the_cache_and_one_with_finalizers_does_not(
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


async def test_a_pod_with_a_grace_period_still_exists_after_its_delete(
    executor: PlanExecutor, manager: Manager, namespace: str
) -> None:
    pod = manifest(namespace, "slow", POD, spec={"containers": [{"name": "c", "image": "c"}]})
    # Only a kubelet ends a pod with a node; this pod's node does not exist.
    pod["spec"]["nodeName"] = "no-such-node"
    store = next(store for store in manager.caches.stores if store.kind == POD)
    await effects(executor, Create(pod))
    ref = Ref(POD, Key(namespace, "slow"))
    await effects(executor, Delete(ref, store.get(ref.key).metadata.uid, "test"))
    assert store.get(ref.key).metadata.deletion_timestamp
    await effects(executor, Delete(ref, store.get(ref.key).metadata.uid, "test", grace_seconds=0))


async def test_a_field_of_another_manager_is_a_conflict_unless_forced(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    await client.apply(manifest(namespace, "a", data={"x": "theirs"}), ApplyOptions(manager="them"))
    ours = manifest(namespace, "a", data={"x": "ours"})
    with pytest.raises(FieldConflict) as raised:
        await effects(executor, Apply(ours, force=False))
    assert raised.value.managers == (("them", ".data.x"),)
    assert await effects(executor, Apply(ours)) == [StepEffect.CHANGED]


async def test_an_apply_into_a_terminating_namespace_is_forbidden(
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


async def test_an_unchanged_status_is_not_written(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    # A kind whose status no other controller writes here.
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    await client.create(manifest(namespace, "web", INGRESS, spec={"defaultBackend": backend}))
    step = Status(Ref(INGRESS, Key(namespace, "web")), {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}})
    assert await effects(executor, step) == [StepEffect.CHANGED]
    assert await effects(executor, step) == [StepEffect.UNCHANGED]


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
    foreseen = await DryRunExecutor(client, OURS).execute(plan, other)
    assert [step.outcome for step in foreseen] == [
        DryRunOutcome.UNCHANGED,
        DryRunOutcome.CHANGE,
        DryRunOutcome.CREATE,
        DryRunOutcome.UNCHANGED,
        DryRunOutcome.CREATE,
        DryRunOutcome.CHANGE,
        DryRunOutcome.DELETE,
        DryRunOutcome.UNCHANGED,
        DryRunOutcome.REJECTED,
        DryRunOutcome.UNKNOWN,
        DryRunOutcome.UNKNOWN,
        DryRunOutcome.EMITTED,
        DryRunOutcome.HELD,
        DryRunOutcome.REQUEUED,
    ]
    assert foreseen[1].before is not None
    assert foreseen[1].after is not None
    assert (foreseen[1].before["data"], foreseen[1].after["data"]) == ({"x": "1"}, {"x": "2"})
    assert (await client.get(*other))["data"] == {"x": "1"}
    assert "spec.replicas" in foreseen[8].problem


async def test_an_event_is_shown_with_its_object_and_a_series_counts(
    executor: PlanExecutor, client: Client, namespace: str
) -> None:
    ref = Ref(CONFIG_MAP, Key(namespace, "a"))
    await effects(executor, Create(manifest(namespace, "a")))
    for reason in ("Ready", "Degraded", "Ready"):
        await effects(executor, Emit(ref, reason, f"it is {reason}", EventType.WARNING))

    async def events() -> list[Manifest]:
        listed = (await client.list(EVENT, ListQuery(namespace=namespace))).items
        return [event for event in listed if event["regarding"]["name"] == "a"]

    async def is_counted() -> bool:
        listed = await events()
        counts = {event["reason"]: (event.get("series") or {}).get("count", 1) for event in listed}
        return counts == {"Ready": 2, "Degraded": 1}

    await eventually(is_counted, "two events, one of them a series")
    (event, *_) = await events()
    uid = (await client.get(*ref))["metadata"]["uid"]
    assert event["regarding"]["uid"] == uid
    assert (event["type"], event["reportingController"]) == ("Warning", "engine-test")


async def test_an_event_in_a_missing_namespace_is_counted_as_refused(
    connection: Connection, namespace: str
) -> None:
    connection.write_fence.allow_when(lambda: True)
    recorder = EventRecorder(connection.client, Reporter("t", "t"), connection.metrics, connection.clock)
    recorder.start()
    lost = Ref(CONFIG_MAP, Key(f"{namespace}-none", "a"))
    recorder.emit(ObjectEvent(lost, "", EventType.NORMAL, "Ready", ""))
    await recorder.stop(30)
    assert connection.metrics.registry.get_sample_value("steward_events_total", {"result": "refused"}) == 1
