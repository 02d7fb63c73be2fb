"""The engine's applies compared with those of a bare client, at the same depths, in the same rounds.

Four candidates write the same objects with another value each time: the bare client, the bare client with a bare
watch of the written objects, `Client.apply`, and a PlanExecutor with plans of one Apply and a cache of the written
objects. An operator watches what it writes, so the second shows how much of the executor's cost is that of the watch.
The last figure is an apply that changes nothing: it is decided without a request.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count

from bench.floor import BareWriter
from bench.measuring.background_watch import background_watch
from bench.measuring.bare_client import FIELD_MANAGER, Manifest, config_map
from bench.measuring.comparison import all_cpu, compare, cpu, rates
from bench.measuring.concurrency import Cost, run_concurrently
from bench.measuring.engine import Engine, running_engine
from bench.measuring.figures import at_least_of_floor, with_floor, with_paired_floors
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from steward.kube.cache.rules import CacheRule
from steward.kube.objects.kinds import CONFIG_MAP, ref_of
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import ApplyOptions
from steward.runtime.plan.steps import Apply

DEFAULT = Options(objects=100, rounds=20)
TARGET = at_least_of_floor(0.9)
_EXECUTED = {"bench": "executed"}


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("applies", read_options("applies", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context, running_engine(context.plane) as running:
        running.caches.store(
            CacheRule(CONFIG_MAP, Metadata, {context.namespace: "bench=executed"}, owned_by=FIELD_MANAGER)
        )
        await running.sync()
        writer = EngineWriter(context, running, report.options.objects)
        bare = BareWriter(context, report.options.objects)
        async with background_watch(context):
            for depth in report.options.depths:
                await measure_depth(report, bare, writer, depth)
        await measure_unchanged(report, bare, writer)


async def measure_depth(report: Report, bare: BareWriter, writer: EngineWriter, depth: int) -> None:
    progress(f"depth {depth}")
    candidates = {
        "bare": partial(bare.write, depth),
        "bare with a watch": partial(writer.apply_bare_with_watch, depth),
        "client": partial(writer.apply_with_client, depth),
        "executor": partial(writer.apply_with_executor, depth),
    }
    found = await compare(candidates, report.options.rounds, writer.server_cpu)
    floor = found.pop("bare")
    for name, costs in found.items():
        target = TARGET if name in ("client", "executor") else None
        report.add(
            with_paired_floors(f"{name} applies, depth {depth}", "/s", rates(costs), rates(floor), target),
            with_paired_floors(f"… its processor, depth {depth}", "µs each", cpu(costs), cpu(floor)),
            with_paired_floors("… with the server's", "µs each", all_cpu(costs), all_cpu(floor)),
        )


async def measure_unchanged(report: Report, bare: BareWriter, writer: EngineWriter) -> None:
    progress("applies that change nothing")
    depth = report.options.depths[-1]
    written, unchanged = await bare.write(depth, 0), await writer.apply_unchanged(depth)
    report.add(
        with_floor("executor, nothing to write", unchanged.rate, "/s", written.rate),
        with_floor("… its processor", unchanged.cpu_microseconds, "µs each", written.cpu_microseconds),
    )


class EngineWriter:
    def __init__(self, context: BenchContext, running: Engine, objects: int) -> None:
        self._context = context
        self._running = running
        self._numbers = range(objects)
        self._turn = count()
        self._options = ApplyOptions(manager=FIELD_MANAGER)
        self._watched = BareWriter(context, objects, "watched")

    def server_cpu(self) -> float:
        return self._context.server_cpu()

    async def apply_bare_with_watch(self, depth: int, number: int) -> Cost:
        return await self._watched.write(depth, number)

    async def apply_with_client(self, depth: int, _: int) -> Cost:
        return await run_concurrently(depth, self._apply, self._manifests("client", next(self._turn)))

    async def apply_with_executor(self, depth: int, _: int) -> Cost:
        return await run_concurrently(
            depth, self._execute, self._manifests("executed", next(self._turn), _EXECUTED)
        )

    async def apply_unchanged(self, depth: int) -> Cost:
        turn = next(self._turn)
        await run_concurrently(depth, self._execute, self._manifests("executed", turn, _EXECUTED))
        return await run_concurrently(depth, self._execute, self._manifests("executed", turn, _EXECUTED))

    def _manifests(self, prefix: str, turn: int, labels: dict[str, str] | None = None) -> list[Manifest]:
        names = (f"{prefix}-{number}" for number in self._numbers)
        return [config_map(self._context.namespace, name, str(turn), labels) for name in names]

    async def _apply(self, manifest: Manifest) -> object:
        return await self._running.client.apply(manifest, self._options)

    async def _execute(self, manifest: Manifest) -> object:
        return await self._running.executor.execute((Apply(manifest),), ref_of(manifest))
