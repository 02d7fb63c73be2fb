"""The engine, put together as `Manager` does it, with its hooks in place: the write guard is asked and every answer
is counted, because production pays for that too. There is no election and there are no ports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bench.measuring.bare import FIELD_MANAGER
from steward.kube.apply import Applier
from steward.kube.cache import Caches
from steward.kube.client import Client
from steward.kube.collector import collector_paused
from steward.local.control_plane import ControlPlane
from steward.runtime.carry import Carrier, Reach
from steward.runtime.connection import open_connection
from steward.runtime.controller import Surroundings
from steward.runtime.events import EventRecorder, Reporter
from steward.runtime.identity import identity
from steward.runtime.settings import Settings


@dataclass(frozen=True)
class Engine:
    client: Client
    caches: Caches
    carrier: Carrier
    around: Surroundings

    async def sync(self) -> None:
        with collector_paused():
            await self.caches.start()
            await self.caches.wait_synced()


@asynccontextmanager
async def engine(plane: ControlPlane) -> AsyncIterator[Engine]:
    connection = await open_connection(Settings(kubeconfig=str(plane.kubeconfig)), identity("bench-engine"))
    connection.guard.ask(lambda: True)
    client, caches = connection.client, Caches(connection.client)
    events = EventRecorder(client, Reporter("bench", "bench"), connection.metrics, connection.clock)
    carrier = Carrier(Reach(client, Applier(client), caches, events), FIELD_MANAGER)
    around = Surroundings(caches, connection.metrics, connection.clock)
    try:
        yield Engine(client, caches, carrier, around)
    finally:
        await caches.stop()
        await connection.close()
