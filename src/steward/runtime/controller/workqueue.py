"""The work queue of a controller: deduplicating, one worker per key, three lanes, retries with backoff.

A key is queued at most once and processed by at most one worker. A key that is added while it is processed is queued
again when its worker is done, so no change is lost and no two workers process the same key. A key that is added while
it is delayed (by a requeue or after a failure) is queued at once: the reconcile decides again whether to wait.

Changes that are not urgent are debounced: `add_after` counts from the first of them, so that later ones neither shorten
nor extend the delay, and an urgent one uses `add` and overtakes them. Counting from the last one was rejected: a key
that changes ten times a second would never be reconciled.

There is a slow lane because six thousand keys of an initial list are not urgent and one new object is. There is an
urgent lane because each of three hundred new objects needs several reconciles: in one lane the first reconcile of every
object precedes the last one of any, and all objects become ready at the end. What is nearly done, and what has to be
repaired, precedes what is new: the whole takes as long as before, and most objects are ready earlier.

No lane starves. After `FAST_IN_A_ROW` keys of the other lanes the slow lane gets one, and after `URGENT_IN_A_ROW`
urgent keys the fast lane does. A priority heap was rejected: it costs O(log n) per key, and its slow end starves. Going
first does not help while every worker processes a slow key, so the number of slow keys in process can be limited.
The number of keys in process that are not urgent can be limited too: the other workers are left to urgent keys.

Every operation is O(1) except delays, which share one heap and one timer.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import NamedTuple, Protocol

from steward.kube.clock import Clock, Random
from steward.kube.objects.kinds import Key
from steward.runtime.reconcile import Lane

FAST_IN_A_ROW = 7
URGENT_IN_A_ROW = 7
MAX_STALE_DELAYS = 64


class Backoff(NamedTuple):
    """Retry delay of a failed key: doubles from 5 ms to 5 minutes, minus random jitter.

    Jitter only shortens the delay, so the cap is a real cap. A fifth is enough to spread a thousand keys that failed at
    the same moment.
    """

    first: float = 0.005
    cap: float = 300.0
    jitter: float = 0.2

    def delay(self, failures: int, random: float) -> float:
        """The delay after this many consecutive failures (at least one); `random` is in [0, 1)."""
        # With this exponent any first delay has reached any cap, and floats do not overflow yet.
        doubled = self.first * 2.0 ** min(failures - 1, 64)
        return min(doubled, self.cap) * (1.0 - self.jitter * random)


class QueueObserver(Protocol):
    """Receives what the queue does, for metrics."""

    def added(self) -> None: ...

    def taken(self, waited: float) -> None: ...

    def finished(self, worked: float) -> None: ...

    def retried(self) -> None: ...


class QueueEntry(NamedTuple):
    """The lane of a queued or processed key, and since when it is there."""

    lane: Lane
    since: float


class DelayedEntry(NamedTuple):
    """A delayed key; `order` tells its current entry in the heap from stale ones."""

    due: float
    order: int
    lane: Lane


class LaneLimits(NamedTuple):
    """How many keys are processed at once."""

    slow: int = sys.maxsize
    not_urgent: int = sys.maxsize
    """Fast and slow ones together."""


NO_LIMITS = LaneLimits()


class WorkQueue:
    def __init__(
        self, clock: Clock, random: Random, observer: QueueObserver, limits: LaneLimits = NO_LIMITS
    ) -> None:
        self._clock = clock
        self._random = random
        self._observer = observer
        self._limits = limits
        self._active_slow = 0
        self._active_not_urgent = 0
        self._backoff = Backoff()
        # Bound once: it is called several times for each key.
        self._now: Callable[[], float] = clock.monotonic
        self._lanes: tuple[deque[Key], ...] = tuple(deque() for _ in Lane)
        self._fast_in_a_row = 0  # keys that are not slow, since the last slow one
        self._urgent_in_a_row = 0
        self._queued: dict[Key, QueueEntry] = {}
        self._processing: dict[Key, QueueEntry] = {}
        self._dirty: dict[Key, Lane] = {}
        self._failures: dict[Key, int] = {}
        self._delayed: dict[Key, DelayedEntry] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._order = count()
        self._timer: asyncio.Task[None] | None = None
        self._idle: deque[asyncio.Future[None]] = deque()
        self._closed = False

    @property
    def depth(self) -> int:
        return len(self._queued)

    @property
    def processing(self) -> int:
        return len(self._processing)

    @property
    def delayed(self) -> int:
        return len(self._delayed)

    def work_ages(self) -> list[float]:
        """For how long each key has been processed so far."""
        now = self._now()
        return [now - entry.since for entry in self._processing.values()]

    def active_lane(self, key: Key) -> Lane:
        """The lane of a key that is being processed."""
        return self._processing[key].lane

    def failures(self, key: Key) -> int:
        return self._failures.get(key, 0)

    def add(self, key: Key, lane: Lane = Lane.FAST) -> None:
        if self._closed:
            return
        if self._delayed:
            self._delayed.pop(key, None)
        if key in self._processing:
            self._dirty[key] = min(lane, self._dirty.get(key, lane))
            return
        queued = self._queued.get(key)
        if queued is None:
            self._enqueue(key, lane)
        elif lane < queued.lane:
            # Its old place in the slower lane becomes stale; `take` skips it.
            self._queued[key] = QueueEntry(lane, queued.since)
            self._lanes[lane].append(key)
            self._wake_one()  # the worker woken before may have found the slow lane at its limit

    def _enqueue(self, key: Key, lane: Lane) -> None:
        self._queued[key] = QueueEntry(lane, self._now())
        self._lanes[lane].append(key)
        self._observer.added()
        self._wake_one()

    async def get(self) -> Key | None:
        """The next key, or None once the queue is closed."""
        while not self._closed:
            key = self.take()
            if key is not None:
                return key
            await self._wait_for_key()
        return None

    def take(self) -> Key | None:
        """The next key if there is one now. The caller must call `done`, `requeue_after` or `retry`."""
        while self._queued:
            lane = self._next_lane()
            if lane is None:
                return None
            key = self._lanes[lane].popleft()
            entry = self._queued.get(key)
            if entry is not None and entry.lane == lane:
                return self._start(key, entry)
        for stale in self._lanes:
            stale.clear()
        return None

    def _next_lane(self) -> Lane | None:
        urgent, fast, slow = self._lanes
        if self._active_not_urgent >= self._limits.not_urgent:
            return Lane.URGENT if urgent else None
        is_slow_due = self._fast_in_a_row >= FAST_IN_A_ROW or not (urgent or fast)
        if slow and is_slow_due and self._active_slow < self._limits.slow:
            return Lane.SLOW
        if fast and (self._urgent_in_a_row >= URGENT_IN_A_ROW or not urgent):
            return Lane.FAST
        return Lane.URGENT if urgent else None

    def _start(self, key: Key, entry: QueueEntry) -> Key:
        del self._queued[key]
        self._count_start(entry.lane)
        now = self._now()
        self._processing[key] = QueueEntry(entry.lane, now)
        self._observer.taken(now - entry.since)
        return key

    def _count_start(self, lane: Lane) -> None:
        if lane is not Lane.URGENT:
            self._active_not_urgent += 1
        if lane is Lane.SLOW:
            self._active_slow += 1
            self._fast_in_a_row = 0
            return
        self._fast_in_a_row += 1
        self._urgent_in_a_row = self._urgent_in_a_row + 1 if lane is Lane.URGENT else 0

    def done(self, key: Key) -> None:
        """The reconcile succeeded without a requeue."""
        self._finish(key)
        if self._failures:
            self._failures.pop(key, None)

    def requeue_after(self, key: Key, seconds: float) -> None:
        """The reconcile succeeded and is requeued after this time."""
        lane = self._finish(key)
        self._failures.pop(key, None)
        self._delay(key, seconds, lane)

    def retry(self, key: Key, at_least: float = 0.0) -> float:
        """The reconcile failed: the key is retried after its backoff delay, which is returned."""
        lane = self._finish(key)
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay = max(at_least, self._backoff.delay(failures, self._random()))
        self._observer.retried()
        self._delay(key, delay, lane)
        return delay

    def _finish(self, key: Key) -> Lane:
        entry = self._processing.pop(key)
        self._observer.finished(self._now() - entry.since)
        self._release_lane(entry.lane)
        if self._dirty:
            lane = self._dirty.pop(key, None)
            if lane is not None and not self._closed:
                self._enqueue(key, lane)
        return entry.lane

    def _release_lane(self, lane: Lane) -> None:
        if lane is Lane.URGENT:
            return
        _, fast, slow = self._lanes
        is_awaited = self._active_not_urgent == self._limits.not_urgent and bool(fast or slow)
        self._active_not_urgent -= 1
        if lane is Lane.SLOW:
            self._active_slow -= 1
            is_awaited = is_awaited or bool(slow)
        if is_awaited:
            self._wake_one()  # the worker that is done may continue with another lane

    def add_after(self, key: Key, seconds: float, lane: Lane = Lane.FAST) -> None:
        """Queue the key after this time, unless it is queued already or due earlier."""
        if key not in self._dirty:
            self._delay(key, seconds, lane)

    def _delay(self, key: Key, seconds: float, lane: Lane) -> None:
        if self._closed or key in self._queued:
            return
        due = self._now() + seconds
        known = self._delayed.get(key)
        if known is not None and known.due <= due:
            return
        delayed = self._delayed[key] = DelayedEntry(due, next(self._order), lane)
        heapq.heappush(self._heap, (due, delayed.order, key))
        self._drop_stale_delays()
        if self._heap[0][0] == due or self._timer is None:
            self._restart_timer()

    def _drop_stale_delays(self) -> None:
        if len(self._heap) > 2 * len(self._delayed) + MAX_STALE_DELAYS:
            self._heap = [
                (due, order, key)
                for due, order, key in self._heap
                if key in self._delayed and self._delayed[key].order == order
            ]
            heapq.heapify(self._heap)

    def _restart_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.create_task(self._tick(), name="queue timer")

    async def _tick(self) -> None:
        while self._heap:
            due, order, key = self._heap[0]
            delay = due - self._now()
            if delay > 0:
                await self._clock.sleep(delay)
                continue
            heapq.heappop(self._heap)
            delayed = self._delayed.get(key)
            if delayed is not None and delayed.order == order:
                self.add(key, delayed.lane)
        self._timer = None

    def _wake_one(self) -> None:
        while self._idle:
            sleeper = self._idle.popleft()
            if not sleeper.done():
                sleeper.set_result(None)
                return

    async def _wait_for_key(self) -> None:
        sleeper = asyncio.get_running_loop().create_future()
        self._idle.append(sleeper)
        try:
            await sleeper
        except asyncio.CancelledError:
            if sleeper.done() and not sleeper.cancelled():
                self._wake_one()  # another worker takes the key that woke this one
            raise

    def close(self) -> None:
        """Give out no further key; keys in process can still be finished."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for sleeper in self._idle:
            if not sleeper.done():
                sleeper.set_result(None)
        self._idle.clear()
