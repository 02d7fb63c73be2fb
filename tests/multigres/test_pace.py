"""Progress is told when it stands still, or has waited long enough; what says nothing new costs no wait."""

from typing import Any

import pytest

from steward.kube.kinds import Key, Ref
from steward.multigres import reasons
from steward.multigres.controllers.pace import HELD_UP_SECONDS, LONGEST_SECONDS, STILL_SECONDS, Pace
from steward.multigres.rules import SHARD
from steward.testkit import FakeClock

REF = Ref(SHARD, Key("shop", "x"))


def status(message: str, since: str = "t") -> dict[str, Any]:
    reason = reasons.HELD_UP if "cannot" in message else reasons.WAITING
    condition = {"type": "Ready", "reason": reason, "lastTransitionTime": since}
    return {"message": message, "conditions": [condition]}


class Scene:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.pace = Pace(self.clock)

    def wait(self, message: str, since: str = "t") -> float:
        return self.pace.seconds_to_wait(REF, status(message, since))

    def told(self, message: str) -> None:
        self.pace.told(REF, status(message))


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_who_was_never_told_anything_is_told_at_once(scene: Scene) -> None:
    assert scene.wait("0 of 3") == 0.0


def test_what_was_told_is_no_news_and_waits_for_nothing(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("0 of 3") == 0.0


def test_a_time_alone_is_no_news(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("0 of 3", since="later") == 0.0


def test_progress_is_told_once_it_stands_still(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("1 of 3") == STILL_SECONDS
    scene.clock.advance(STILL_SECONDS - 1)
    assert scene.wait("1 of 3") == 1.0
    scene.clock.advance(1)
    assert scene.wait("1 of 3") == 0.0


def test_what_has_a_cause_that_somebody_may_have_to_look_at_is_told_sooner(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("pod a cannot be scheduled") == HELD_UP_SECONDS
    scene.clock.advance(HELD_UP_SECONDS)
    assert scene.wait("pod a cannot be scheduled") == 0.0


def test_progress_that_moves_on_is_held_back(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.wait("1 of 3")
    scene.clock.advance(STILL_SECONDS - 1)
    assert scene.wait("2 of 3") == STILL_SECONDS


def test_what_never_stands_still_is_told_at_last(scene: Scene) -> None:
    scene.told("0")
    waited = 0.0
    while wait := scene.wait(f"{waited}"):
        scene.clock.advance(min(1.0, wait))
        waited += min(1.0, wait)
    assert waited == LONGEST_SECONDS


def test_going_back_to_what_was_told_ends_the_wait(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.wait("1 of 3")
    assert scene.wait("0 of 3") == 0.0
    scene.clock.advance(STILL_SECONDS)
    assert scene.wait("1 of 3") == STILL_SECONDS


def test_who_is_forgotten_begins_anew(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.pace.forget(REF)
    assert scene.wait("1 of 3") == 0.0
