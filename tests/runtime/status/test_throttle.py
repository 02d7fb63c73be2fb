"""A first word soon; another when progress stops or takes long; what says nothing new costs no wait."""

from typing import Any

import pytest

from steward.kube.objects.kinds import Key, Kind, Ref
from steward.runtime.status.throttle import (
    FIRST_WORD_SECONDS,
    HELD_UP_SECONDS,
    LONGEST_SECONDS,
    STILL_SECONDS,
    News,
    Pace,
    content_of,
)
from steward.testkit import FakeClock

REF = Ref(Kind("example.com/v1", "Thing"), Key("shop", "x"))


def news(message: str, since: str = "t", /, *, held_up: bool = False) -> News:
    conditions = [{"type": "Ready", "lastTransitionTime": since}]
    status: dict[str, Any] = {"message": message, "conditions": conditions}
    return News(content_of(status), held_up)


class Scene:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.pace = Pace(self.clock)

    def wait(self, message: str, since: str = "t", /, *, held_up: bool = False) -> float:
        return self.pace.seconds_to_wait(REF, news(message, since, held_up=held_up))

    def told(self, message: str, *, held_up: bool = False) -> None:
        self.pace.told(REF, news(message, held_up=held_up))


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_the_first_word_is_told_soon_however_fast_progress_is(scene: Scene) -> None:
    assert scene.wait("0 of 3") == FIRST_WORD_SECONDS
    scene.clock.advance(FIRST_WORD_SECONDS - 1)
    assert scene.wait("1 of 3") == 1.0
    scene.clock.advance(1)
    assert scene.wait("2 of 3") == 0.0


def test_what_was_told_is_no_news_and_waits_for_nothing(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("0 of 3") == 0.0


def test_a_time_alone_is_no_news(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("0 of 3", "later") == 0.0


def test_progress_is_told_once_it_has_stopped(scene: Scene) -> None:
    scene.told("0 of 3")
    assert scene.wait("1 of 3") == STILL_SECONDS
    scene.clock.advance(STILL_SECONDS - 1)
    assert scene.wait("1 of 3") == 1.0
    scene.clock.advance(1)
    assert scene.wait("1 of 3") == 0.0


def test_the_slower_progress_is_the_longer_it_must_stand_still_to_have_stopped(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.clock.advance(20)
    assert scene.wait("1 of 3") == 20.0
    scene.clock.advance(10)
    assert scene.wait("2 of 3") == 30.0


def test_what_was_not_ready_before_the_first_look_counts_too(scene: Scene) -> None:
    old = news("0 of 3")._replace(age=40.0)
    assert scene.pace.seconds_to_wait(REF, old) == 0.0
    scene.pace.told(REF, old)
    assert scene.wait("1 of 3") == 40.0


def test_a_slow_start_at_an_even_pace_is_told_twice_in_all(scene: Scene) -> None:
    """The first word, and then that it is ready, of which nobody asks here."""
    scene.told("0 of 10")
    for number in range(1, 10):
        scene.clock.advance(6)
        assert scene.wait(f"{number} of 10") > 0.0


def test_what_never_stops_is_told_again_after_a_while(scene: Scene) -> None:
    scene.told("0")
    waited = 0.0
    while wait := scene.wait(f"{waited}"):
        scene.clock.advance(min(1.0, wait))
        waited += min(1.0, wait)
    assert waited == LONGEST_SECONDS


def test_what_is_followed_closely_is_told_again_sooner(scene: Scene) -> None:
    scene.told("0 of 9")
    scene.clock.advance(25)
    assert scene.pace.seconds_to_wait(REF, news("1 of 9")._replace(longest=30.0)) == 5.0


def test_causes_that_take_turns_are_told_again_after_a_while(scene: Scene) -> None:
    scene.told("no node for a", held_up=True)
    scene.clock.advance(LONGEST_SECONDS - 1)
    assert scene.wait("no node for b", held_up=True) == 1.0


def test_going_back_to_what_was_told_ends_the_wait(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.wait("1 of 3")
    assert scene.wait("0 of 3") == 0.0


def test_a_cause_is_told_almost_at_once(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.clock.advance(60)
    assert scene.wait("0 of 3: no node", held_up=True) == HELD_UP_SECONDS
    scene.clock.advance(HELD_UP_SECONDS)
    assert scene.wait("0 of 3: no node", held_up=True) == 0.0


def test_a_cause_is_not_held_back_because_its_words_change(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.wait("0 of 3: no node for a", held_up=True)
    scene.clock.advance(HELD_UP_SECONDS)
    assert scene.wait("0 of 3: no node for b", held_up=True) == 0.0


def test_a_cause_that_has_passed_at_once_is_not_told(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.wait("0 of 3: no node", held_up=True)
    scene.clock.advance(HELD_UP_SECONDS)
    assert scene.wait("1 of 3") == STILL_SECONDS


@pytest.mark.parametrize("held_up", [True, False], ids=["another cause", "none"])
def test_what_takes_the_place_of_a_cause_is_told_after_some_seconds(scene: Scene, held_up: bool) -> None:
    scene.told("0 of 3")
    scene.clock.advance(30)
    scene.told("0 of 3: no node", held_up=True)
    scene.clock.advance(30)
    assert scene.wait("1 of 3", held_up=held_up) == STILL_SECONDS


def test_who_is_forgotten_begins_anew(scene: Scene) -> None:
    scene.told("0 of 3")
    scene.pace.forget(REF)
    assert scene.wait("0 of 3") == FIRST_WORD_SECONDS
