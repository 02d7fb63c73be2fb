"""A controller that applies one ConfigMap for each of 5,000 objects, against bare applies of the same ConfigMaps.

Two floors: the bare client, and the bare client beside a bare watch of what it writes. A controller watches what it
writes, so the server has the same work under the second; what the first has less is the price of having a cache.

The whole wheel turns: keys in the queue, workers, a plan, the carrier, the server, read-your-writes, the watch that
shows the write again, and the second look that finds nothing to do. As many workers as the bare client has requests
in flight. In every round each side makes its share of the ConfigMaps, new ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from bench.measuring.bare import FIELD_MANAGER, Manifest, config_map
from bench.measuring.contest import all_cpu, contest, cpu, rates
from bench.measuring.depth import Cost, Meter, at_depth
from bench.measuring.engine import Engine, engine
from bench.measuring.figures import at_least_of_floor, beside, paired
from bench.measuring.options import Options, read_options
from bench.measuring.plane import Ground, context
from bench.measuring.report import Report, progress
from bench.measuring.running import run
from bench.measuring.watched import watched
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONFIG_MAP, SECRET, Key, Ref
from steward.kube.objects.meta import Metadata, key_of
from steward.runtime.controller.controller import Controller, ControllerLoop
from steward.runtime.controller.triggers import For, Owns
from steward.runtime.controller.workqueue import Lane
from steward.runtime.plan.steps import Apply
from steward.runtime.reconcile import Result

DEFAULT = Options(objects=5_000, rounds=20, depths=(16,))
TARGET = at_least_of_floor(0.9)
_STILL_SECONDS = 0.25


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("one_apply", read_options("one_apply", argv, DEFAULT)))


async def measure(report: Report) -> None:
    for depth in report.options.depths:
        async with context() as on, engine(on.plane) as running:
            progress(f"{report.options.objects:,} sources")
            sources = await make_sources(on, report.options.objects)
            await measure_depth(report, on, running, sources, depth)


async def make_sources(on: Ground, objects: int) -> int:
    """Secrets, one for each ConfigMap that is to come."""
    await at_depth(32, on.bare.apply, (_source(on.namespace, number) for number in range(objects)))
    return objects


def _source(namespace: str, number: int) -> Manifest:
    metadata = {"name": f"source-{number}", "namespace": namespace, "labels": {"bench": "source"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


async def measure_depth(report: Report, on: Ground, running: Engine, sources: int, depth: int) -> None:
    progress(f"depth {depth}")
    rounds = report.options.rounds
    copier = Copier(on, running)
    turning = Turning(copier, ControllerLoop(copier.controller(depth), running.around))
    await running.sync()
    turning.loop.start()
    await turning.until_still()
    keys = sorted(key_of(source) for source in copier.sources.list())
    share = max(1, sources // (rounds + 1))
    copies = partial(bare_copies, on, copier, depth)
    contestants = {
        "bare": lambda number: copies("bare", keys[number * share :][:share]),
        "bare with a watch": lambda number: copies("watched", keys[number * share :][:share]),
        "controller": lambda number: turning.copies(keys[number * share :][:share]),
    }
    try:
        async with watched(on):
            found = await contest(contestants, rounds, on.server_cpu)
    finally:
        turning.loop.stop_taking()
        await turning.loop.finish(grace=5.0)
    ours = found.pop("controller")
    for name, floor in found.items():
        report.add(
            paired(
                f"one-apply reconciles, depth {depth}, by {name}", "/s", rates(ours), rates(floor), TARGET
            ),
            paired("… processor", "µs each", cpu(ours), cpu(floor)),
            paired("… with the server's", "µs each", all_cpu(ours), all_cpu(floor)),
        )
    report.add(
        beside(f"… looks for each object, depth {depth}", turning.looks_each, "", 1),
    )


async def bare_copies(on: Ground, copier: Copier, depth: int, by: str, keys: Sequence[Key]) -> Cost:
    return await at_depth(depth, on.bare.apply, [copier.copy_of(key, by) for key in keys])


@dataclass
class Copier:
    """The reconciler: a ConfigMap for each Secret that has been asked for."""

    on: Ground
    running: Engine
    asked: set[Key] = field(default_factory=set)
    written: set[Key] = field(default_factory=set)
    looks: int = 0
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        where = self.on.namespace
        self.source_rule = CacheRule(SECRET, Metadata, {where: "bench=source"})
        self.copy_rule = CacheRule(CONFIG_MAP, Metadata, {where: "bench=controller"}, owned_by=FIELD_MANAGER)
        self.sources: Store[Metadata] = self.running.caches.store(self.source_rule)

    def controller(self, workers: int) -> Controller:
        return Controller("copier", self, (For(self.source_rule), Owns(self.copy_rule)), workers=workers)

    async def reconcile(self, key: Key) -> Result:
        plan = (Apply(self.copy_of(key, "controller")),) if key in self.asked else ()
        outcome = await self.running.executor.execute(plan, Ref(SECRET, key))
        self._count(key)
        return outcome.result

    def _count(self, key: Key) -> None:
        if key in self.asked:
            self.looks += 1
            self.written.add(key)
            if len(self.written) == len(self.asked):
                self.finished.set()

    def copy_of(self, key: Key, by: str) -> Manifest:
        source = self.sources.get(key)
        assert source is not None
        copy = config_map(key.namespace, f"{by}-{key.name}", "copied", {"bench": by})
        owner = {"apiVersion": "v1", "kind": "Secret", "name": key.name, "uid": source.metadata.uid}
        copy["metadata"]["ownerReferences"] = [owner | {"controller": True}]
        return copy


@dataclass
class Turning:
    copier: Copier
    loop: ControllerLoop

    async def copies(self, keys: Sequence[Key]) -> Cost:
        """All keys are queued at once, as when a template changes; the wall's time ends with the last copy."""
        copier = self.copier
        copier.finished.clear()
        copier.asked.update(keys)
        meter = Meter()
        for key in keys:
            self.loop.queue.add(key, Lane.FAST)
        await copier.finished.wait()
        wall = meter.read(len(keys))
        await self.until_still()
        return Cost(wall.count, wall.seconds, meter.read(len(keys)).cpu)

    async def until_still(self) -> None:
        """Until the echoes of the watch and the second looks are over, so that they are on the right bill."""
        while True:
            before = self.copier.looks
            await asyncio.sleep(_STILL_SECONDS)
            if not self.loop.queue.depth and not self.loop.queue.working and self.copier.looks == before:
                return

    @property
    def looks_each(self) -> float:
        return self.copier.looks / len(self.copier.asked)
