"""`steward run` at rest on an empty cluster with all caches synced: memory, and the processor it uses in a minute.

The floor is a process with the same HTTP client and JSON library that has made one call: what Python costs before
Steward does anything.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from bench.measuring.child import child
from bench.measuring.figures import Figure, at_most, beside
from bench.measuring.operator import compile_operator, install_kinds, operator
from bench.measuring.options import Options, read_options
from bench.measuring.plane import Ground, context
from bench.measuring.process import Usage
from bench.measuring.report import Report, progress
from bench.measuring.running import run
from steward.cli.commands.run import OPERATORS

DEFAULT = Options(objects=1, rounds=1, seconds=60.0)
TARGET = at_most(60)


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("idle", read_options("idle", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with context() as on:
        await install_kinds(on.bare)
        floor = await bare_process(on)
        for names in choices():
            await compile_operator(on, names)
            what = f"steward run {' '.join(names)}".strip()
            progress(f"{what}, at rest for {report.options.seconds:g} s")
            report.add(*figures(what, *await at_rest(on, names, report.options.seconds), floor))


def choices() -> list[tuple[str, ...]]:
    """Each operator alone, and all of them in one process."""
    alone: list[tuple[str, ...]] = [(name,) for name in OPERATORS]
    return alone if len(alone) == 1 else [*alone, ()]


async def bare_process(on: Ground) -> Usage:
    pair = on.plane.client
    files = [str(file) for file in (on.plane.ca_file, pair.certificate, pair.key)]
    # Told by arguments: a process that looked them up would load more than it is the floor of.
    async with child("bench.measuring.bare_process", json.dumps([on.plane.url, *files])) as process:
        return Usage(**await process.ask("call"))


async def at_rest(on: Ground, names: tuple[str, ...], seconds: float) -> tuple[Usage, Usage, float]:
    """Before and after the rest, and how long it was."""
    async with operator(on, names) as running:
        # What the start sets off is no part of the rest.
        await asyncio.sleep(min(seconds, 5.0))
        before, began = running.usage(), asyncio.get_running_loop().time()
        await asyncio.sleep(seconds)
        return before, running.usage(), asyncio.get_running_loop().time() - began


def figures(what: str, before: Usage, after: Usage, seconds: float, floor: Usage) -> list[Figure]:
    spent = 60 * (after.cpu_seconds - before.cpu_seconds) / seconds
    return [
        beside(f"{what}: memory", after.rss_mb, "MB", floor.rss_mb, TARGET),
        beside("… of its own (without shared pages)", after.private_mb, "MB", floor.private_mb),
        beside("… at its peak", after.peak_mb, "MB", floor.peak_mb),
        Figure("… processor in a minute", spent, "s"),
    ]
