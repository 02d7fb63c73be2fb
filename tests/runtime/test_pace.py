"""Progress is told when it stands still, or has waited long enough; what says nothing new costs no wait."""

from typing import Any

import pytest

from steward.kube.kinds import Key, Kind, Ref
from steward.runtime.pace import LONGEST_SECONDS, SLOWEST, Pace, content_of
from steward.testkit import FakeClock

REF = Ref(Kind("example.com/v1", "Thing"), Key("shop", "x"))
STILL = 5.0


def status(message: str, since: str = "t") -> dict[str, Any]:
    return {"message": message, "conditions": [{"type": "Ready", "lastTransitionTime": since}]}


class Scene:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.pace = Pace(self.clock)

    def wait(self, message: str, since: str = "t", still: float = STILL) -> float:
        return self.pace.seconds_to_wait(REF, content_of(status(message, since)), still)

    def told(self, *messages: str) -> None:
        for message in messages:
            self.pace.told(REF, content_of(status(message)))


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_the_first_word_stands_still_before_it_is_told(scene: Scene) -> None:
    assert scene.wait("0 of 3") == STILL
    scene.clock.advance(STILL)
    assert scene.wait("0 of 3") == 0.0


def test_what_was_told_is_no_news_and_waits_for_nothing(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("0 of 3") == 0.0


def test_a_time_alone_is_no_news(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("0 of 3", since="later") == 0.0


def test_progress_is_told_once_it_stands_still(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("1 of 3") == 2 * STILL
    scene.clock.advance(2 * STILL - 1)
    assert scene.wait("1 of 3") == 1.0
    scene.clock.advance(1)
    assert scene.wait("1 of 3") == 0.0


def test_what_turns_out_to_matter_more_is_told_sooner(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.wait("1 of 3")
    scene.clock.advance(1)
    assert scene.wait("1 of 3", still=2.0) == 3.0


def test_progress_that_moves_on_is_held_back(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.wait("1 of 3")
    scene.clock.advance(2 * STILL - 1)
    assert scene.wait("2 of 3") == 2 * STILL


@pytest.mark.parametrize(("times", "slowness"), [(0, 1), (1, 2), (2, 4), (3, SLOWEST), (9, SLOWEST)])
def test_the_more_was_told_the_longer_the_next_must_stand_still(
    scene: Scene, times: int, slowness: int
) -> None:
    scene.told(*(f"{number} of 30" for number in range(times)))
    assert scene.wait("30 of 30", still=2.0) == 2.0 * slowness


def test_the_same_told_again_slows_nothing(scene: Scene) -> None:
    scene.told(*["0 of 3"] * 5)
    assert scene.wait("1 of 3") == 2 * STILL


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
    scene.clock.advance(2 * STILL)
    assert scene.wait("1 of 3") == 2 * STILL


def test_who_is_forgotten_begins_anew(scene: Scene) -> None:
    scene.told("0 of 3", "1 of 3", "2 of 3")
    scene.pace.forget(REF)
    assert scene.wait("0 of 3") == STILL
