"""The manager of an operator process: starts its parts in order, runs, and stops them in order.

Start: probes and metrics (so that a slow start can be observed), caches, services such as webhooks, election, and on
the leader the controllers. A signal can arrive at any point.

Stop, on SIGTERM, SIGINT or the first failure: no further reconcile is started; running ones may finish within the grace
period while the lease is still renewed; events are sent; the lease is released, so that the next replica leads at once;
then services, caches, traces and sockets. A second signal ends the process at once.
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
from steward.kube.cache.gc_pause import gc_paused
from steward.kube.cache.reflector import ReflectorOptions
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.errors import ServerRestored
from steward.kube.objects.meta import HasMetadata
from steward.runtime.controller.controller import Controller, ControllerDependencies, ControllerLoop
from steward.runtime.manager.clients import Connection
from steward.runtime.manager.election import Election, LeaderLost
from steward.runtime.manager.settings import Settings
from steward.runtime.observability import tracing
from steward.runtime.observability.probes import Check, Probes
from steward.runtime.plan.event_recorder import EventRecorder, Reporter
from steward.runtime.plan.executor import ExecutorDependencies, PlanExecutor, StepHooks
from steward.runtime.plan.step_spans import PartNames
from steward.runtime.plan.write_slots import ServerLoad, WriteSlots

log = logging.getLogger(__name__)

T = TypeVar("T", bound=HasMetadata)

FIRST_LISTS_SECONDS = 60.0
EVENTS_SECONDS = 2.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Service(Protocol):
    """Runs on every replica, such as a webhook server."""

    @property
    def name(self) -> str: ...

    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Called if `start` was called, even if that failed."""
        ...

    def problem(self) -> str:
        """Empty when the service is ready, else one sentence for /readyz."""
        ...


S = TypeVar("S", bound=Service)


class Manager:
    def __init__(self, connection: Connection, settings: Settings) -> None:
        self.settings = settings
        self.connection = connection
        self.client = connection.client
        self.metrics = connection.metrics
        self.caches = Caches(connection.client, ReflectorOptions(on_restored=self._server_restored))
        self.probes = Probes()
        reporter = Reporter(connection.identity.name, connection.identity.instance)
        slots = WriteSlots()
        self.events = EventRecorder(
            connection.client, reporter, connection.metrics, connection.clock, lambda: slots.is_busy
        )
        applier = Applier(connection.client)
        self._executor_dependencies = ExecutorDependencies(
            connection.client, applier, self.caches, self.events, slots
        )
        self._controller_dependencies = ControllerDependencies(
            self.caches, connection.metrics, connection.clock
        )
        self._election = Election(connection, settings)
        self._loops: list[ControllerLoop] = []
        self.leadership_term = 0
        """How many times this process has become the leader."""
        self._services: list[Service] = []
        self._stop_callbacks: list[Callable[[], Awaitable[None]]] = []
        self._stop_requested = asyncio.Event()
        self._restored = ""
        self._progress = "starting"
        self._initial_stores: tuple[Store[Any], ...] = ()

    def store(self, rule: CacheRule[T]) -> Store[T]:
        """The store of a rule, for a reconciler to read from."""
        return self.caches.store(rule)

    def executor(
        self, field_manager: str, hooks: StepHooks | None = None, parts: PartNames | None = None
    ) -> PlanExecutor:
        """`parts` names the spans of writes."""
        return PlanExecutor(self._executor_dependencies, field_manager, hooks, parts)

    @property
    def server_load(self) -> ServerLoad:
        return self._executor_dependencies.write_slots.load

    def add(self, controller: Controller) -> ControllerLoop:
        loop = ControllerLoop(self._with_workers(controller), self._controller_dependencies)
        self._loops.append(loop)
        return loop

    def _with_workers(self, controller: Controller) -> Controller:
        workers = self.settings.workers.get(controller.name, controller.workers)
        return controller if workers == controller.workers else controller.with_workers(workers)

    def add_service(self, service: Service) -> None:
        self._services.append(service)

    def shared_service(self, kind: type[S], make: Callable[[], S]) -> S:
        """The service of this type, created at the first call; the operators of a process share it."""
        for service in self._services:
            if isinstance(service, kind):
                return service
        made = make()
        self.add_service(made)
        return made

    def stop(self) -> None:
        """Request an orderly stop, as SIGTERM does."""
        self._stop_requested.set()

    async def run(self) -> None:
        """Returns after a requested stop; raises the error that stopped it otherwise."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._signalled, number)
        try:
            await self._run_until_stopped()
            if self._restored:
                raise ServerRestored(
                    f"{self._restored}; this process ends, and the next one reads everything again"
                )
        finally:
            await self._shut_down()
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    def _signalled(self, number: signal.Signals) -> None:
        if self._stop_requested.is_set():
            log.warning("second %s: exiting at once", signal.Signals(number).name)
            os._exit(128 + number)
        log.info("%s: stopping", signal.Signals(number).name)
        self._stop_requested.set()

    def _server_restored(self, message: str) -> None:
        """Ends the process without a further write: what it knows is from a history that the server no longer has.

        Emptying the caches would not be enough. They would be filled at different times, and a plan made of a new
        object and an old one may delete what the restore brought back.
        """
        self.connection.write_fence.allow_when(lambda: False)
        self._restored = self._restored or message
        self._stop_requested.set()

    async def _run_until_stopped(self) -> None:
        work = asyncio.create_task(self._start_and_lead(), name="manager")
        stop = asyncio.create_task(self._stop_requested.wait(), name="stop")
        done, _ = await asyncio.wait((work, stop), return_when=asyncio.FIRST_COMPLETED)
        for task in (work, stop):
            if task not in done:
                task.cancel()
        await asyncio.gather(work, stop, return_exceptions=True)
        if work in done:
            work.result()

    async def _start_and_lead(self) -> None:
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
                "workers are set for %s, which is not a controller: there are %s",
                name,
                ", ".join(sorted(known)),
            )

    def _declare_checks(self) -> None:
        self.probes.add_readiness_check(Check("start", lambda: self._progress))
        self.probes.add_readiness_check(Check("caches", self._caches_problem))
        for service in self._services:
            self.probes.add_readiness_check(Check(service.name, service.problem))
        self.probes.add_note("lease", lambda: self._election.description)

    def _caches_problem(self) -> str:
        # A store added at run time for one object must not make the whole process unready.
        needed = self._initial_stores or self.caches.stores
        behind = [store for store in needed if store.available and not store.synced]
        listed = [store for store in behind if not store.rule.fills_last or store.problem]
        return ", ".join(store.problem or f"{store.kind.kind} is being listed" for store in listed)

    async def _listen(self) -> None:
        # Not at the top: `steward preview` serves nothing and does not need to load a web server.
        from steward.runtime.manager.listeners import metrics_listener, probes_listener

        for listener in (
            probes_listener(self.settings, self.probes),
            metrics_listener(self.settings, self.connection),
        ):
            if listener is not None:
                await listener.start()
                self._stop_callbacks.append(listener.stop)

    async def _sync(self) -> None:
        self._progress = "caches are being filled"
        self._stop_callbacks.append(self.caches.stop)
        self._initial_stores = self.caches.stores
        await self.caches.start()
        with gc_paused():
            await self._wait_briefly(self.caches.wait_first_synced())
        await self.caches.wait_first_synced()
        log.info("caches are synced", extra={"stores": len(self.caches.stores)})
        if any(store.rule.fills_last for store in self._initial_stores):
            filling = asyncio.create_task(self._sync_last(), name="last caches")
            self._stop_callbacks.append(lambda: _cancel(filling))

    async def _sync_last(self) -> None:
        with gc_paused():
            await self._wait_briefly(self.caches.wait_synced())
        await self.caches.wait_synced()
        log.info("all caches are synced", extra={"stores": len(self.caches.stores)})

    async def _wait_briefly(self, synced: Awaitable[None]) -> None:
        """If the API server is unreachable for hours, garbage collection must not stay paused."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_LISTS_SECONDS):
                await synced

    async def _serve(self) -> None:
        self._progress = "services are starting"
        for service in self._services:
            self._stop_callbacks.append(service.stop)
            await service.start()

    async def _lead(self) -> None:
        """Runs the controllers while this process leads. Losing the lease ends the process, or makes it a standby."""
        while True:
            await self._election.wait_until_leading()
            self.leadership_term += 1
            for loop in self._loops:
                loop.start()
            log.info("leading", extra={"controllers": [loop.controller.name for loop in self._loops]})
            lost = await self._election.wait_until_lost()
            await self._end_controllers(grace=0.0)
            if self.settings.on_lease_lost == "exit":
                raise LeaderLost(lost)
            log.warning("%s; standing by", lost)

    async def _end_controllers(self, grace: float) -> None:
        for loop in self._loops:
            loop.stop_accepting()
        await asyncio.gather(*(loop.finish(grace) for loop in self._loops))

    async def _shut_down(self) -> None:
        self._progress = "stopping"
        await self._end_controllers(self.settings.shutdown_grace)
        await self.events.stop(EVENTS_SECONDS)
        await self._election.release()
        while self._stop_callbacks:
            await _stop_and_log_errors(self._stop_callbacks.pop())
        await _stop_and_log_errors(tracing.stop_tracing)
        await self.connection.close()
        log.info("stopped")


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _stop_and_log_errors(stop: Callable[[], Awaitable[None]]) -> None:
    """Logs an error instead of raising it, so that the other parts are stopped, too."""
    try:
        await stop()
    except Exception:
        log.exception("a part of the manager did not stop cleanly")
