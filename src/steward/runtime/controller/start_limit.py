"""Limits how many new objects are started at once while the API server is saturated.

An object that takes several stages (pods of one component before those of the next) is ready late if all objects start
together: the pods of its last stage wait behind the pods of the first stage of every other object. The order of writes
cannot change that, because those pods wait in the queues of Kubernetes' own controllers. Started a few at a time, the
objects become ready one after the other, and the last one no later than before: a saturated server does not do more
work in the same time if more is asked of it.

An object counts as started until `finish`. Its controller calls that as soon as Kubernetes' controllers and scheduler
have nothing left to do for it, and not only when it is ready: images that are pulled for a minute on the object's nodes
must not delay the others. Where no image is pulled that changes little: of ten clusters on one machine each waits 0.6
to 2.5 s for its servers after its last pod, and the processors were idle for 4 and 5 % of the time instead of 6 %.
With three clusters at once instead of two the whole took 6 and 10 % longer.

The limit grows while the API server is not saturated: by one after half a second, by two after the next, and so on.
Where objects wait for something else, such as nodes that are being added, a hundred are started within seconds.
Starting all of them as soon as writes are fast was rejected: the writes of the started objects end long before their
pods are ready, and by the time that the next writes are slow again, everything has been started. A started object
counts for some seconds only, so that one whose pods cannot be scheduled delays the others a little and never stops
them: the more, the slower the server is, because everything takes longer then.
"""

from collections.abc import Callable
from itertools import islice
from typing import Final

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.runtime.plan.write_slots import SATURATED

AT_ONCE: Final = 2
GROWTH_SECONDS: Final = 0.5
"""How often the limit grows while the API server is not saturated."""
COUNTED_SECONDS: Final = 5.0
"""For how long a started object counts, for each multiple of the time that writes take on an idle server."""
MIN_COUNTED_SECONDS: Final = COUNTED_SECONDS * SATURATED
MAX_COUNTED_SECONDS: Final = 120.0
RETRY_SECONDS: Final = 0.5
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
        self._growth = 0
        self._changed_at = clock.monotonic()
        self._started: dict[Key, float] = {}
        self._waiting: dict[Key, None] = {}

    def is_closed(self, key: Key) -> bool:
        """Whether `start` would refuse this object."""
        return key not in self._started and not self._free()

    def is_started(self, key: Key) -> bool:
        """Whether it has started and is not finished."""
        return key in self._started

    def start(self, key: Key) -> bool:
        """Counts the object as started; False if it has to wait. It is woken when another one is finished."""
        if self.is_closed(key):
            self._waiting[key] = None
            return False
        self._waiting.pop(key, None)
        self._started.setdefault(key, self._clock.monotonic())
        return True

    def finish(self, key: Key) -> None:
        """Kubernetes has nothing left to do for the object, or it is ready or was deleted."""
        self._waiting.pop(key, None)
        if self._started.pop(key, None) is not None:
            for other in list(islice(self._waiting, self._free())):
                del self._waiting[other]
                self._wake(other)

    def _free(self) -> int:
        """How many more objects may start. The limit grows and shrinks here: objects that wait ask often."""
        now, slowdown = self._clock.monotonic(), self._slowdown()
        counted = self._counted(now, slowdown)
        if slowdown >= SATURATED or (counted < self._at_once and not self._waiting):
            self._growth, self._changed_at = 0, now
        elif counted >= self._at_once + self._growth and now - self._changed_at >= GROWTH_SECONDS:
            self._growth, self._changed_at = 2 * self._growth + 1, now
        return max(0, self._at_once + self._growth - counted)

    def _counted(self, now: float, slowdown: float) -> int:
        seconds = min(MAX_COUNTED_SECONDS, max(MIN_COUNTED_SECONDS, COUNTED_SECONDS * slowdown))
        return sum(since > now - seconds for since in self._started.values())
