"""Limits the writes in flight of a process, and decides which of the waiting ones is sent next.

**Order.** If the first writes of ten new clusters were sent before the last write of any, all would become ready at the
end. So writes for objects deep in a tree are sent before those that begin another tree, writes of urgent reconciles
before others, and writes of the slow lane last. Every `OLDEST_EVERY`th slot is given to the write that has waited
longest, so none starves.

**Number.** A busy API server serves what it has in the order in which it arrived: writes beyond those that keep it busy
are not faster there, they only wait behind the status of a pod that another object needs, and the order above is lost.
An API server that is far away answers as fast with many writes in flight as with few. So there are few slots, and many
while the fastest of the recent writes took about as long as the fastest of all. The average was rejected: a few writes
that an admission webhook delays would take the slots from all others.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from math import inf
from typing import Final, NamedTuple

from steward.runtime.reconcile import Lane

FEWEST: Final = 16
MOST: Final = 64
BUSY_WRITES: Final = 4
"""With so many writes in flight, events wait."""
RECENT_WRITES: Final = 32
CURRENT_SECONDS: Final = 5.0
"""For how long a write says how fast the API server is."""
FEWEST_CURRENT_WRITES: Final = 8
BUSY_RATIO: Final = 2.0
"""By how much the fastest recent write is slower than the fastest of all if the API server is busy."""
SATURATED: Final = 4.0
"""The slowdown from which on more requests would only wait in the API server."""
OLDEST_EVERY: Final = 8


class WritePriority(NamedTuple):
    """The smaller one is sent first."""

    is_slow: bool
    height: int
    """Of the reconciled object above the deepest ones: minus the depth of its controller."""
    lane: Lane


def write_priority(lane: Lane, depth: int) -> WritePriority:
    return WritePriority(lane is Lane.SLOW, -depth, lane)


_OUTSIDE_RECONCILES: Final = write_priority(Lane.FAST, 0)

current_priority: ContextVar[WritePriority] = ContextVar("current_priority", default=_OUTSIDE_RECONCILES)
"""The priority of the writes of the reconcile that this worker runs."""


class _Waiter(NamedTuple):
    number: int
    slot: asyncio.Future[None]


class _Write(NamedTuple):
    at: float
    """When it was answered, on the monotonic clock."""
    seconds: float


class ServerLoad:
    """Whether the API server has room for more writes, by the time that writes take."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._fastest = inf
        self._recent: deque[_Write] = deque(maxlen=RECENT_WRITES)

    def observe(self, seconds: float) -> None:
        self._recent.append(_Write(self._monotonic(), seconds))
        self._fastest = min(self._fastest, seconds)

    @property
    def _is_known(self) -> bool:
        return len(self._recent) == RECENT_WRITES

    @property
    def has_room(self) -> bool:
        return self._is_known and min(each.seconds for each in self._recent) <= BUSY_RATIO * self._fastest

    @property
    def slowdown(self) -> float:
        """How many times as long as the fastest of all writes three of four recent ones took at least; `SATURATED`
        until enough writes are known, 1 if there were hardly any in the last seconds: what they say is outdated, and
        this process is not what keeps the server busy. A quarter of the writes decides: the fastest one is now and then
        lucky, and an admission webhook delays some kinds on an idle server."""
        if not self._is_known:
            return SATURATED
        oldest = self._monotonic() - CURRENT_SECONDS
        current = sorted(each.seconds for each in self._recent if each.at > oldest)
        if len(current) < FEWEST_CURRENT_WRITES:
            return 1.0
        return current[len(current) // 4] / self._fastest


class WriteSlots:
    def __init__(self, fewest: int = FEWEST, most: int = MOST) -> None:
        self._fewest = fewest
        self._most = most
        self.load = ServerLoad()
        self._in_flight = 0
        self._waiting: dict[WritePriority, deque[_Waiter]] = {}
        self._arrived = 0
        self._granted = 0

    @property
    def limit(self) -> int:
        return self._most if self.load.has_room else self._fewest

    @property
    def is_busy(self) -> bool:
        """Whether many writes are in flight, so that less urgent ones should wait."""
        return self._in_flight >= BUSY_WRITES or bool(self._waiting)

    def observe(self, seconds: float) -> None:
        """A write took this long."""
        self.load.observe(seconds)

    async def __aenter__(self) -> None:
        if not self._waiting and self._in_flight < self.limit:
            self._in_flight += 1
            return
        waiter = self._join()
        try:
            await waiter.slot
        except asyncio.CancelledError:
            if waiter.slot.done() and not waiter.slot.cancelled():
                self._release()  # the slot was granted at the same moment
            raise

    async def __aexit__(self, *_: object) -> None:
        self._release()

    def _join(self) -> _Waiter:
        self._arrived += 1
        waiter = _Waiter(self._arrived, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(current_priority.get(), deque()).append(waiter)
        return waiter

    def _release(self) -> None:
        self._in_flight -= 1
        limit = self.limit
        while self._waiting and self._in_flight < limit:
            self._grant(self._next())

    def _grant(self, waiter: _Waiter) -> None:
        if not waiter.slot.done():  # a cancelled write needs none
            waiter.slot.set_result(None)
            self._in_flight += 1
            self._granted += 1

    def _next(self) -> _Waiter:
        if (self._granted + 1) % OLDEST_EVERY:
            priority = min(self._waiting)
        else:
            priority = min(self._waiting, key=lambda each: self._waiting[each][0].number)
        queue = self._waiting[priority]
        waiter = queue.popleft()
        if not queue:
            del self._waiting[priority]
        return waiter
