"""Limits reconciles of a key to one in an interval, unless the inputs have changed.

A thousand Tenants that become ready one after the other are a thousand triggers of their registry, and one status.
"""

from typing import Final, NamedTuple

from steward.kube.bounded_cache import TtlCache
from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key

INTERVAL_SECONDS: Final = 1.0


class _LastReconcile(NamedTuple):
    inputs: object
    at: float


class ReconcileDebounce:
    def __init__(self, clock: Clock, seconds: float = INTERVAL_SECONDS) -> None:
        self._clock = clock
        self._seconds = seconds
        self._last: TtlCache[Key, _LastReconcile] = TtlCache(clock, seconds)

    def seconds_to_wait(self, key: Key, inputs: object) -> float:
        """0 means that the key is reconciled now, and that the interval starts again."""
        last, now = self._last.get(key), self._clock.monotonic()
        if last is not None and last.inputs == inputs and (wait := self._seconds - (now - last.at)) > 0:
            return wait
        self._last.set(key, _LastReconcile(inputs, now))
        return 0.0

    def forget(self, key: Key) -> None:
        self._last.forget(key)
