"""Limits the number of concurrent reviews and of waiting ones; further reviews are rejected.

Without the second limit, a stalled handler would let reviews accumulate until the process runs out of memory.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from steward.admission.errors import BusyError


class ReviewLimit:
    def __init__(self, inside: int, waiting: int) -> None:
        self._places = asyncio.Semaphore(inside)
        self._inside = inside
        self._most_waiting = waiting
        self._waiting = 0

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[None]:
        """Wait for a slot and hold it; raise BusyError at once when too many wait already."""
        if self._places.locked() and self._waiting >= self._most_waiting:
            raise BusyError(
                f"the webhook is busy: {self._inside} reviews are in progress and {self._waiting} wait; try again"
            )
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()
