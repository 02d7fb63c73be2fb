"""Limits the number of concurrent reviews and of waiting ones; further reviews are rejected.

Without the second limit, a stalled handler would let reviews accumulate until the process runs out of memory.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from steward.admission.errors import BusyError
from steward.serving.fair_limit import FairLimit, LimitExceeded


class ReviewLimit:
    def __init__(self, concurrent: int, waiting: int) -> None:
        self._limit = FairLimit(concurrent, waiting)
        self._max_concurrent = concurrent

    @asynccontextmanager
    async def acquire(self, address: str) -> AsyncIterator[None]:
        """Wait for a slot, in turn with other addresses, and hold it; raise BusyError when too many wait."""
        try:
            await self._limit.take(address)
        except LimitExceeded as error:
            raise BusyError(
                f"the webhook is busy: {self._max_concurrent} reviews are in progress and {error.waiting} wait; "
                "try again"
            ) from None
        try:
            yield
        finally:
            self._limit.release()
