"""One controller: its declaration, and the loop that turns it.

A key is given to one worker at a time. Whatever a reconcile raises is an error of that key alone: logged once, counted,
backed off; no other key notices. Workers are tasks that live as long as the loop, so a reconcile costs no task, and a
worker that never had to wait steps aside now and then, so that ten thousand reconciles without I/O do not keep the
watches from being read.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from steward.kube.cache.caches import Caches
from steward.kube.cache.store import Store
from steward.kube.clock import Clock, Random, SystemClock
from steward.kube.errors import KubeError, ServerError, TooManyRequests
from steward.kube.objects.kinds import Key, Kind
from steward.runtime.controller.triggers import Bell, Channel, For, Listener, Trigger
from steward.runtime.controller.workqueue import Lane, WorkQueue
from steward.runtime.observability import tracing
from steward.runtime.observability.logging import Work, work_in_hand
from steward.runtime.observability.metrics import Metrics
from steward.runtime.plan.lanes import Echoes, lane_in_hand
from steward.runtime.reconcile import Reconciler, RequeueAfter, Result

log = logging.getLogger(__name__)

WORKERS = 20
RESYNC_SECONDS = 36_000.0
KEYS_IN_A_ROW = 32

_numbers = count(1)


class ControllerError(ValueError):
    """A controller was declared in a way that cannot work."""


@dataclass(frozen=True)
class Controller:
    """What a user of the engine declares."""

    name: str
    reconciler: Reconciler
    triggers: tuple[Trigger, ...]
    workers: int = WORKERS
    resync_seconds: float = RESYNC_SECONDS
    bridge: tracing.Bridge | None = None
    channel: Channel | None = None
    """By which the reconciler itself names keys."""

    @property
    def about(self) -> For[Any]:
        found = [trigger for trigger in self.triggers if isinstance(trigger, For)]
        if len(found) != 1:
            raise ControllerError(
                f"controller {self.name} declares {len(found)} For triggers: it needs exactly one"
            )
        return found[0]

    @property
    def kind(self) -> Kind:
        return self.about.rule.kind

    def with_workers(self, workers: int) -> Controller:
        return replace(self, workers=workers)


@dataclass(frozen=True)
class Surroundings:
    """What every loop of a process shares."""

    caches: Caches
    metrics: Metrics
    clock: Clock = field(default_factory=SystemClock)
    random: Random = random.random
    echoes: Echoes = field(default_factory=Echoes)


class ControllerLoop:
    """Turns one controller for as long as this process leads; started again, it begins anew with every object."""

    def __init__(self, controller: Controller, around: Surroundings) -> None:
        self.controller = controller
        self._around = around
        self._figures = around.metrics.of_controller(controller.name, controller.workers)
        self._kind_name = controller.kind.kind
        self._reconcile_key = controller.reconciler.reconcile
        # The stores are asked for when the controller is added, so that the caches know them before they start.
        self._stores = [around.caches.store(trigger.rule) for trigger in controller.triggers]
        self.queue = self._new_queue()
        self._listeners = self._new_listeners()
        self._is_listening = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def store(self) -> Store[Any]:
        """The store of the kind that this controller is about."""
        return self._stores[self.controller.triggers.index(self.controller.about)]

    def _new_queue(self) -> WorkQueue:
        around, name = self._around, self.controller.name
        watcher = around.metrics.of_queue(name)
        queue = WorkQueue(around.clock, around.random, watcher, slow_workers(self.controller.workers))
        around.metrics.read_at_scrape(name, queue)
        return queue

    def start(self) -> None:
        self.queue = self._new_queue()
        self._listen()
        if self.controller.channel is not None:
            self.controller.channel.connect(self._enqueue)
        name = self.controller.name
        self._tasks = [
            asyncio.create_task(self._work(), name=f"{name} worker {number}")
            for number in range(self.controller.workers)
        ]
        self._tasks.append(asyncio.create_task(self._resync(), name=f"{name} resync"))

    def _new_listeners(self) -> list[Listener]:
        failed = self._around.metrics.trigger_errors.labels(self.controller.name).inc
        bell = Bell(self._wake, failed, self._around.echoes)
        return [Listener(trigger, self.controller.kind, bell) for trigger in self.controller.triggers]

    def _wake(self, key: Key, lane: Lane, gather: float) -> None:
        if gather:
            self.queue.add_after(key, gather, lane)
        else:
            self.queue.add(key, lane)

    def _enqueue(self, key: Key, lane: Lane) -> None:
        self.queue.add(key, lane)

    def _listen(self) -> None:
        """From now on, and for all that the stores already hold."""
        for listener, store in zip(self._listeners, self._stores, strict=True):
            if self._is_listening:
                listener.hear_all(store)
            else:
                store.subscribe(listener.hear)
        self._is_listening = True

    def stop_taking(self) -> None:
        """No further key is started; what is in hand goes on."""
        self.queue.close()
        if self._tasks:
            self._tasks[-1].cancel()

    async def finish(self, grace: float) -> None:
        """Wait for what is in hand, then end what has not ended within the grace."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=grace)
        if late:
            log.warning("controller %s: %d reconciles did not end in time", self.controller.name, len(late))
        for task in late:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def _work(self) -> None:
        taken = 0
        while (key := await self.queue.get()) is not None:
            await self._reconcile(key)
            taken += 1
            if taken % KEYS_IN_A_ROW == 0:
                await asyncio.sleep(0)

    async def _reconcile(self, key: Key) -> None:
        work_in_hand.set(Work(self.controller.name, self._kind_name, key, next(_numbers)))
        lane_in_hand.set(self.queue.lane_in_hand(key))
        started = time.perf_counter()
        try:
            result = await (self._traced(key) if tracing.is_on() else self._reconcile_key(key))
            self._succeeded(key, result)
        except Exception as error:
            self._failed(key, error)
        except asyncio.CancelledError as error:
            if _is_being_stopped():
                raise
            # The reconcile awaited something that was cancelled: a fault of its own, not our end.
            self._failed(key, error)
        self._figures.seconds.observe(time.perf_counter() - started)

    async def _traced(self, key: Key) -> Result:
        with tracing.reconcile_span(self._kind_name, key, self._origin(key)):
            return await self._reconcile_key(key)

    def _origin(self, key: Key) -> tracing.Origin | None:
        bridge, seen = self.controller.bridge, self.store.get(key)
        if bridge is None or seen is None:
            return None
        return bridge.extract(seen.metadata.annotations, self._around.clock.now())

    def _succeeded(self, key: Key, result: Result) -> None:
        results = self._figures.results
        if not isinstance(result, RequeueAfter):
            results["success"].inc()
            self.queue.done(key)
        elif result.seconds > 0:
            results["requeue_after"].inc()
            self.queue.done_for(key, result.seconds)
        else:
            results["requeue"].inc()
            self.queue.retry(key)

    def _failed(self, key: Key, error: BaseException) -> None:
        self._figures.results["error"].inc()
        self._figures.errors.inc()
        delay = self.queue.retry(key, _asked_to_wait(error))
        if isinstance(error, KubeError):
            log.error("reconcile failed, next try in %.3g s: %s", delay, describe(error))
        else:
            self._figures.panics.inc()
            log.error("reconcile failed, next try in %.3g s", delay, exc_info=error)

    async def _resync(self) -> None:
        """Once in a long while everything is looked at again: a guard against what no event ever told."""
        while True:
            early = 0.1 * self._around.random()
            await self._around.clock.sleep(self.controller.resync_seconds * (1.0 - early))
            for seen in self.store.list():
                self.queue.add(Key(seen.metadata.namespace, seen.metadata.name), Lane.SLOW)


def slow_workers(workers: int) -> int:
    """How many workers may have a key of the slow lane in hand: the others are there for what somebody waits for."""
    return (workers + 1) // 2


def describe(error: BaseException) -> str:
    """The error's own words and what was being done when it came."""
    notes = getattr(error, "__notes__", ())
    return "; ".join((f"{type(error).__name__}: {error}", *notes))


def _asked_to_wait(error: BaseException) -> float:
    if isinstance(error, TooManyRequests | ServerError):
        return error.retry_after or 0.0
    return 0.0


def _is_being_stopped() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
