"""The measured process of the `noop` scenario: a controller that does nothing, or a bare watch in its stead."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from bench.measuring.bare import BareClient
from bench.measuring.child import Answer, serve, tidy
from bench.measuring.depth import Meter
from bench.measuring.engine import Engine, engine
from bench.measuring.process import usage
from steward.kube.cache.gc_pause import collector_paused
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONFIG_MAP, Key
from steward.kube.objects.meta import Metadata, key_of
from steward.local import control_plane as local
from steward.local.control_plane import ControlPlane
from steward.runtime.controller.controller import Controller, ControllerLoop
from steward.runtime.controller.triggers import For
from steward.runtime.controller.workqueue import Lane
from steward.runtime.reconcile import DONE, Result


class Nothing:
    """Looks at the object, as every reconcile does, and counts."""

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

    def aim(self, further: int) -> asyncio.Event:
        """Set once so many more reconciles have been done."""
        self._reached.clear()
        self._goal = self.count + further
        return self._reached


class Noop:
    def __init__(self, running: Engine, namespace: str, objects: int) -> None:
        rule = CacheRule(CONFIG_MAP, Metadata, {namespace: "bench=noop"})
        self.running = running
        self.objects = objects
        self.reconciler = Nothing(running.caches.store(rule))
        controller = Controller("noop", self.reconciler, (For(rule),), workers=20)
        self.loop = ControllerLoop(controller, running.around)

    async def fill(self) -> Answer:
        """The controller listens before the first event comes, so that each goes the whole way."""
        # Discovery and the connection are made before: they cost once and are not what is measured.
        await self.running.client.discovery.resource(CONFIG_MAP)
        tidy()
        before = usage().rss_mb
        reached = self.reconciler.aim(self.objects)
        self.loop.start()
        meter = Meter()
        with collector_paused():
            await self.running.caches.start()
            await reached.wait()
            cost = meter.read(self.objects)
            await self.running.caches.wait_synced()
        return {
            "count": cost.count,
            "seconds": cost.seconds,
            "cpu": cost.cpu,
            "grown_mb": usage().rss_mb - before,
        }

    async def pump(self) -> Answer:
        keys = [key_of(seen) for seen in self.reconciler.store.list()]
        floor = await self._bare_loop(keys)
        reached = self.reconciler.aim(len(keys))
        for key in keys:
            self.loop.queue.add(key, Lane.SLOW)
        meter = Meter()
        await reached.wait()
        cost = meter.read(len(keys))
        return {"count": cost.count, "seconds": cost.seconds, "cpu": cost.cpu, "floor": floor}

    async def _bare_loop(self, keys: list[Key]) -> Answer:
        meter = Meter()
        for key in keys:
            await self.reconciler.reconcile(key)
        cost = meter.read(len(keys))
        return {"seconds": cost.seconds, "cpu": cost.cpu}

    async def count(self) -> Answer:
        return {
            "reconciles": self.reconciler.count,
            "cpu": time.process_time(),
            "seconds": time.monotonic(),
        }


async def bare_watch(plane: ControlPlane, namespace: str, objects: int) -> Answer:
    """Reads every line of the same streaming list, and drops it."""
    query = (
        "watch=1&labelSelector=bench%3Dnoop&sendInitialEvents=true&allowWatchBookmarks=true"
        "&resourceVersionMatch=NotOlderThan&resourceVersion="
    )
    size = 0
    async with BareClient(plane) as bare:
        await bare.get(
            f"/api/v1/namespaces/{namespace}"
        )  # the connection is there before, as on the other side
        meter = Meter()
        async with bare.lines(f"/api/v1/namespaces/{namespace}/configmaps?{query}") as lines:
            for _ in range(objects):
                size += len(await anext(lines))
        cost = meter.read(objects)
    return {"count": cost.count, "seconds": cost.seconds, "cpu": cost.cpu, "bytes": size}


async def main(directory: str, namespace: str, objects: int) -> None:
    plane = local.find(Path(directory))
    async with engine(plane) as running:
        noop = Noop(running, namespace, objects)
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
