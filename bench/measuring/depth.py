"""So many calls in flight, and what they cost: seconds on the wall and seconds of this process's processor.

The processor's seconds hardly depend on who else uses the machine; the wall's do.
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
    """Of API server and etcd together, in the same time."""

    @property
    def rate(self) -> float:
        return self.count / self.seconds

    @property
    def cpu_microseconds(self) -> float:
        """For each call."""
        return 1e6 * self.cpu / self.count

    @property
    def all_cpu_microseconds(self) -> float:
        """For each call, of client and server together: what limits both where they share the cores."""
        return 1e6 * (self.cpu + self.server_cpu) / self.count


class Meter:
    """Runs from its making to `read`."""

    def __init__(self) -> None:
        # Garbage of the contestant before must not be on this one's bill.
        gc.collect()
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self, count: int) -> Cost:
        return Cost(count, time.perf_counter() - self._wall, time.process_time() - self._cpu)


async def at_depth(depth: int, call: Callable[[Any], Awaitable[object]], items: Iterable[Any]) -> Cost:
    """`call` of each item, never more than `depth` of them at once."""
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
