import logging
from collections.abc import Iterable
from typing import Any

import pytest

from steward.kube.objects.kinds import Key, Kind, Ref
from steward.runtime.controller.predicates import anything, own_object
from steward.runtime.controller.triggers import Bell, For, Listener, Owns, Patience, Trigger, Watches
from steward.runtime.controller.workqueue import Lane
from steward.runtime.plan.lanes import Echoes, lane_in_hand
from steward.runtime.plan.steps import Delete
from tests.runtime.support.views import PARTS, THING, THINGS, FilledCaches, Part, key, owned_by

Heard = list[tuple[str, Lane]]


class Ears:
    """A listener, what it enqueued, and how often it failed."""

    def __init__(self, trigger: Trigger, caches: FilledCaches) -> None:
        self.heard: Heard = []
        self.gathered: list[float] = []
        self.failures = 0
        self.echoes = Echoes()
        listener = Listener(trigger, THING, Bell(self._wake, self._failed, self.echoes))
        caches.store(trigger.rule).subscribe(listener.hear)

    def _wake(self, key: Key, lane: Lane, gather: float) -> None:
        self.heard.append((key.name, lane))
        self.gathered.append(gather)

    def _failed(self) -> None:
        self.failures += 1


@pytest.fixture
def caches() -> FilledCaches:
    return FilledCaches()


def test_what_was_there_before_takes_the_slow_lane_and_news_the_fast_one(caches: FilledCaches) -> None:
    caches.put(THINGS, "old", 1)
    ears = Ears(For(THINGS), caches)
    caches.put(THINGS, "listed", 2)
    caches.synced(THINGS)
    caches.put(THINGS, "new", 3)
    assert ears.heard == [("old", Lane.SLOW), ("listed", Lane.SLOW), ("new", Lane.FAST)]


def test_an_own_object_is_looked_at_once_for_each_change_that_counts(caches: FilledCaches) -> None:
    caches.synced(THINGS)
    ears = Ears(For(THINGS, when=own_object("a/pause")), caches)
    caches.put(THINGS, "a", 1, metadata={"generation": 1})
    caches.put(THINGS, "a", 2, metadata={"generation": 1, "labels": {"x": "y"}})
    caches.put(THINGS, "a", 3, metadata={"generation": 1, "annotations": {"a/pause": "yes"}})
    caches.put(THINGS, "a", 4, metadata={"generation": 2, "annotations": {"a/pause": "yes"}})
    assert [name for name, _ in ears.heard] == ["a", "a", "a"]


def test_a_child_leads_to_its_controller(caches: FilledCaches) -> None:
    caches.synced(PARTS)
    ears = Ears(Owns(PARTS), caches)
    caches.put(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.put(PARTS, "orphan", 2)
    assert ears.heard == [("thing", Lane.FAST)]


@pytest.mark.parametrize(
    "owner",
    [Kind("other.com/v1", "Thing"), Kind("example.com/v1", "Other")],
    ids=["another group", "another kind"],
)
def test_a_child_of_another_kind_is_none_of_our_business(caches: FilledCaches, owner: Kind) -> None:
    ears = Ears(Owns(PARTS), caches)
    caches.put(PARTS, "part", 1, metadata=owned_by("thing", owner))
    assert ears.heard == []


def test_a_child_owned_through_another_version_of_our_kind_is_ours(caches: FilledCaches) -> None:
    ears = Ears(Owns(PARTS), caches)
    caches.put(PARTS, "part", 1, metadata=owned_by("thing", Kind("example.com/v1beta1", "Thing")))
    assert [name for name, _ in ears.heard] == ["thing"]


def test_a_child_that_changes_hands_wakes_both_owners(caches: FilledCaches) -> None:
    caches.synced(PARTS)
    caches.put(PARTS, "part", 1, metadata=owned_by("old"))
    ears = Ears(Owns(PARTS), caches)
    ears.heard.clear()
    caches.put(PARTS, "part", 2, metadata=owned_by("new"))
    assert [name for name, _ in ears.heard] == ["old", "new"]


def test_a_herd_takes_the_slow_lane_that_its_trigger_names(caches: FilledCaches) -> None:
    caches.synced(PARTS)
    ears = Ears(Watches(PARTS, to=lambda part: [key("x"), key("y")], lane=Lane.SLOW), caches)
    caches.put(PARTS, "template", 1)
    assert ears.heard == [("x", Lane.SLOW), ("y", Lane.SLOW)]


def test_what_the_slow_lane_writes_wakes_in_the_slow_lane_whoever_tells_of_it(caches: FilledCaches) -> None:
    caches.synced(THINGS)
    ears = Ears(For(THINGS), caches)
    lane_in_hand.set(Lane.SLOW)
    with ears.echoes.of(Delete(Ref(THING, key("a")), "uid-a", "it is time")):
        caches.put(THINGS, "a", 1)
        caches.put(THINGS, "b", 2)
    lane_in_hand.set(Lane.FAST)
    caches.put(THINGS, "a", 3, metadata={"generation": 2})
    assert ears.heard == [("a", Lane.SLOW), ("b", Lane.FAST), ("a", Lane.FAST)]


def test_a_mapping_that_fails_is_counted_and_stops_nothing(
    caches: FilledCaches, caplog: pytest.LogCaptureFixture
) -> None:
    def mapping(part: Part) -> Iterable[Key]:
        if part.metadata.name == "bad":
            raise RuntimeError("no such index")
        return [key("fine")]

    ears = Ears(Watches(PARTS, to=mapping, when=anything), caches)
    with caplog.at_level(logging.ERROR):
        caches.put(PARTS, "bad", 1)
    caches.put(PARTS, "good", 2)
    assert ears.failures == 1
    assert ears.heard == [("fine", Lane.SLOW)]
    assert "Secret shop/bad" in caplog.text


def test_what_is_deleted_is_looked_at(caches: FilledCaches) -> None:
    caches.put(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.synced(PARTS)
    ears = Ears(Owns(PARTS), caches)
    ears.heard.clear()
    stored: Any = caches.store(PARTS).get(key("part"))
    caches.store(PARTS).remove(0, stored.metadata)
    assert ears.heard == [("thing", Lane.FAST)]


PATIENT = Owns(PARTS, patience=Patience(0.5))


def test_a_trigger_without_patience_looks_at_once(caches: FilledCaches) -> None:
    caches.synced(PARTS)
    ears = Ears(Owns(PARTS), caches)
    caches.put(PARTS, "part", 1, metadata=owned_by("thing"))
    assert ears.gathered == [0.0]


def test_news_that_can_wait_are_gathered(caches: FilledCaches) -> None:
    caches.synced(PARTS)
    ears = Ears(PATIENT, caches)
    caches.put(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.put(PARTS, "part", 2, metadata=owned_by("thing"), phase="running")
    assert set(ears.gathered) == {0.5}


def test_what_goes_waits_for_nobody(caches: FilledCaches) -> None:
    caches.put(PARTS, "part", 1, metadata=owned_by("thing"))
    caches.synced(PARTS)
    ears = Ears(PATIENT, caches)
    ears.gathered.clear()
    caches.store(PARTS).forget(key("part"), "uid-part")
    assert ears.gathered == [0.0]


def test_the_first_list_is_not_gathered(caches: FilledCaches) -> None:
    ears = Ears(PATIENT, caches)
    caches.put(PARTS, "part", 1, metadata=owned_by("thing"))
    assert ears.heard == [("thing", Lane.SLOW)]
    assert ears.gathered == [0.0]
