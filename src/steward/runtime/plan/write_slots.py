"""Limits the writes in flight of a process, and decides which of the waiting ones is sent next.

If the first writes of ten new clusters were sent before the last write of any, all would become ready at the end. So
writes for objects deep in a tree are sent before those that begin another tree, writes of urgent reconciles before
others, and writes of the slow lane last. Every `OLDEST_EVERY`th slot is given to the write that has waited longest, so
none starves.
"""

import asyncio
from collections import deque
from contextvars import ContextVar
from typing import Final, NamedTuple

from steward.runtime.reconcile import Lane

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


class WriteSlots:
    def __init__(self, limit: int) -> None:
        self._free = limit
        self._waiting: dict[WritePriority, deque[_Waiter]] = {}
        self._arrived = 0
        self._granted = 0

    async def __aenter__(self) -> None:
        if self._free:
            self._free -= 1
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
        """Gives the slot to the next waiting write; one that was cancelled is skipped."""
        while self._waiting:
            waiter = self._next()
            if not waiter.slot.done():
                waiter.slot.set_result(None)
                return
        self._free += 1

    def _next(self) -> _Waiter:
        self._granted += 1
        if self._granted % OLDEST_EVERY:
            priority = min(self._waiting)
        else:
            priority = min(self._waiting, key=lambda each: self._waiting[each][0].number)
        queue = self._waiting[priority]
        waiter = queue.popleft()
        if not queue:
            del self._waiting[priority]
        return waiter
