"""Time and chance as values that are handed in, so that a test can own both.

`now` is the wall clock, for stamps that others read; `monotonic` is for every duration and deadline. It goes on
while the machine is suspended, where the system can tell: the lease that we held goes on too, on the server.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

Random = Callable[[], float]
"""Returns a float in [0, 1); `random.random` in production."""


class Clock(Protocol):
    def now(self) -> float: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


if sys.platform == "linux":
    _monotonic = partial(time.clock_gettime, time.CLOCK_BOOTTIME)
else:
    _monotonic = time.monotonic


class SystemClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return _monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
