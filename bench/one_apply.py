"""A controller that applies one ConfigMap for each of 5,000 objects, against bare applies of the same ConfigMaps.

Two floors: the bare client, and the bare client beside a bare watch of what it writes. A controller watches what it
writes, so the server has the same work under the second; what the first has less is the price of having a cache.

The whole wheel turns: keys in the queue, workers, a plan, the carrier, the server, read-your-writes, and the watch that
shows the write again. Two controllers: one says that its own writes are no news to it (`heeds=Heeds.OTHERS`), the other
says nothing and looks a second time, to find nothing to do. As many workers as the bare client has requests in flight.
In every round each side makes its share of the ConfigMaps, new ones.
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
from bench.measuring.plane import Ground, ground
from bench.measuring.report import Report, progress
from bench.measuring.running import run
from bench.measuring.watched import watched
from steward.kube.kinds import CONFIG_MAP, SECRET, Key, Ref
from steward.kube.meta import Metadata, key_of
from steward.kube.selectors import CacheRule
from steward.kube.store import Store
from steward.runtime.controller import Controller, ControllerLoop
from steward.runtime.plan import Apply
from steward.runtime.queue import Lane
from steward.runtime.reconcile import Result
from steward.runtime.triggers import For, Heeds, Owns

DEFAULT = Options(objects=5_000, rounds=20, depths=(16,))
TARGET = at_least_of_floor(0.9)
CONTROLLERS = {"heeds-others": Heeds.OTHERS, "heeds-everybody": Heeds.EVERYBODY}
_STILL_SECONDS = 0.25


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("one_apply", read_options("one_apply", argv, DEFAULT)))


async def measure(report: Report) -> None:
    for depth in report.options.depths:
        for name, heeds in CONTROLLERS.items():
            async with ground() as on, engine(on.plane) as running:
                progress(f"{report.options.objects:,} sources")
                await make_sources(on, report.options.objects)
                await measure_controller(report, Turning.by(Copier(on, running, name, heeds), depth), depth)


async def make_sources(on: Ground, objects: int) -> None:
    """Secrets, one for each ConfigMap that is to come."""
    await at_depth(32, on.bare.apply, (_source(on.namespace, number) for number in range(objects)))


def _source(namespace: str, number: int) -> Manifest:
    metadata = {"name": f"source-{number}", "namespace": namespace, "labels": {"bench": "source"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


async def measure_controller(report: Report, wheel: Turning, depth: int) -> None:
    copier = wheel.copier
    progress(f"depth {depth}, a controller that {copier.name.replace('-', ' ')}")
    await copier.running.sync()
    wheel.loop.start()
    await wheel.until_still()
    keys = sorted(key_of(source) for source in copier.sources.list())
    rounds = report.options.rounds
    share = max(1, len(keys) // (rounds + 1))
    copies = partial(bare_copies, copier, depth)
    contestants = {
        "bare": lambda number: copies("bare", keys[number * share :][:share]),
        "bare with a watch": lambda number: copies("watched", keys[number * share :][:share]),
        copier.name: lambda number: wheel.copies(keys[number * share :][:share]),
    }
    try:
        async with watched(copier.on):
            found = await contest(contestants, rounds, copier.on.server_cpu)
    finally:
        await wheel.stop()
    report_wheel(report, wheel, found, depth)


def report_wheel(report: Report, wheel: Turning, found: dict[str, list[Cost]], depth: int) -> None:
    name, ours = wheel.copier.name, found[wheel.copier.name]
    for floor in ("bare", "bare with a watch"):
        title = f"one-apply reconciles ({name}), depth {depth}, by {floor}"
        report.add(
            paired(title, "/s", rates(ours), rates(found[floor]), TARGET),
            paired("… processor", "µs each", cpu(ours), cpu(found[floor])),
            paired("… with the server's", "µs each", all_cpu(ours), all_cpu(found[floor])),
        )
    report.add(beside(f"… looks for each object ({name}), depth {depth}", wheel.looks_each, "", 1))


async def bare_copies(copier: Copier, depth: int, by: str, keys: Sequence[Key]) -> Cost:
    return await at_depth(depth, copier.on.bare.apply, [copier.copy_of(key, by) for key in keys])


@dataclass
class Copier:
    """The reconciler: a ConfigMap for each Secret that has been asked for."""

    on: Ground
    running: Engine
    name: str
    """Of the controller, and the label of what it makes."""
    heeds: Heeds
    asked: set[Key] = field(default_factory=set)
    written: set[Key] = field(default_factory=set)
    looks: int = 0
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        where = self.on.namespace
        self.source_rule = CacheRule(SECRET, Metadata, {where: "bench=source"})
        self.copy_rule = CacheRule(
            CONFIG_MAP, Metadata, {where: f"bench={self.name}"}, owned_by=FIELD_MANAGER
        )
        self.sources: Store[Metadata] = self.running.caches.store(self.source_rule)

    def controller(self, workers: int) -> Controller:
        triggers = (For(self.source_rule), Owns(self.copy_rule, heeds=self.heeds))
        return Controller(self.name, self, triggers, workers=workers)

    async def reconcile(self, key: Key) -> Result:
        plan = (Apply(self.copy_of(key, self.name)),) if key in self.asked else ()
        outcome = await self.running.carrier.carry_out(plan, Ref(SECRET, key))
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

    @classmethod
    def by(cls, copier: Copier, depth: int) -> Turning:
        return cls(copier, ControllerLoop(copier.controller(depth), copier.running.around))

    async def stop(self) -> None:
        self.loop.stop_taking()
        await self.loop.finish(grace=5.0)

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
