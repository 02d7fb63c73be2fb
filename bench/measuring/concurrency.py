"""Runs a number of calls concurrently, and measures their wall and CPU time.

CPU time hardly depends on other load on the machine; wall time does.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cost:
    count: int
    seconds: float
    cpu: float
    server_cpu: float = 0.0
    """CPU time of API server and etcd in the same period."""

    @property
    def rate(self) -> float:
        return self.count / self.seconds

    @property
    def cpu_microseconds(self) -> float:
        """CPU time per call."""
        return 1e6 * self.cpu / self.count

    @property
    def all_cpu_microseconds(self) -> float:
        """CPU time per call of client and server, which share the cores."""
        return 1e6 * (self.cpu + self.server_cpu) / self.count


class Meter:
    """Measures from its creation to `read`."""

    def __init__(self) -> None:
        # Garbage of the previous candidate must not count for this one.
        gc.collect()
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self, count: int) -> Cost:
        return Cost(count, time.perf_counter() - self._wall, time.process_time() - self._cpu)


async def run_concurrently(
    depth: int, call: Callable[[Any], Awaitable[object]], items: Iterable[Any]
) -> Cost:
    """Await `call` for each item, at most `depth` at once."""
    waiting = list(items)
    meter = Meter()
    shared = iter(waiting)
    async with asyncio.TaskGroup() as group:
        for _ in range(depth):
            group.create_task(_drain(shared, call))
    return meter.read(len(waiting))


async def _drain(items: Iterator[Any], call: Callable[[Any], Awaitable[object]]) -> None:
    for item in items:
        await call(item)
