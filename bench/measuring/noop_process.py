"""The measured process of the `noop` scenario: a controller that does nothing, or a bare watch."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from bench.measuring.bare_client import BareClient
from bench.measuring.child import ChildAnswer, collect_garbage, serve
from bench.measuring.concurrency import Meter
from bench.measuring.engine import Engine, running_engine
from bench.measuring.process import process_usage
from steward.kube.cache.gc_pause import gc_paused
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONFIG_MAP, Key
from steward.kube.objects.meta import Metadata, key_of
from steward.local import control_plane as local
from steward.local.control_plane import ControlPlane
from steward.runtime.controller.controller import Controller, ControllerLoop
from steward.runtime.controller.triggers import For
from steward.runtime.reconcile import DONE, Lane, Result


class NoopReconciler:
    """Reads the object from the cache, as every reconcile does, and counts."""

    def __init__(self, store: Store[Metadata]) -> None:
        self.store = store
        self.count = 0
        self._goal = 0
        self._reached = asyncio.Event()

    async def reconcile(self, key: Key) -> Result:
        if self.store.get(key) is not None:
            self.count += 1
            if self.count == self._goal:
                self._reached.set()
        return DONE

    def expect_reconciles(self, further: int) -> asyncio.Event:
        """An event that is set after `further` more reconciles."""
        self._reached.clear()
        self._goal = self.count + further
        return self._reached


class NoopController:
    def __init__(self, running: Engine, namespace: str, objects: int) -> None:
        rule = CacheRule(CONFIG_MAP, Metadata, {namespace: "bench=noop"})
        self.running = running
        self.objects = objects
        self.reconciler = NoopReconciler(running.caches.store(rule))
        controller = Controller("noop", self.reconciler, (For(rule),), workers=20)
        self.loop = ControllerLoop(controller, running.around)

    async def fill(self) -> ChildAnswer:
        """Fill the cache; the controller is started first, so that every event is reconciled."""
        # Discovery and connection are done before: they are not part of the measurement.
        await self.running.client.discovery.resource(CONFIG_MAP)
        collect_garbage()
        before = process_usage().rss_mb
        reached = self.reconciler.expect_reconciles(self.objects)
        self.loop.start()
        meter = Meter()
        with gc_paused():
            await self.running.caches.start()
            await reached.wait()
            cost = meter.read(self.objects)
            await self.running.caches.wait_synced()
        return {
            "count": cost.count,
            "seconds": cost.seconds,
            "cpu": cost.cpu,
            "grown_mb": process_usage().rss_mb - before,
        }

    async def pump(self) -> ChildAnswer:
        keys = [key_of(item) for item in self.reconciler.store.list()]
        floor = await self._bare_loop(keys)
        reached = self.reconciler.expect_reconciles(len(keys))
        for key in keys:
            self.loop.queue.add(key, Lane.SLOW)
        meter = Meter()
        await reached.wait()
        cost = meter.read(len(keys))
        return {"count": cost.count, "seconds": cost.seconds, "cpu": cost.cpu, "floor": floor}

    async def _bare_loop(self, keys: list[Key]) -> ChildAnswer:
        meter = Meter()
        for key in keys:
            await self.reconciler.reconcile(key)
        cost = meter.read(len(keys))
        return {"seconds": cost.seconds, "cpu": cost.cpu}

    async def count(self) -> ChildAnswer:
        return {
            "reconciles": self.reconciler.count,
            "cpu": time.process_time(),
            "seconds": time.monotonic(),
        }


async def bare_watch(plane: ControlPlane, namespace: str, objects: int) -> ChildAnswer:
    """Read and drop every line of the same streaming list."""
    query = (
        "watch=1&labelSelector=bench%3Dnoop&sendInitialEvents=true&allowWatchBookmarks=true"
        "&resourceVersionMatch=NotOlderThan&resourceVersion="
    )
    size = 0
    async with BareClient(plane) as bare:
        await bare.get(
            f"/api/v1/namespaces/{namespace}"
        )  # opens the connection before, as for the controller
        meter = Meter()
        async with bare.lines(f"/api/v1/namespaces/{namespace}/configmaps?{query}") as lines:
            for _ in range(objects):
                size += len(await anext(lines))
        cost = meter.read(objects)
    return {"count": cost.count, "seconds": cost.seconds, "cpu": cost.cpu, "bytes": size}


async def main(directory: str, namespace: str, objects: int) -> None:
    plane = local.find(Path(directory))
    async with running_engine(plane) as running:
        noop = NoopController(running, namespace, objects)
        await serve(
            {
                "bare": lambda: bare_watch(plane, namespace, objects),
                "fill": noop.fill,
                "pump": noop.pump,
                "count": noop.count,
            }
        )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
