"""Start limit and order of readiness: ten objects of two stages, whose pods other controllers bring up one at a time.

The pods of the second stage are created when those of the first are ready. They wait behind all pods that were created
before, whatever object those belong to.
"""

import asyncio
from statistics import median

from steward.kube.objects.kinds import Key
from steward.runtime.controller.start_limit import StartLimit
from steward.runtime.plan.write_slots import SATURATED
from steward.testkit.clock import FakeClock

OBJECTS, STAGES, PODS, POD_SECONDS, WRITE_SECONDS = 10, 2, 6, 0.1, 0.01


class Births:
    """`at_once` objects are started at once."""

    def __init__(self, at_once: int) -> None:
        self.clock = FakeClock()
        self.ready_at: dict[Key, float] = {}
        self._pods = asyncio.Semaphore(1)
        self._woken: dict[Key, asyncio.Event] = {}
        self._limit = StartLimit(self.clock, lambda: SATURATED, lambda key: self._woken[key].set(), at_once)

    async def _start(self, key: Key) -> None:
        event = self._woken[key] = asyncio.Event()
        while not self._limit.start(key):
            await event.wait()
            event.clear()
        for _ in range(STAGES):
            await self.clock.sleep(WRITE_SECONDS)
            await asyncio.gather(*(self._start_pod() for _ in range(PODS)))
        self.ready_at[key] = self.clock.monotonic()
        self._limit.finish(key)

    async def _start_pod(self) -> None:
        async with self._pods:
            await self.clock.sleep(POD_SECONDS)

    async def times(self) -> list[float]:
        """When the objects became ready, the first one first."""
        began = self.clock.monotonic()
        keys = [Key("shop", str(number)) for number in range(OBJECTS)]
        tasks = [asyncio.create_task(self._start(key)) for key in keys]
        while len(self.ready_at) < OBJECTS:
            await self.clock.pass_time(POD_SECONDS)
        await asyncio.gather(*tasks)
        return sorted(moment - began for moment in self.ready_at.values())


async def test_half_of_the_objects_are_ready_early_and_the_last_one_no_later() -> None:
    unlimited, limited = await Births(OBJECTS).times(), await Births(3).times()
    assert median(unlimited) > 0.7 * unlimited[-1]
    assert median(limited) <= 0.65 * limited[-1]
    assert limited[-1] <= 1.05 * unlimited[-1]
