"""Lets a bounded number of reviews in at once; a bounded number of others wait, in order, and the rest go away.

Without the second bound, a stalled handler would let reviews pile up until the process dies of them.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from steward.admission.errors import BusyError


class Gate:
    def __init__(self, inside: int, waiting: int) -> None:
        self._places = asyncio.Semaphore(inside)
        self._inside = inside
        self._most_waiting = waiting
        self._waiting = 0

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[None]:
        """Wait for a place and hold it; refuse at once when too many wait already."""
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
