import logging
from collections.abc import Iterable
from typing import Any

import pytest

from steward.kube.objects.kinds import Key, Kind
from steward.runtime.controller.controller import Controller, ControllerDependencies, ControllerLoop
from steward.runtime.controller.predicates import any_change, own_object
from steward.runtime.controller.triggers import (
    Channel,
    Debounce,
    EnqueueHooks,
    EventHandler,
    For,
    Owns,
    Trigger,
    Watches,
)
from steward.runtime.observability.metrics import Metrics
from steward.runtime.reconcile import DONE, Lane, Result
from steward.testkit.clock import FakeClock, let_others_run
from tests.runtime.support.views import PARTS, THING, THINGS, FilledCaches, Part, key, owned_by

Enqueued = list[tuple[str, Lane]]


class TriggerRecorder:
    """An event handler, the keys that it enqueued, and its number of errors."""

    def __init__(self, trigger: Trigger, caches: FilledCaches) -> None:
        self.enqueued: Enqueued = []
        self.delays: list[float] = []
        self.errors = 0
        handler = EventHandler(trigger, THING, EnqueueHooks(self._enqueue_after, self._count_error))
        caches.store(trigger.rule).subscribe(handler.handle)

    def _enqueue_after(self, key: Key, lane: Lane, delay: float) -> None:
        self.enqueued.append((key.name, lane))
        self.delays.append(delay)

    def _count_error(self) -> None:
        self.errors += 1


@pytest.fixture
def caches() -> FilledCaches:
    return FilledCaches()


def test_existing_objects_use_the_slow_lane_and_changes_the_fast_one(caches: FilledCaches) -> None:
    caches.add(THINGS, "old", 1)
    recorder = TriggerRecorder(For(THINGS), caches)
    caches.add(THINGS, "listed", 2)
    caches.finish_list(THINGS)
    caches.add(THINGS, "new", 3)
    assert recorder.enqueued == [("old", Lane.SLOW), ("listed", Lane.SLOW), ("new", Lane.FAST)]


def test_an_own_object_is_enqueued_once_for_each_relevant_change(caches: FilledCaches) -> None:
    caches.finish_list(THINGS)
    recorder = TriggerRecorder(For(THINGS, when=own_object("a/pause")), caches)
    caches.add(THINGS, "a", 1, metadata={"generation": 1})
    caches.add(THINGS, "a", 2, metadata={"generation": 1, "labels": {"x": "y"}})
    caches.add(THINGS, "a", 3, metadata={"generation": 1, "annotations": {"a/pause": "yes"}})
    caches.add(THINGS, "a", 4, metadata={"generation": 2, "annotations": {"a/pause": "yes"}})
    assert [name for name, _ in recorder.enqueued] == ["a", "a", "a"]


def test_a_child_enqueues_its_owner(caches: FilledCaches) -> None:
    caches.finish_list(PARTS)
    recorder = TriggerRecorder(Owns(PARTS), caches)
    caches.add(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.add(PARTS, "orphan", 2)
    assert recorder.enqueued == [("thing", Lane.FAST)]


@pytest.mark.parametrize(
    "owner",
    [Kind("other.com/v1", "Thing"), Kind("example.com/v1", "Other")],
    ids=["another group", "another kind"],
)
def test_a_child_of_another_kind_enqueues_nothing(caches: FilledCaches, owner: Kind) -> None:
    recorder = TriggerRecorder(Owns(PARTS), caches)
    caches.add(PARTS, "part", 1, metadata=owned_by("thing", owner))
    assert recorder.enqueued == []


def test_a_child_owned_through_another_version_of_our_kind_enqueues_its_owner(caches: FilledCaches) -> None:
    recorder = TriggerRecorder(Owns(PARTS), caches)
    caches.add(PARTS, "part", 1, metadata=owned_by("thing", Kind("example.com/v1beta1", "Thing")))
    assert [name for name, _ in recorder.enqueued] == ["thing"]


def test_a_child_that_changes_its_owner_enqueues_both_owners(caches: FilledCaches) -> None:
    caches.finish_list(PARTS)
    caches.add(PARTS, "part", 1, metadata=owned_by("old"))
    recorder = TriggerRecorder(Owns(PARTS), caches)
    recorder.enqueued.clear()
    caches.add(PARTS, "part", 2, metadata=owned_by("new"))
    assert [name for name, _ in recorder.enqueued] == ["old", "new"]


def test_a_trigger_for_many_keys_uses_its_slow_lane(caches: FilledCaches) -> None:
    caches.finish_list(PARTS)
    recorder = TriggerRecorder(Watches(PARTS, to=lambda part: [key("x"), key("y")], lane=Lane.SLOW), caches)
    caches.add(PARTS, "template", 1)
    assert recorder.enqueued == [("x", Lane.SLOW), ("y", Lane.SLOW)]


def test_a_failing_mapping_is_counted_and_stops_nothing(
    caches: FilledCaches, caplog: pytest.LogCaptureFixture
) -> None:
    def mapping(part: Part) -> Iterable[Key]:
        if part.metadata.name == "bad":
            raise RuntimeError("no such index")
        return [key("fine")]

    recorder = TriggerRecorder(Watches(PARTS, to=mapping, when=any_change), caches)
    with caplog.at_level(logging.ERROR):
        caches.add(PARTS, "bad", 1)
    caches.add(PARTS, "good", 2)
    assert recorder.errors == 1
    assert recorder.enqueued == [("fine", Lane.SLOW)]
    assert "Secret shop/bad" in caplog.text


def test_a_deletion_triggers(caches: FilledCaches) -> None:
    caches.add(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.finish_list(PARTS)
    recorder = TriggerRecorder(Owns(PARTS), caches)
    recorder.enqueued.clear()
    stored: Any = caches.store(PARTS).get(key("part"))
    caches.store(PARTS).remove_watched(0, stored.metadata)
    assert recorder.enqueued == [("thing", Lane.FAST)]


PATIENT = Owns(PARTS, debounce=Debounce(0.5))


def test_a_trigger_without_debounce_enqueues_at_once(caches: FilledCaches) -> None:
    caches.finish_list(PARTS)
    recorder = TriggerRecorder(Owns(PARTS), caches)
    caches.add(PARTS, "part", 1, metadata=owned_by("thing"))
    assert recorder.delays == [0.0]


def test_changes_that_are_not_urgent_are_debounced(caches: FilledCaches) -> None:
    caches.finish_list(PARTS)
    recorder = TriggerRecorder(PATIENT, caches)
    caches.add(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.add(PARTS, "part", 2, metadata=owned_by("thing"), phase="running")
    assert set(recorder.delays) == {0.5}


def test_a_deletion_is_not_debounced(caches: FilledCaches) -> None:
    caches.add(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.finish_list(PARTS)
    recorder = TriggerRecorder(PATIENT, caches)
    recorder.delays.clear()
    caches.store(PARTS).observe_delete(key("part"), "uid-part")
    assert recorder.delays == [0.0]


def test_the_initial_list_is_not_debounced(caches: FilledCaches) -> None:
    recorder = TriggerRecorder(PATIENT, caches)
    caches.add(PARTS, "part", 1, metadata=owned_by("thing"))
    assert recorder.enqueued == [("thing", Lane.SLOW)]
    assert recorder.delays == [0.0]


def test_a_deletion_is_queued_in_the_urgent_lane(caches: FilledCaches) -> None:
    caches.add(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.finish_list(PARTS)
    recorder = TriggerRecorder(PATIENT, caches)
    recorder.enqueued.clear()
    caches.store(PARTS).observe_delete(key("part"), "uid-part")
    caches.add(PARTS, "other", 2, metadata=owned_by("thing"))
    assert recorder.enqueued == [("thing", Lane.URGENT), ("thing", Lane.FAST)]


def test_no_change_is_urgent_for_a_trigger_of_the_slow_lane(caches: FilledCaches) -> None:
    caches.add(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.finish_list(PARTS)
    recorder = TriggerRecorder(Owns(PARTS, lane=Lane.SLOW, debounce=Debounce(0.5)), caches)
    recorder.enqueued.clear()
    caches.store(PARTS).observe_delete(key("part"), "uid-part")
    assert recorder.enqueued == [("thing", Lane.SLOW)]


class RecordingReconciler:
    def __init__(self) -> None:
        self.reconciled: list[str] = []

    async def reconcile(self, key: Key) -> Result:
        self.reconciled.append(key.name)
        return DONE


async def test_a_key_of_a_channel_is_reconciled_and_ignored_before_the_start() -> None:
    channel, reconciler = Channel(), RecordingReconciler()
    channel.enqueue(Key("ns", "early"))
    controller = Controller("thing", reconciler, (For(THINGS),), workers=1, channel=channel)
    dependencies = ControllerDependencies(FilledCaches(), Metrics(), FakeClock(), lambda: 0.0)  # type: ignore[arg-type]
    loop = ControllerLoop(controller, dependencies)
    loop.start()
    await let_others_run()
    channel.enqueue(Key("ns", "enqueued"))
    await let_others_run()
    loop.stop_accepting()
    await loop.finish(grace=0)
    assert reconciler.reconciled == ["enqueued"]
