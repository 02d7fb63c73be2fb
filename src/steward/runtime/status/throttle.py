"""When news of mere progress goes into a status: a first word soon, and another only when progress stops or takes long.

While pods come up every sentence is outdated by the next one, and a status for each would be more writing than making
the pods. Two words are enough for what comes up: what it waits for, and that it is ready. A word in between is worth
writing where progress has stopped. How long that is cannot be said in seconds alone: on a busy machine half a minute
between two pods is the pace of that machine. So what moved has stopped when it has stood still for as long as all that
came before it took. To tell progress whenever some seconds have passed was tried and rejected: the slower the API
server is, the more is then written to it.

A cause that somebody may have to look at is no mere progress: it is told almost at once, and that another one has taken
its place, or none, after some seconds. Urgent news never asks here.

    pace = Pace(clock)
    news = News(content_of(status), is_held_up=...)
    wait = pace.seconds_to_wait(ref, news)
    if wait: come back after `wait`, or earlier
    else:    write the status, then pace.told(ref, news)
    ...
    pace.forget(ref)        # it is ready, or gone
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Manifest, Ref

FIRST_WORD_SECONDS = 3.0
"""What is ready by then needs no word before; what is not has said nothing for no longer than this."""
STILL_SECONDS = 10.0
HELD_UP_SECONDS = 0.5
LONGEST_SECONDS = 60.0
"""What moves on and on is told anew this often, unless somebody follows it closely."""


class News(NamedTuple):
    """What a status would say, whether it names a cause that may need somebody, for how long it is not ready, and how
    often it is told anew while it moves on and on."""

    content: int
    is_held_up: bool = False
    age: float = 0.0
    longest: float = LONGEST_SECONDS


@dataclass
class _Course:
    """Of one object, from the moment in which it was no longer ready, or was made."""

    began: float
    news: News
    still_since: float
    held_up_since: float | None = None
    told: News | None = None
    told_at: float = 0.0

    def saw(self, news: News, now: float) -> None:
        if news.content != self.news.content:
            self.still_since = now
        self.news = news
        if not news.is_held_up:
            self.held_up_since = None
        elif self.held_up_since is None:
            self.held_up_since = now

    def due(self) -> float:
        if self.told is None:
            return self.began + FIRST_WORD_SECONDS
        if self.held_up_since is not None and not self.told.is_held_up:
            return self.held_up_since + HELD_UP_SECONDS
        so_far = 0.0 if self.told.is_held_up else self.still_since - self.began
        return min(self.still_since + max(STILL_SECONDS, so_far), self.told_at + self.news.longest)


class Pace:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._courses: dict[Ref, _Course] = {}

    def seconds_to_wait(self, ref: Ref, news: News) -> float:
        """How long this should be held back yet; nothing if it is due, or says nothing new."""
        course, now = self._seen(ref, news)
        is_known = course.told is not None and course.told.content == news.content
        return 0.0 if is_known else max(0.0, course.due() - now)

    def told(self, ref: Ref, news: News) -> None:
        course, now = self._seen(ref, news)
        course.told, course.told_at = news, now

    def forget(self, ref: Ref) -> None:
        self._courses.pop(ref, None)

    def _seen(self, ref: Ref, news: News) -> tuple[_Course, float]:
        now = self._clock.monotonic()
        course = self._courses.get(ref)
        if course is None:
            course = self._courses[ref] = _Course(now - news.age, news, now)
        course.saw(news, now)
        return course, now


def content_of(status: Manifest) -> int:
    """The status without its times: those of what is not written yet are the present, again and again."""
    conditions = [_timeless(condition) for condition in status["conditions"]]
    return hash(msgspec.json.encode({**status, "conditions": conditions}, order="deterministic"))


def _timeless(condition: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in condition.items() if name != "lastTransitionTime"}
