"""Clock and random number source, passed as parameters so that tests can control them.

`now` is the wall clock, for timestamps that others read; `monotonic` is for all durations and deadlines. On Linux it
includes the time in which the machine is suspended: a lease expires meanwhile too.
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
