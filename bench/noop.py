"""5,000 objects through a controller that does nothing: the event path, the pump, the memory of a cached object.

The controller runs in a process of its own. *Filling* is watch → store → queue → worker at full speed: a streaming
list is a watch that begins with every object. Its floor is a bare watch that reads the same lines and drops them.
*Live* is the same path while the objects are changed by somebody else. The *pump* is queue → worker alone: all keys
queued, the cache filled; its floor is a loop that awaits the same reconcile for the same keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from bench.measuring.bare import config_map
from bench.measuring.child import Answer, Child, child
from bench.measuring.depth import Cost, at_depth
from bench.measuring.figures import Figure, at_least, beside, paired
from bench.measuring.options import Options, read_options
from bench.measuring.plane import Ground, context
from bench.measuring.report import Report, progress
from bench.measuring.running import run

DEFAULT = Options(objects=5_000, rounds=5, depths=(16,))
TARGET = at_least(10_000)
_MODULE = "bench.measuring.noop_process"
_LABELS = {"bench": "noop", "app.kubernetes.io/managed-by": "bench"}
_KEEP_UP_SECONDS = 30.0


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("noop", read_options("noop", argv, DEFAULT)))


async def measure(report: Report) -> None:
    objects = report.options.objects
    async with context() as on:
        progress(f"{objects:,} ConfigMaps")
        await write_all(on, objects, "first", 32)
        bare, fills = await measure_filling(report, on)
        async with started(on, objects) as engine:
            filled = await engine.ask("fill")
            progress("the pump")
            pumped = [await engine.ask("pump") for _ in range(report.options.rounds)]
            report.add(*pump_figures(pumped), *filling_figures(bare, fills), *memory_figures(bare[0], filled))
            progress("live changes")
            await measure_live(report, on, engine)


def started(on: Ground, objects: int) -> AbstractAsyncContextManager[Child]:
    return child(_MODULE, str(on.plane.directory), on.namespace, str(objects))


async def write_all(on: Ground, objects: int, message: str, depth: int) -> Cost:
    names = (f"noop-{number}" for number in range(objects))
    return await at_depth(
        depth, on.bare.apply, [config_map(on.namespace, name, message, _LABELS) for name in names]
    )


async def measure_filling(report: Report, on: Ground) -> tuple[list[Answer], list[Answer]]:
    bare: list[Answer] = []
    ours: list[Answer] = []
    for number in range(1, report.options.rounds + 1):
        for word, answers in (("bare", bare), ("fill", ours)):
            async with started(on, report.options.objects) as process:
                answers.append(await process.ask(word))
        progress(f"filling, round {number}: {_rate(ours[-1]):,.0f}/s, bare watch {_rate(bare[-1]):,.0f}/s")
    return bare, ours


def _rate(answer: Answer) -> float:
    return float(answer["count"] / answer["seconds"])


def _per_cpu(answer: Answer) -> float:
    return float(answer["count"] / answer["cpu"])


def _cpu(answer: Answer) -> float:
    return float(1e6 * answer["cpu"] / answer["count"])


def pump_figures(pumped: Sequence[Answer]) -> list[Figure]:
    floors = [{**answer, **answer["floor"]} for answer in pumped]
    return [
        paired(
            "no-op reconciles on one core", "/s", [*map(_per_cpu, pumped)], [*map(_per_cpu, floors)], TARGET
        ),
        paired("… on the wall", "/s", [*map(_rate, pumped)], [*map(_rate, floors)]),
        paired("… processor", "µs each", [*map(_cpu, pumped)], [*map(_cpu, floors)]),
    ]


def filling_figures(bare: Sequence[Answer], ours: Sequence[Answer]) -> list[Figure]:
    return [
        paired("filling: events on the wall", "/s", [*map(_rate, ours)], [*map(_rate, bare)]),
        paired("… processor of an event, with its reconcile", "µs", [*map(_cpu, ours)], [*map(_cpu, bare)]),
    ]


def memory_figures(bare: Answer, filled: Answer) -> list[Figure]:
    on_the_wire = bare["bytes"] / bare["count"]
    held = 1e6 * filled["grown_mb"] / filled["count"]
    return [beside("memory of a cached object (floor: its JSON)", held, "bytes", on_the_wire)]


async def measure_live(report: Report, on: Ground, engine: Child) -> None:
    objects = report.options.objects
    for depth in report.options.depths:
        before = await engine.ask("count")
        writes = await write_all(on, objects, f"live at depth {depth}", depth)
        after = await _caught_up(engine, before["reconciles"] + objects)
        report.add(
            *live_figures(depth, writes, after["seconds"] - before["seconds"], _spent(before, after, objects))
        )


def live_figures(depth: int, writes: Cost, seconds: float, microseconds: float) -> list[Figure]:
    return [
        beside(f"live: reconciles, writes at depth {depth}", writes.count / seconds, "/s", writes.rate),
        beside("… processor of an event, with its reconcile", microseconds, "µs", writes.cpu_microseconds),
    ]


def _spent(before: Answer, after: Answer, objects: int) -> float:
    return float(1e6 * (after["cpu"] - before["cpu"]) / objects)


async def _caught_up(engine: Child, reconciles: int) -> Answer:
    async with asyncio.timeout(_KEEP_UP_SECONDS):
        while (now := await engine.ask("count"))["reconciles"] < reconciles:  # noqa: ASYNC110 - another process decides
            await asyncio.sleep(0.02)
    return now
