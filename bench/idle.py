"""Memory and CPU per minute of an idle `steward run` on an empty cluster with all caches synced.

The floor is a process with the same HTTP client and JSON library that has made one call: the cost of Python before
Steward does anything.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from bench.measuring.child import run_child
from bench.measuring.figures import Figure, at_most, with_floor
from bench.measuring.operator import compile_operator, install_crds, running_operator
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.process import Usage
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from steward.cli.commands.run import OPERATORS

DEFAULT = Options(objects=1, rounds=1, seconds=60.0)
TARGET = at_most(60)


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("idle", read_options("idle", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context:
        await install_crds(context.bare)
        floor = await measure_bare_process(context)
        for names in operator_choices():
            await compile_operator(context, names)
            what = f"steward run {' '.join(names)}".strip()
            progress(f"{what}, at rest for {report.options.seconds:g} s")
            report.add(*figures(what, *await measure_rest(context, names, report.options.seconds), floor))


def operator_choices() -> list[tuple[str, ...]]:
    """Each operator alone, and both in one process."""
    alone: list[tuple[str, ...]] = [(name,) for name in OPERATORS]
    return alone if len(alone) == 1 else [*alone, ()]


async def measure_bare_process(context: BenchContext) -> Usage:
    pair = context.plane.client
    files = [str(file) for file in (context.plane.ca_file, pair.certificate, pair.key)]
    # Passed as arguments: reading them from a kubeconfig would load more modules into the floor process.
    async with run_child("bench.measuring.bare_process", json.dumps([context.plane.url, *files])) as process:
        return Usage(**await process.request("call"))


async def measure_rest(
    context: BenchContext, names: tuple[str, ...], seconds: float
) -> tuple[Usage, Usage, float]:
    """Usage before and after the idle time, and its length."""
    async with running_operator(context, names) as running:
        # Work that follows from the start does not belong to the idle time.
        await asyncio.sleep(min(seconds, 5.0))
        before, began = running.usage(), asyncio.get_running_loop().time()
        await asyncio.sleep(seconds)
        return before, running.usage(), asyncio.get_running_loop().time() - began


def figures(what: str, before: Usage, after: Usage, seconds: float, floor: Usage) -> list[Figure]:
    spent = 60 * (after.cpu_seconds - before.cpu_seconds) / seconds
    return [
        with_floor(f"{what}: memory", after.rss_mb, "MB", floor.rss_mb, TARGET),
        with_floor("… of its own (without shared pages)", after.private_mb, "MB", floor.private_mb),
        with_floor("… at its peak", after.peak_mb, "MB", floor.peak_mb),
        Figure("… processor in a minute", spent, "s"),
    ]
