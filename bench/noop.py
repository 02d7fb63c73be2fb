"""5,000 objects through a controller that does nothing: the event path, the work queue, the memory per cached object.

The controller runs in a separate process. *Filling* is watch → store → queue → worker at full speed, from a streaming
list. Its floor is a bare watch that reads and drops the same lines. *Live* is the same path while another client
changes the objects. The *pump* is queue → worker only: all keys queued, the cache filled; its floor is a loop that
awaits the same reconcile for the same keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from bench.measuring.bare_client import config_map
from bench.measuring.child import Child, ChildAnswer, run_child
from bench.measuring.concurrency import Cost, run_concurrently
from bench.measuring.figures import Figure, at_least, with_floor, with_paired_floors
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run

DEFAULT = Options(objects=5_000, rounds=5, depths=(16,))
TARGET = at_least(10_000)
_MODULE = "bench.measuring.noop_process"
_LABELS = {"bench": "noop", "app.kubernetes.io/managed-by": "bench"}
_KEEP_UP_SECONDS = 30.0


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("noop", read_options("noop", argv, DEFAULT)))


async def measure(report: Report) -> None:
    objects = report.options.objects
    async with bench_context() as context:
        progress(f"{objects:,} ConfigMaps")
        await write_all(context, objects, "first", 32)
        bare, fills = await measure_filling(report, context)
        async with started(context, objects) as engine:
            filled = await engine.request("fill")
            progress("the pump")
            pumped = [await engine.request("pump") for _ in range(report.options.rounds)]
            report.add(*pump_figures(pumped), *filling_figures(bare, fills), *memory_figures(bare[0], filled))
            progress("live changes")
            await measure_live(report, context, engine)


def started(context: BenchContext, objects: int) -> AbstractAsyncContextManager[Child]:
    return run_child(_MODULE, str(context.plane.directory), context.namespace, str(objects))


async def write_all(context: BenchContext, objects: int, message: str, depth: int) -> Cost:
    names = (f"noop-{number}" for number in range(objects))
    return await run_concurrently(
        depth, context.bare.apply, [config_map(context.namespace, name, message, _LABELS) for name in names]
    )


async def measure_filling(
    report: Report, context: BenchContext
) -> tuple[list[ChildAnswer], list[ChildAnswer]]:
    bare: list[ChildAnswer] = []
    ours: list[ChildAnswer] = []
    for number in range(1, report.options.rounds + 1):
        for word, answers in (("bare", bare), ("fill", ours)):
            async with started(context, report.options.objects) as process:
                answers.append(await process.request(word))
        progress(f"filling, round {number}: {_rate(ours[-1]):,.0f}/s, bare watch {_rate(bare[-1]):,.0f}/s")
    return bare, ours


def _rate(answer: ChildAnswer) -> float:
    return float(answer["count"] / answer["seconds"])


def _per_cpu(answer: ChildAnswer) -> float:
    return float(answer["count"] / answer["cpu"])


def _cpu(answer: ChildAnswer) -> float:
    return float(1e6 * answer["cpu"] / answer["count"])


def pump_figures(pumped: Sequence[ChildAnswer]) -> list[Figure]:
    floors = [{**answer, **answer["floor"]} for answer in pumped]
    return [
        with_paired_floors(
            "no-op reconciles on one core", "/s", [*map(_per_cpu, pumped)], [*map(_per_cpu, floors)], TARGET
        ),
        with_paired_floors("… on the wall", "/s", [*map(_rate, pumped)], [*map(_rate, floors)]),
        with_paired_floors("… processor", "µs each", [*map(_cpu, pumped)], [*map(_cpu, floors)]),
    ]


def filling_figures(bare: Sequence[ChildAnswer], ours: Sequence[ChildAnswer]) -> list[Figure]:
    return [
        with_paired_floors("filling: events on the wall", "/s", [*map(_rate, ours)], [*map(_rate, bare)]),
        with_paired_floors(
            "… processor of an event, with its reconcile", "µs", [*map(_cpu, ours)], [*map(_cpu, bare)]
        ),
    ]


def memory_figures(bare: ChildAnswer, filled: ChildAnswer) -> list[Figure]:
    on_the_wire = bare["bytes"] / bare["count"]
    held = 1e6 * filled["grown_mb"] / filled["count"]
    return [with_floor("memory of a cached object (floor: its JSON)", held, "bytes", on_the_wire)]


async def measure_live(report: Report, context: BenchContext, engine: Child) -> None:
    objects = report.options.objects
    for depth in report.options.depths:
        before = await engine.request("count")
        writes = await write_all(context, objects, f"live at depth {depth}", depth)
        after = await _caught_up(engine, before["reconciles"] + objects)
        report.add(
            *live_figures(depth, writes, after["seconds"] - before["seconds"], _spent(before, after, objects))
        )


def live_figures(depth: int, writes: Cost, seconds: float, microseconds: float) -> list[Figure]:
    return [
        with_floor(f"live: reconciles, writes at depth {depth}", writes.count / seconds, "/s", writes.rate),
        with_floor(
            "… processor of an event, with its reconcile", microseconds, "µs", writes.cpu_microseconds
        ),
    ]


def _spent(before: ChildAnswer, after: ChildAnswer, objects: int) -> float:
    return float(1e6 * (after["cpu"] - before["cpu"]) / objects)


async def _caught_up(engine: Child, reconciles: int) -> ChildAnswer:
    async with asyncio.timeout(_KEEP_UP_SECONDS):
        while (now := await engine.request("count"))["reconciles"] < reconciles:  # noqa: ASYNC110 - another process decides
            await asyncio.sleep(0.02)
    return now
