"""Which key is next: keyed, deduplicating, one worker a key, two lanes.

A key is queued once or not at all, and in the hands of one worker or none. A key that is added while it is worked on
is queued again the moment its worker is done with it, so no change is lost and no two workers ever hold the same key.
A key that is added while it waits (for a requeue or after a failure) is queued at once: the reconcile that follows
decides anew whether there is anything to wait for.

A burst of news that nobody is in a hurry for is gathered: `add_after` counts from the first of them, so those that
follow neither hurry nor delay the look, and whatever is urgent comes by `add` and overtakes them. To count from the
last one was rejected: who is told something every tenth of a second would never look.

Two lanes, because six thousand keys of a first list are not urgent and one new object is. The fast lane goes first,
yet after `FAST_IN_A_ROW` keys of it the slow lane gets one, so neither waits for the other to run dry. A priority heap
was rejected: it costs a logarithm a key, and the slow end of it starves. To go first helps nobody when every worker has
a slow key in hand: the queue may be told how many keys of the slow lane are in hand at most.

Every operation is O(1) but the waits, which share one heap and one timer.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from itertools import count
from typing import NamedTuple, Protocol

from steward.kube.clock import Clock, Random
from steward.kube.objects.kinds import Key
from steward.runtime.controller.backoff import Backoff

FAST_IN_A_ROW = 7
STALE_WAITS_KEPT = 64


class Lane(IntEnum):
    """The smaller number goes first."""

    FAST = 0  # something changed
    SLOW = 1  # the first list, a resync, a change that touches a herd


class QueueWatcher(Protocol):
    """What the queue tells the metrics."""

    def added(self) -> None: ...

    def taken(self, waited: float) -> None: ...

    def finished(self, worked: float) -> None: ...

    def retried(self) -> None: ...


class Held(NamedTuple):
    """A key in its place: the lane it came by and the moment it got there."""

    lane: Lane
    since: float


class Waiting(NamedTuple):
    """A key whose time is to come; the order tells its entry in the heap from those that it left behind."""

    due: float
    order: int
    lane: Lane


class WorkQueue:
    def __init__(
        self, clock: Clock, random: Random, watcher: QueueWatcher, slow_at_once: int = sys.maxsize
    ) -> None:
        self._clock = clock
        self._random = random
        self._watcher = watcher
        self._slow_at_once = slow_at_once
        self._slow_in_hand = 0
        self._backoff = Backoff()
        # Bound once: these two are called several times a key.
        self._now: Callable[[], float] = clock.monotonic
        self._lanes: tuple[deque[Key], deque[Key]] = (deque(), deque())
        self._fast_in_a_row = 0
        self._queued: dict[Key, Held] = {}
        self._working: dict[Key, Held] = {}
        self._again: dict[Key, Lane] = {}
        self._failures: dict[Key, int] = {}
        self._waiting: dict[Key, Waiting] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._order = count()
        self._timer: asyncio.Task[None] | None = None
        self._idle: deque[asyncio.Future[None]] = deque()
        self._closed = False

    @property
    def depth(self) -> int:
        return len(self._queued)

    @property
    def working(self) -> int:
        return len(self._working)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def work_ages(self) -> list[float]:
        """For how long each key in hand has been worked on."""
        now = self._now()
        return [now - held.since for held in self._working.values()]

    def lane_in_hand(self, key: Key) -> Lane:
        """The lane by which a key came that is being worked on."""
        return self._working[key].lane

    def failures(self, key: Key) -> int:
        return self._failures.get(key, 0)

    def add(self, key: Key, lane: Lane = Lane.FAST) -> None:
        if self._closed:
            return
        if self._waiting:
            self._waiting.pop(key, None)
        if key in self._working:
            self._again[key] = min(lane, self._again.get(key, lane))
            return
        queued = self._queued.get(key)
        if queued is None:
            self._enqueue(key, lane)
        elif lane < queued.lane:
            # Its old place in the slow lane stays behind as a ghost that `take` steps over.
            self._queued[key] = Held(lane, queued.since)
            self._lanes[lane].append(key)
            self._wake_one()  # whoever it woke before may have found the slow lane at its limit

    def _enqueue(self, key: Key, lane: Lane) -> None:
        self._queued[key] = Held(lane, self._now())
        self._lanes[lane].append(key)
        self._watcher.added()
        self._wake_one()

    async def get(self) -> Key | None:
        """The next key, or None once the queue is closed."""
        while not self._closed:
            key = self.take()
            if key is not None:
                return key
            await self._until_woken()
        return None

    def take(self) -> Key | None:
        """The next key if there is one now. Whoever takes it ends with `done`, `done_for` or `retry`."""
        while self._queued:
            lane = self._next_lane()
            if lane is None:
                return None
            key = self._lanes[lane].popleft()
            held = self._queued.get(key)
            if held is not None and held.lane == lane:
                return self._start(key, held)
        for ghosts in self._lanes:
            ghosts.clear()
        return None

    def _next_lane(self) -> Lane | None:
        fast, slow = self._lanes
        if not slow or self._slow_in_hand >= self._slow_at_once:
            return Lane.FAST if fast else None
        if fast and self._fast_in_a_row < FAST_IN_A_ROW:
            return Lane.FAST
        return Lane.SLOW

    def _start(self, key: Key, held: Held) -> Key:
        del self._queued[key]
        self._fast_in_a_row = self._fast_in_a_row + 1 if held.lane is Lane.FAST else 0
        self._slow_in_hand += held.lane
        now = self._now()
        self._working[key] = Held(held.lane, now)
        self._watcher.taken(now - held.since)
        return key

    def done(self, key: Key) -> None:
        """The reconcile succeeded and waits for nothing."""
        self._finish(key)
        if self._failures:
            self._failures.pop(key, None)

    def done_for(self, key: Key, seconds: float) -> None:
        """The reconcile succeeded and wants to come back after the given time."""
        lane = self._finish(key)
        self._failures.pop(key, None)
        self._wait(key, seconds, lane)

    def retry(self, key: Key, at_least: float = 0.0) -> float:
        """The reconcile failed: the key comes back after its back-off, which is returned."""
        lane = self._finish(key)
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay = max(at_least, self._backoff.delay(failures, self._random()))
        self._watcher.retried()
        self._wait(key, delay, lane)
        return delay

    def _finish(self, key: Key) -> Lane:
        held = self._working.pop(key)
        self._watcher.finished(self._now() - held.since)
        self._leave(held.lane)
        if self._again:
            again = self._again.pop(key, None)
            if again is not None and not self._closed:
                self._enqueue(key, again)
        return held.lane

    def _leave(self, lane: Lane) -> None:
        if lane is Lane.SLOW:
            self._slow_in_hand -= 1
            if self._lanes[lane]:
                self._wake_one()  # the worker that is done may go on with the fast lane

    def add_after(self, key: Key, seconds: float, lane: Lane = Lane.FAST) -> None:
        """Queue the key later, unless it is queued already or due earlier."""
        if key not in self._again:
            self._wait(key, seconds, lane)

    def _wait(self, key: Key, seconds: float, lane: Lane) -> None:
        if self._closed or key in self._queued:
            return
        due = self._now() + seconds
        known = self._waiting.get(key)
        if known is not None and known.due <= due:
            return
        waiting = self._waiting[key] = Waiting(due, next(self._order), lane)
        heapq.heappush(self._heap, (due, waiting.order, key))
        self._drop_stale_waits()
        if self._heap[0][0] == due or self._timer is None:
            self._restart_timer()

    def _drop_stale_waits(self) -> None:
        if len(self._heap) > 2 * len(self._waiting) + STALE_WAITS_KEPT:
            self._heap = [
                (due, order, key)
                for due, order, key in self._heap
                if key in self._waiting and self._waiting[key].order == order
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
            waiting = self._waiting.get(key)
            if waiting is not None and waiting.order == order:
                self.add(key, waiting.lane)
        self._timer = None

    def _wake_one(self) -> None:
        while self._idle:
            sleeper = self._idle.popleft()
            if not sleeper.done():
                sleeper.set_result(None)
                return

    async def _until_woken(self) -> None:
        sleeper = asyncio.get_running_loop().create_future()
        self._idle.append(sleeper)
        try:
            await sleeper
        except asyncio.CancelledError:
            if sleeper.done() and not sleeper.cancelled():
                self._wake_one()  # the key that woke this worker is still there for another
            raise

    def close(self) -> None:
        """No key is given out any more; what is in hand may still be finished."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for sleeper in self._idle:
            if not sleeper.done():
                sleeper.set_result(None)
        self._idle.clear()
