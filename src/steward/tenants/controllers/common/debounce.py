"""Not more often than once in a moment, unless something was asked for.

A thousand Tenants that become ready one after the other are a thousand reasons to count them again, and one status.
"""

from typing import Final

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key

MOMENT: Final = 1.0


class Moments:
    def __init__(self, clock: Clock, moment: float = MOMENT) -> None:
        self._clock = clock
        self._moment = moment
        self._last: dict[Key, tuple[object, float]] = {}

    def wait(self, key: Key, inputs: object) -> float:
        """How long to wait; 0 means now, and that this is the last time."""
        now = self._clock.monotonic()
        known = self._last.get(key)
        if known is not None and known[0] == inputs and now - known[1] < self._moment:
            return self._moment - (now - known[1])
        self._last[key] = (inputs, now)
        return 0.0

    def forget(self, key: Key) -> None:
        self._last.pop(key, None)
