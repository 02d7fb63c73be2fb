"""Limits the number of concurrent reviews and of waiting ones; further reviews are rejected.

Without the second limit, a stalled handler would let reviews accumulate until the process runs out of memory.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from steward.admission.errors import BusyError


class ReviewLimit:
    def __init__(self, concurrent: int, waiting: int) -> None:
        self._slots = asyncio.Semaphore(concurrent)
        self._max_concurrent = concurrent
        self._max_waiting = waiting
        self._waiting = 0

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[None]:
        """Wait for a slot and hold it; raise BusyError at once when too many wait already."""
        if self._slots.locked() and self._waiting >= self._max_waiting:
            raise BusyError(
                f"the webhook is busy: {self._max_concurrent} reviews are in progress and {self._waiting} wait; "
                "try again"
            )
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._slots.release()
