"""The work queue and the write slots together: 200 new objects on an API server that serves one write at a time.

Each object is created by a parent controller, writes a status and five objects of its own, waits for a pod, which other
controllers bring up with writes of their own, and writes its last status.
"""

import asyncio
from collections.abc import Coroutine
from statistics import median
from typing import Any

from steward.kube.objects.kinds import Key
from steward.runtime.controller.workqueue import WorkQueue
from steward.runtime.plan.write_slots import WriteSlots, current_priority, write_priority
from steward.runtime.reconcile import Lane
from steward.testkit.clock import FakeClock
from tests.runtime.support.queues import Recorder

OBJECTS, WORKERS, CREATORS = 200, 10, 16
WRITE_SECONDS = 0.003
POD_WRITES = 6


class Storm:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.ready_at: dict[Key, float] = {}
        self._queue = WorkQueue(self.clock, lambda: 0.0, Recorder())
        self._slots = WriteSlots()
        self._server = asyncio.Semaphore(1)
        self._applied: set[Key] = set()
        self._with_pod: set[Key] = set()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._spawn(self._create_all())
        for _ in range(WORKERS):
            self._spawn(self._work())

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def _serve(self) -> None:
        async with self._server:
            await self.clock.sleep(WRITE_SECONDS)

    async def _write(self) -> None:
        async with self._slots:
            began = self.clock.monotonic()
            await self._serve()
            self._slots.observe(self.clock.monotonic() - began)

    async def _create_all(self) -> None:
        current_priority.set(write_priority(Lane.FAST, 0))
        keys = iter([Key("shop", str(number)) for number in range(OBJECTS)])

        async def create() -> None:
            for key in keys:
                await self._write()
                self._queue.add(key)

        await asyncio.gather(*(create() for _ in range(CREATORS)))

    async def _work(self) -> None:
        while (key := await self._queue.get()) is not None:
            current_priority.set(write_priority(self._queue.active_lane(key), 1))
            await self._reconcile(key)
            self._queue.done(key)

    async def _reconcile(self, key: Key) -> None:
        if key not in self._applied:
            await self._write()
            await asyncio.gather(*(self._write() for _ in range(5)))
            self._applied.add(key)
            self._spawn(self._bring_up_pod(key))
        elif key in self._with_pod:
            await self._write()
            self.ready_at.setdefault(key, self.clock.monotonic())

    async def _bring_up_pod(self, key: Key) -> None:
        for _ in range(POD_WRITES):
            await self._serve()
        self._with_pod.add(key)
        self._queue.add(key, Lane.URGENT)


async def test_half_of_the_objects_are_ready_in_six_tenths_of_the_time() -> None:
    storm = Storm()
    storm.start()
    began = storm.clock.monotonic()
    while len(storm.ready_at) < OBJECTS:
        await storm.clock.pass_time(1.0)
    storm.stop()
    times = [moment - began for moment in storm.ready_at.values()]
    assert median(times) <= 0.6 * max(times)
