"""Starts everything in order, runs until told to stop, and stops everything in order.

Start: probes and metrics (so that a slow start can be watched), caches, services such as webhooks, election, and on
the leader the controllers. A signal may come at any point of that.

Stop, on SIGTERM, SIGINT or the first failure: no key is started; what is in hand may end within the grace while the
lease is still being renewed; events go out; the lease is released, so that the next replica leads at once; then
services, caches, traces and sockets. A second signal ends the process where it stands.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from steward.kube.apply.applier import Applier
from steward.kube.cache.caches import Caches
from steward.kube.cache.gc_pause import collector_paused
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.meta import HasMetadata
from steward.runtime.controller.controller import Controller, ControllerLoop, Surroundings
from steward.runtime.manager.clients import Connection
from steward.runtime.manager.election import Election, LeaderLost
from steward.runtime.manager.settings import Settings
from steward.runtime.observability import tracing
from steward.runtime.observability.probes import Check, Probes
from steward.runtime.plan.event_recorder import EventRecorder, Reporter
from steward.runtime.plan.executor import ExecutorDependencies, PlanExecutor, StepHooks

log = logging.getLogger(__name__)

T = TypeVar("T", bound=HasMetadata)

FIRST_LISTS_SECONDS = 60.0
EVENTS_SECONDS = 2.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Service(Protocol):
    """Something that runs on every replica beside the controllers, such as a webhook server."""

    @property
    def name(self) -> str: ...

    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Called once `start` was, whether or not that came to its end."""
        ...

    def problem(self) -> str:
        """Nothing when it serves, else one sentence for /readyz."""
        ...


S = TypeVar("S", bound=Service)


class Manager:
    def __init__(self, connection: Connection, settings: Settings) -> None:
        self.settings = settings
        self.connection = connection
        self.client = connection.client
        self.metrics = connection.metrics
        self.caches = Caches(connection.client)
        self.probes = Probes()
        who = connection.identity
        self.events = EventRecorder(
            connection.client, Reporter(who.name, who.instance), connection.metrics, connection.clock
        )
        applier = Applier(connection.client)
        self._reach = ExecutorDependencies(connection.client, applier, self.caches, self.events)
        self._around = Surroundings(
            self.caches, connection.metrics, connection.clock, echoes=self._reach.echoes
        )
        self._election = Election(connection, settings)
        self._loops: list[ControllerLoop] = []
        self._services: list[Service] = []
        self._started: list[Callable[[], Awaitable[None]]] = []
        self._asked_to_stop = asyncio.Event()
        self._progress = "starting"
        self._needed: tuple[Store[Any], ...] = ()

    def store(self, rule: CacheRule[T]) -> Store[T]:
        """The store of a rule, for a reconciler to read from."""
        return self.caches.store(rule)

    def executor(self, field_manager: str, hooks: StepHooks | None = None) -> PlanExecutor:
        return PlanExecutor(self._reach, field_manager, hooks)

    def add(self, controller: Controller) -> ControllerLoop:
        loop = ControllerLoop(self._with_workers(controller), self._around)
        self._loops.append(loop)
        return loop

    def _with_workers(self, controller: Controller) -> Controller:
        workers = self.settings.workers.get(controller.name, controller.workers)
        return controller if workers == controller.workers else controller.with_workers(workers)

    def add_service(self, service: Service) -> None:
        self._services.append(service)

    def shared_service(self, kind: type[S], make: Callable[[], S]) -> S:
        """The service of this type, made at the first call: operators of one process share it."""
        for service in self._services:
            if isinstance(service, kind):
                return service
        made = make()
        self.add_service(made)
        return made

    def stop(self) -> None:
        """Ask for an ordered stop, as SIGTERM does."""
        self._asked_to_stop.set()

    async def run(self) -> None:
        """Returns after an ordered stop that was asked for; raises what made it stop otherwise."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._signalled, number)
        try:
            await self._until_stopped()
        finally:
            await self._wind_down()
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    def _signalled(self, number: signal.Signals) -> None:
        if self._asked_to_stop.is_set():
            log.warning("%s came a second time: ending at once", signal.Signals(number).name)
            os._exit(128 + number)
        log.info("%s: stopping", signal.Signals(number).name)
        self._asked_to_stop.set()

    async def _until_stopped(self) -> None:
        work = asyncio.create_task(self._work(), name="manager")
        asked = asyncio.create_task(self._asked_to_stop.wait(), name="stop")
        done, _ = await asyncio.wait((work, asked), return_when=asyncio.FIRST_COMPLETED)
        for task in (work, asked):
            if task not in done:
                task.cancel()
        await asyncio.gather(work, asked, return_exceptions=True)
        if work in done:
            work.result()

    async def _work(self) -> None:
        self._warn_of_unknown_workers()
        self._declare_checks()
        await self._listen()
        await self._sync()
        await self._serve()
        self._progress = ""
        self.events.start()
        await self._lead()

    def _warn_of_unknown_workers(self) -> None:
        known = {loop.controller.name for loop in self._loops}
        for name in self.settings.workers.keys() - known:
            log.warning(
                "workers are set for %s, which is no controller here: %s", name, ", ".join(sorted(known))
            )

    def _declare_checks(self) -> None:
        self.probes.needed_for_readiness(Check("start", lambda: self._progress))
        self.probes.needed_for_readiness(Check("caches", self._caches_problem))
        for service in self._services:
            self.probes.needed_for_readiness(Check(service.name, service.problem))
        self.probes.shown("lease", lambda: self._election.state)

    def _caches_problem(self) -> str:
        # What is asked for while we run, for the sake of one object, must not take the whole process out of service.
        needed = self._needed or self.caches.stores
        behind = [store for store in needed if store.available and not store.synced]
        return ", ".join(store.problem or f"{store.kind.kind} is being listed" for store in behind)

    async def _listen(self) -> None:
        # Not at the top: a preview carries no plan out and listens to nobody, and need not wait for a web server.
        from steward.runtime.manager.listeners import metrics_listener, probes_listener

        for listener in (
            probes_listener(self.settings, self.probes),
            metrics_listener(self.settings, self.connection),
        ):
            if listener is not None:
                await listener.start()
                self._started.append(listener.stop)

    async def _sync(self) -> None:
        self._progress = "caches are being filled"
        self._started.append(self.caches.stop)
        self._needed = self.caches.stores
        with collector_paused(), suppress(TimeoutError):
            await self.caches.start()
            # A server that is away for hours must not leave the process without a collector.
            async with asyncio.timeout(FIRST_LISTS_SECONDS):
                await self.caches.wait_synced()
        await self.caches.wait_synced()
        log.info("caches are synced", extra={"stores": len(self.caches.stores)})

    async def _serve(self) -> None:
        self._progress = "services are starting"
        for service in self._services:
            self._started.append(service.stop)
            await service.start()

    async def _lead(self) -> None:
        """Controllers run whenever this process leads. Losing the lease ends the process, or only its lead."""
        while True:
            await self._election.until_leading()
            for loop in self._loops:
                loop.start()
            log.info("leading", extra={"controllers": [loop.controller.name for loop in self._loops]})
            lost = await self._election.until_lost()
            await self._end_controllers(grace=0.0)
            if self.settings.on_lease_lost == "exit":
                raise LeaderLost(lost)
            log.warning("%s; standing by", lost)

    async def _end_controllers(self, grace: float) -> None:
        for loop in self._loops:
            loop.stop_taking()
        await asyncio.gather(*(loop.finish(grace) for loop in self._loops))

    async def _wind_down(self) -> None:
        self._progress = "stopping"
        await self._end_controllers(self.settings.shutdown_grace)
        await self.events.stop(EVENTS_SECONDS)
        await self._election.release()
        while self._started:
            await _quietly(self._started.pop())
        await _quietly(tracing.stop_tracing)
        await self.connection.close()
        log.info("stopped")


async def _quietly(stop: Callable[[], Awaitable[None]]) -> None:
    """One part that fails to stop must not keep the others from stopping."""
    try:
        await stop()
    except Exception:
        log.exception("a part did not stop cleanly")
