"""Limits how many new objects are started at once while the API server is saturated.

An object that takes several stages (pods of one component before those of the next) is ready late if all objects start
together: the pods of its last stage wait behind the pods of the first stage of every other object. The order of writes
cannot change that, because those pods wait in the queues of Kubernetes' own controllers. Started a few at a time, the
objects become ready one after the other, and the last one no later than before: a saturated server does not do more
work in the same time if more is asked of it.

The limit holds only while the API server is saturated. Where objects wait for something else, such as images and
databases that start, all of them start at once. A started object counts for some seconds only, so that one that cannot
become ready delays the others a little and never stops them: the more, the slower the server is, because everything
takes longer then.
"""

from collections.abc import Callable
from itertools import islice
from typing import Final

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.runtime.plan.write_slots import SATURATED

AT_ONCE: Final = 3
COUNTED_SECONDS: Final = 5.0
"""For how long a started object counts, for each multiple of the time that writes take on an idle server."""
MAX_COUNTED_SECONDS: Final = 120.0
RETRY_SECONDS: Final = 2.0
"""When an object that waits asks again, unless another one finishes earlier."""


class StartLimit:
    """`slowdown` is that of the API server's writes, `wake` enqueues a key of the controller."""

    def __init__(
        self,
        clock: Clock,
        slowdown: Callable[[], float],
        wake: Callable[[Key], None],
        at_once: int = AT_ONCE,
    ) -> None:
        self._clock = clock
        self._slowdown = slowdown
        self._wake = wake
        self._at_once = at_once
        self._started: dict[Key, float] = {}
        self._waiting: dict[Key, None] = {}

    def is_closed(self, key: Key) -> bool:
        """Whether `start` would refuse this object."""
        return key not in self._started and self._slowdown() >= SATURATED and not self._free()

    def start(self, key: Key) -> bool:
        """Counts the object as started; False if it has to wait. It is woken when another one is finished."""
        if self.is_closed(key):
            self._waiting[key] = None
            return False
        self._waiting.pop(key, None)
        self._started.setdefault(key, self._clock.monotonic())
        return True

    def finish(self, key: Key) -> None:
        """The object is ready, or was deleted."""
        self._waiting.pop(key, None)
        if self._started.pop(key, None) is not None:
            for other in list(islice(self._waiting, self._free())):
                del self._waiting[other]
                self._wake(other)

    def _free(self) -> int:
        counted_seconds = min(MAX_COUNTED_SECONDS, COUNTED_SECONDS * self._slowdown())
        oldest = self._clock.monotonic() - counted_seconds
        counted = sum(since > oldest for since in self._started.values())
        return max(0, self._at_once - counted)
