"""The engine, assembled as in `Manager`, with the write fence and the metrics, which are part of its cost in
production. Without leader election and ports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bench.measuring.bare_client import FIELD_MANAGER
from steward.kube.apply.applier import Applier
from steward.kube.cache.caches import Caches
from steward.kube.cache.gc_pause import gc_paused
from steward.kube.client.client import Client
from steward.local.control_plane import ControlPlane
from steward.runtime.controller.controller import ControllerDependencies
from steward.runtime.manager.clients import open_connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.settings import Settings
from steward.runtime.plan.event_recorder import EventRecorder, Reporter
from steward.runtime.plan.executor import ExecutorDependencies, PlanExecutor


@dataclass(frozen=True)
class Engine:
    client: Client
    caches: Caches
    executor: PlanExecutor
    around: ControllerDependencies

    async def sync(self) -> None:
        with gc_paused():
            await self.caches.start()
            await self.caches.wait_synced()


@asynccontextmanager
async def running_engine(plane: ControlPlane) -> AsyncIterator[Engine]:
    connection = await open_connection(Settings(kubeconfig=str(plane.kubeconfig)), identity("bench-engine"))
    connection.write_fence.allow_when(lambda: True)
    client, caches = connection.client, Caches(connection.client)
    events = EventRecorder(client, Reporter("bench", "bench"), connection.metrics, connection.clock)
    executor = PlanExecutor(ExecutorDependencies(client, Applier(client), caches, events), FIELD_MANAGER)
    around = ControllerDependencies(caches, connection.metrics, connection.clock)
    try:
        yield Engine(client, caches, executor, around)
    finally:
        await caches.stop()
        await connection.close()
