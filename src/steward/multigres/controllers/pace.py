"""When news of mere progress goes into a status: once it has stood still for a moment, or has waited long enough.

While pods come up, every sentence is outdated by the next one, and a status for each would be more writing than making
the pods. What stands still is what somebody wants to read: it is told within seconds. Urgent news never asks here.
"""

from typing import Any, NamedTuple

import msgspec

from steward.kube.clock import Clock
from steward.kube.kinds import Manifest, Ref
from steward.multigres import reasons

STILL_SECONDS = 5.0
HELD_UP_SECONDS = 3.0
"""The same for what has a cause that somebody may have to look at."""
LONGEST_SECONDS = 30.0


class _Untold(NamedTuple):
    """What is to be said of an object, since when it is that, and since when there is anything to be said."""

    content: int
    still_since: float
    since: float


class Pace:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: dict[Ref, int] = {}
        self._untold: dict[Ref, _Untold] = {}

    def seconds_to_wait(self, ref: Ref, status: Manifest) -> float:
        """How long this status should be held back yet; nothing if it is due, or says nothing new."""
        content = _content(status)
        if self._told.get(ref, content) == content:
            self._untold.pop(ref, None)
            return 0.0
        now = self._clock.monotonic()
        known = self._untold.get(ref) or _Untold(content, now, now)
        if known.content != content:
            known = _Untold(content, now, known.since)
        self._untold[ref] = known
        still = HELD_UP_SECONDS if _is_held_up(status) else STILL_SECONDS
        return max(0.0, min(known.still_since + still, known.since + LONGEST_SECONDS) - now)

    def told(self, ref: Ref, status: Manifest) -> None:
        self._told[ref] = _content(status)
        self._untold.pop(ref, None)

    def forget(self, ref: Ref) -> None:
        self._told.pop(ref, None)
        self._untold.pop(ref, None)


def _content(status: Manifest) -> int:
    """The status without its times: those of what is not written yet are the present, again and again."""
    conditions = [_timeless(condition) for condition in status["conditions"]]
    return hash(msgspec.json.encode({**status, "conditions": conditions}, order="deterministic"))


def _is_held_up(status: Manifest) -> bool:
    return any(condition["reason"] == reasons.HELD_UP for condition in status["conditions"])


def _timeless(condition: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in condition.items() if name != "lastTransitionTime"}
