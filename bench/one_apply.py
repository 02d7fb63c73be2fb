"""A controller that applies one ConfigMap for each of 5,000 objects, compared with bare applies of the same ConfigMaps.

Two floors: the bare client, and the bare client with a bare watch of the written objects. A controller watches what
it writes, so with the second floor the server does the same work; the difference between the floors is the cost of a
cache.

All parts of the engine run: queue, workers, plan, executor, server, read-your-writes, the watch event of the write, and
the second reconcile that finds nothing to do. There are as many workers as the bare client has requests in flight. In
every round each candidate creates new ConfigMaps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from bench.measuring.background_watch import background_watch
from bench.measuring.bare_client import FIELD_MANAGER, Manifest, config_map
from bench.measuring.comparison import all_cpu, compare, cpu, rates
from bench.measuring.concurrency import Cost, Meter, run_concurrently
from bench.measuring.engine import Engine, running_engine
from bench.measuring.figures import at_least_of_floor, with_floor, with_paired_floors
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONFIG_MAP, SECRET, Key, Ref
from steward.kube.objects.meta import Metadata, key_of
from steward.runtime.controller.controller import Controller, ControllerLoop
from steward.runtime.controller.triggers import For, Owns
from steward.runtime.plan.steps import Apply
from steward.runtime.reconcile import Lane, Result

DEFAULT = Options(objects=5_000, rounds=20, depths=(16,))
TARGET = at_least_of_floor(0.9)
_IDLE_SECONDS = 0.25


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("one_apply", read_options("one_apply", argv, DEFAULT)))


async def measure(report: Report) -> None:
    for depth in report.options.depths:
        async with bench_context() as context, running_engine(context.plane) as running:
            progress(f"{report.options.objects:,} sources")
            sources = await create_sources(context, report.options.objects)
            await measure_depth(report, context, running, sources, depth)


async def create_sources(context: BenchContext, objects: int) -> int:
    """Create Secrets, one for each ConfigMap."""
    await run_concurrently(
        32, context.bare.apply, (_source(context.namespace, number) for number in range(objects))
    )
    return objects


def _source(namespace: str, number: int) -> Manifest:
    metadata = {"name": f"source-{number}", "namespace": namespace, "labels": {"bench": "source"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


async def measure_depth(
    report: Report, context: BenchContext, running: Engine, sources: int, depth: int
) -> None:
    progress(f"depth {depth}")
    rounds = report.options.rounds
    copier = Copier(context, running)
    running_copier = RunningCopier(copier, ControllerLoop(copier.controller(depth), running.around))
    await running.sync()
    running_copier.loop.start()
    await running_copier.wait_until_idle()
    keys = sorted(key_of(source) for source in copier.sources.list())
    share = max(1, sources // (rounds + 1))
    copies = partial(bare_copies, context, copier, depth)
    candidates = {
        "bare": lambda number: copies("bare", keys[number * share :][:share]),
        "bare with a watch": lambda number: copies("watched", keys[number * share :][:share]),
        "controller": lambda number: running_copier.copies(keys[number * share :][:share]),
    }
    try:
        async with background_watch(context):
            found = await compare(candidates, rounds, context.server_cpu)
    finally:
        running_copier.loop.stop_accepting()
        await running_copier.loop.finish(grace=5.0)
    ours = found.pop("controller")
    for name, floor in found.items():
        report.add(
            with_paired_floors(
                f"one-apply reconciles, depth {depth}, by {name}", "/s", rates(ours), rates(floor), TARGET
            ),
            with_paired_floors("… processor", "µs each", cpu(ours), cpu(floor)),
            with_paired_floors("… with the server's", "µs each", all_cpu(ours), all_cpu(floor)),
        )
    report.add(
        with_floor(f"… reconciles for each object, depth {depth}", running_copier.reconciles_each, "", 1),
    )


async def bare_copies(
    context: BenchContext, copier: Copier, depth: int, by: str, keys: Sequence[Key]
) -> Cost:
    return await run_concurrently(depth, context.bare.apply, [copier.copy_of(key, by) for key in keys])


@dataclass
class Copier:
    """The reconciler: creates a ConfigMap for each requested Secret."""

    context: BenchContext
    running: Engine
    requested: set[Key] = field(default_factory=set)
    written: set[Key] = field(default_factory=set)
    reconciles: int = 0
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        where = self.context.namespace
        self.source_rule = CacheRule(SECRET, Metadata, {where: "bench=source"})
        self.copy_rule = CacheRule(CONFIG_MAP, Metadata, {where: "bench=controller"}, owned_by=FIELD_MANAGER)
        self.sources: Store[Metadata] = self.running.caches.store(self.source_rule)

    def controller(self, workers: int) -> Controller:
        return Controller("copier", self, (For(self.source_rule), Owns(self.copy_rule)), workers=workers)

    async def reconcile(self, key: Key) -> Result:
        plan = (Apply(self.copy_of(key, "controller")),) if key in self.requested else ()
        outcome = await self.running.executor.execute(plan, Ref(SECRET, key))
        self._count(key)
        return outcome.result

    def _count(self, key: Key) -> None:
        if key in self.requested:
            self.reconciles += 1
            self.written.add(key)
            if len(self.written) == len(self.requested):
                self.finished.set()

    def copy_of(self, key: Key, by: str) -> Manifest:
        source = self.sources.get(key)
        assert source is not None
        copy = config_map(key.namespace, f"{by}-{key.name}", "copied", {"bench": by})
        owner = {"apiVersion": "v1", "kind": "Secret", "name": key.name, "uid": source.metadata.uid}
        copy["metadata"]["ownerReferences"] = [owner | {"controller": True}]
        return copy


@dataclass
class RunningCopier:
    copier: Copier
    loop: ControllerLoop

    async def copies(self, keys: Sequence[Key]) -> Cost:
        """Queue all keys at once, as after a template change; the wall time ends with the last copy."""
        copier = self.copier
        copier.finished.clear()
        copier.requested.update(keys)
        meter = Meter()
        for key in keys:
            self.loop.queue.add(key, Lane.FAST)
        await copier.finished.wait()
        wall = meter.read(len(keys))
        await self.wait_until_idle()
        return Cost(wall.count, wall.seconds, meter.read(len(keys)).cpu)

    async def wait_until_idle(self) -> None:
        """Wait until the watch events of the writes are reconciled, so that their cost counts for this round."""
        while True:
            previous = self.copier.reconciles
            await asyncio.sleep(_IDLE_SECONDS)
            if (
                not self.loop.queue.depth
                and not self.loop.queue.processing
                and self.copier.reconciles == previous
            ):
                return

    @property
    def reconciles_each(self) -> float:
        return self.copier.reconciles / len(self.copier.requested)
