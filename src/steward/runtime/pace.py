"""When news of mere progress goes into a status: once it has stood still for a moment, or has waited long enough.

While pods come up, every sentence is outdated by the next one, and a status for each would be more writing than making
the pods. What stands still is what somebody wants to read: it is told within seconds. The more often progress was told
since it began, the longer the next piece of it has to stand still. Urgent news never asks here.

    pace = Pace(clock)
    wait = pace.seconds_to_wait(ref, content_of(status), still=5.0)
    if wait: come back after `wait`
    else:    write the status, then pace.told(ref, content_of(status))
    ...
    pace.forget(ref)        # it is ready, or gone
"""

from typing import Any, NamedTuple

import msgspec

from steward.kube.clock import Clock
from steward.kube.kinds import Manifest, Ref

LONGEST_SECONDS = 30.0
SLOWEST = 8
"""How many times as long progress must stand still at last."""


class _Told(NamedTuple):
    content: int
    times: int


class _Untold(NamedTuple):
    """What is to be said of an object, since when it is that, and since when there is anything to be said."""

    content: int
    still_since: float
    since: float


class Pace:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: dict[Ref, _Told] = {}
        self._untold: dict[Ref, _Untold] = {}

    def seconds_to_wait(self, ref: Ref, content: int, still: float) -> float:
        """How long this should be held back yet; nothing if it is due, or says nothing new."""
        told = self._told.get(ref)
        if told is not None and told.content == content:
            self._untold.pop(ref, None)
            return 0.0
        now = self._clock.monotonic()
        known = self._untold.get(ref) or _Untold(content, now, now)
        if known.content != content:
            known = _Untold(content, now, known.since)
        self._untold[ref] = known
        slowed = still * _slowness(0 if told is None else told.times)
        return max(0.0, min(known.still_since + slowed, known.since + LONGEST_SECONDS) - now)

    def told(self, ref: Ref, content: int) -> None:
        told = self._told.get(ref)
        if told is None or told.content != content:
            self._told[ref] = _Told(content, 1 if told is None else told.times + 1)
        self._untold.pop(ref, None)

    def forget(self, ref: Ref) -> None:
        self._told.pop(ref, None)
        self._untold.pop(ref, None)


def _slowness(times: int) -> int:
    return int(min(2**times, SLOWEST))


def content_of(status: Manifest) -> int:
    """The status without its times: those of what is not written yet are the present, again and again."""
    conditions = [_timeless(condition) for condition in status["conditions"]]
    return hash(msgspec.json.encode({**status, "conditions": conditions}, order="deterministic"))


def _timeless(condition: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in condition.items() if name != "lastTransitionTime"}
