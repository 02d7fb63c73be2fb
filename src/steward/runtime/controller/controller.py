"""One controller: its declaration, and the loop that runs it.

A key is reconciled by one worker at a time. An exception of a reconcile concerns that key alone: it is logged once,
counted, and the key is retried with backoff. Workers are tasks that live as long as the loop, so a reconcile costs no
task. A worker that never had to wait yields now and then, so that ten thousand reconciles without I/O do not keep the
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
from steward.runtime.controller.triggers import Channel, EnqueueHooks, EventHandler, For, Trigger
from steward.runtime.controller.workqueue import LaneLimits, WorkQueue
from steward.runtime.observability import tracing
from steward.runtime.observability.logging import ReconcileContext, current_reconcile
from steward.runtime.observability.metrics import Metrics
from steward.runtime.plan.write_slots import current_priority, write_priority
from steward.runtime.reconcile import Lane, Reconciler, RequeueAfter, Result

log = logging.getLogger(__name__)

WORKERS = 20
RESYNC_SECONDS = 36_000.0
KEYS_BETWEEN_YIELDS = 32

_reconcile_numbers = count(1)


class ControllerError(ValueError):
    """An invalid declaration of a controller."""


@dataclass(frozen=True)
class Controller:
    """The declaration of a controller."""

    name: str
    reconciler: Reconciler
    triggers: tuple[Trigger, ...]
    workers: int = WORKERS
    urgent_workers: int = 0
    """Workers beside those, for keys of the urgent lane only."""
    resync_seconds: float = RESYNC_SECONDS
    trace_annotations: tracing.TraceAnnotations | None = None
    depth: int = 0
    """Of its objects in a tree of owners. Of the writes that wait, those of deeper objects are sent first, so that one
    tree is finished before the next one is begun."""
    channel: Channel | None = None
    """Keys that the reconciler enqueues itself."""

    @property
    def for_trigger(self) -> For[Any]:
        found = [trigger for trigger in self.triggers if isinstance(trigger, For)]
        if len(found) != 1:
            raise ControllerError(
                f"controller {self.name} declares {len(found)} For triggers: it needs exactly one"
            )
        return found[0]

    @property
    def kind(self) -> Kind:
        return self.for_trigger.rule.kind

    @property
    def all_workers(self) -> int:
        return self.workers + self.urgent_workers

    def with_workers(self, workers: int) -> Controller:
        return replace(self, workers=workers)


@dataclass(frozen=True)
class ControllerDependencies:
    """Caches, metrics and clock, which the controllers of a process share."""

    caches: Caches
    metrics: Metrics
    clock: Clock = field(default_factory=SystemClock)
    random: Random = random.random


class ControllerLoop:
    """Runs one controller while this process leads. Each start enqueues all objects again."""

    def __init__(self, controller: Controller, dependencies: ControllerDependencies) -> None:
        self.controller = controller
        self._dependencies = dependencies
        self._metrics = dependencies.metrics.for_controller(controller.name, controller.all_workers)
        self._kind_name = controller.kind.kind
        self._reconcile_key = controller.reconciler.reconcile
        # Stores are requested when the controller is added, so that the caches know them before they start.
        self._stores = [dependencies.caches.store(trigger.rule) for trigger in controller.triggers]
        self.queue = self._new_queue()
        self._handlers = self._new_handlers()
        self._is_subscribed = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def store(self) -> Store[Any]:
        """The store of the kind that this controller reconciles."""
        return self._stores[self.controller.triggers.index(self.controller.for_trigger)]

    @property
    def _for_handler(self) -> EventHandler:
        return self._handlers[self.controller.triggers.index(self.controller.for_trigger)]

    def _new_queue(self) -> WorkQueue:
        dependencies, name = self._dependencies, self.controller.name
        observer = dependencies.metrics.for_queue(name)
        limits = LaneLimits(slow_workers(self.controller.workers), self.controller.workers)
        queue = WorkQueue(dependencies.clock, dependencies.random, observer, limits)
        dependencies.metrics.read_at_scrape(name, queue)
        return queue

    def start(self) -> None:
        self.queue = self._new_queue()
        self._subscribe()
        if self.controller.channel is not None:
            self.controller.channel.connect(self._enqueue)
        name = self.controller.name
        self._tasks = [
            asyncio.create_task(self._work(), name=f"{name} worker {number}")
            for number in range(self.controller.all_workers)
        ]
        self._tasks.append(asyncio.create_task(self._resync(), name=f"{name} resync"))

    def _new_handlers(self) -> list[EventHandler]:
        count_error = self._dependencies.metrics.trigger_errors.labels(self.controller.name).inc
        hooks = EnqueueHooks(self._enqueue_after, count_error)
        return [EventHandler(trigger, self.controller.kind, hooks) for trigger in self.controller.triggers]

    def _enqueue_after(self, key: Key, lane: Lane, delay: float) -> None:
        if delay:
            self.queue.add_after(key, delay, lane)
        else:
            self.queue.add(key, lane)

    def _enqueue(self, key: Key, lane: Lane) -> None:
        self.queue.add(key, lane)

    def _subscribe(self) -> None:
        """Handles all objects that the stores hold, and all later changes."""
        for handler, store in zip(self._handlers, self._stores, strict=True):
            if self._is_subscribed:
                handler.handle_all(store)
            else:
                store.subscribe(handler.handle)
        self._is_subscribed = True

    def stop_accepting(self) -> None:
        """Start no further reconcile; running ones continue."""
        self.queue.close()
        if self._tasks:
            self._tasks[-1].cancel()

    async def finish(self, grace: float) -> None:
        """Wait for running reconciles, and cancel those that do not end within the grace period."""
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
            if taken % KEYS_BETWEEN_YIELDS == 0:
                await asyncio.sleep(0)

    async def _reconcile(self, key: Key) -> None:
        current_reconcile.set(
            ReconcileContext(self.controller.name, self._kind_name, key, next(_reconcile_numbers))
        )
        current_priority.set(write_priority(self.queue.active_lane(key), self.controller.depth))
        started = time.perf_counter()
        try:
            result = await (self._traced(key) if tracing.is_enabled() else self._reconcile_key(key))
            self._succeeded(key, result)
        except Exception as error:
            self._failed(key, error)
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            # The reconcile awaited a cancelled task: an error of the reconcile, not a stop of this worker.
            self._failed(key, error)
        self._metrics.seconds.observe(time.perf_counter() - started)

    async def _traced(self, key: Key) -> Result:
        with tracing.reconcile_span(self._kind_name, key, self._trace_origin(key)):
            return await self._reconcile_key(key)

    def _trace_origin(self, key: Key) -> tracing.TraceOrigin | None:
        trace_annotations, cached = self.controller.trace_annotations, self.store.get(key)
        if trace_annotations is None or cached is None:
            return None
        return trace_annotations.extract(cached.metadata.annotations, self._dependencies.clock.now())

    def _succeeded(self, key: Key, result: Result) -> None:
        results = self._metrics.results
        if not isinstance(result, RequeueAfter):
            results["success"].inc()
            self.queue.done(key)
        elif result.seconds > 0:
            results["requeue_after"].inc()
            self.queue.requeue_after(key, result.seconds)
        else:
            results["requeue"].inc()
            self.queue.retry(key)

    def _failed(self, key: Key, error: BaseException) -> None:
        self._metrics.results["error"].inc()
        self._metrics.errors.inc()
        delay = self.queue.retry(key, _requested_delay(error))
        if isinstance(error, KubeError):
            log.error("reconcile failed, next try in %.3g s: %s", delay, describe_error(error))
        else:
            self._metrics.panics.inc()
            log.error("reconcile failed, next try in %.3g s", delay, exc_info=error)

    async def _resync(self) -> None:
        """Reconciles everything once in ten hours, in case an event was missed."""
        while True:
            early = 0.1 * self._dependencies.random()
            await self._dependencies.clock.sleep(self.controller.resync_seconds * (1.0 - early))
            self._for_handler.handle_all(self.store)


def slow_workers(workers: int) -> int:
    """How many workers may reconcile keys of the slow lane at once; the others stay free for the fast lane."""
    return (workers + 1) // 2


def describe_error(error: BaseException) -> str:
    """The error and its notes, which name the step and the object."""
    notes = getattr(error, "__notes__", ())
    return "; ".join((f"{type(error).__name__}: {error}", *notes))


def _requested_delay(error: BaseException) -> float:
    if isinstance(error, TooManyRequests | ServerError):
        return error.retry_after or 0.0
    return 0.0


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
