"""The limits of this machine: bare server-side applies per second at several depths, and the latency of a watch.

Nothing on this machine can write faster, so all other scenarios are measured relative to this. The latency of a watch
is measured twice for the same writes: with a bare watch, and with a store of the engine with a subscriber.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from statistics import median

import msgspec

from bench.measuring.bare_client import config_map
from bench.measuring.comparison import compare, cpu, rates
from bench.measuring.concurrency import Cost, run_concurrently
from bench.measuring.engine import running_engine
from bench.measuring.figures import Figure, percentile, with_floor
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange
from steward.kube.objects.kinds import CONFIG_MAP
from steward.kube.objects.meta import Metadata

DEFAULT = Options(objects=400, rounds=3)
_ECHO = {"bench": "echo"}
_WATCH_TIMEOUT = 10.0


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("floor", read_options("floor", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context:
        progress("bare applies, by depth")
        await measure_depths(report, context)
        progress("latency of a watch, one write at a time")
        await measure_echo(report, context)


async def measure_depths(report: Report, context: BenchContext) -> None:
    writer = BareWriter(context, report.options.objects)
    depths = {str(depth): partial(writer.write, depth) for depth in report.options.depths}
    found = await compare(depths, report.options.rounds)
    for depth, costs in found.items():
        report.add(
            Figure(f"bare applies, depth {depth}", median(rates(costs)), "/s"),
            Figure(f"… processor of the client, depth {depth}", median(cpu(costs)), "µs each"),
        )


class BareWriter:
    """Applies the same objects repeatedly, with another value each time."""

    def __init__(self, context: BenchContext, objects: int, prefix: str = "bare") -> None:
        self._context = context
        self._labels = {"bench": prefix}
        self._names = [f"{prefix}-{number}" for number in range(objects)]
        self._turn = count()

    async def write(self, depth: int, _: int) -> Cost:
        turn = str(next(self._turn))
        manifests = [config_map(self._context.namespace, name, turn, self._labels) for name in self._names]
        return await run_concurrently(depth, self._context.bare.apply, manifests)


@dataclass
class ObservedVersions:
    """When one watch first delivered each version of an object."""

    at: dict[str, float] = field(default_factory=dict)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def record(self, version: str) -> None:
        self.at[version] = time.perf_counter()
        self._changed.set()

    async def until(self, version: str) -> float:
        async with asyncio.timeout(_WATCH_TIMEOUT):
            while version not in self.at:
                self._changed.clear()
                await self._changed.wait()
        return self.at[version]


class _Meta(msgspec.Struct):
    resource_version: str = msgspec.field(name="resourceVersion")


class _Object(msgspec.Struct):
    metadata: _Meta


class _Event(msgspec.Struct):
    object: _Object


_event = msgspec.json.Decoder(_Event)
_object = msgspec.json.Decoder(_Object)


@dataclass(frozen=True)
class Echo:
    """Milliseconds."""

    acknowledged: float
    seen: float
    seen_by_store: float


async def measure_echo(report: Report, context: BenchContext) -> None:
    bare, ours = ObservedVersions(), ObservedVersions()
    watching = asyncio.create_task(_watch(context, bare))
    rule = CacheRule(CONFIG_MAP, Metadata, {context.namespace: "bench=echo"})
    try:
        async with running_engine(context.plane) as running:
            store = running.caches.store(rule)
            store.subscribe(partial(_record_change, ours))
            await running.sync()
            await bare.until("begun")
            echoes = [
                await _measure_one_echo(context, bare, ours, number)
                for number in range(report.options.objects)
            ]
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    report.add(*_echo_figures(echoes))


async def _watch(context: BenchContext, seen: ObservedVersions) -> None:
    collection = f"/api/v1/namespaces/{context.namespace}/configmaps"
    version = json.loads(await context.bare.get(f"{collection}?limit=1"))["metadata"]["resourceVersion"]
    query = f"watch=1&labelSelector=bench%3Decho&resourceVersion={version}"
    async with context.bare.lines(f"{collection}?{query}") as lines:
        seen.record("begun")
        async for line in lines:
            seen.record(_event.decode(line).object.metadata.resource_version)


def _record_change(seen: ObservedVersions, change: ObjectChange[Metadata]) -> None:
    if change.new is not None:
        seen.record(change.new.metadata.resource_version)


async def _measure_one_echo(
    context: BenchContext, bare: ObservedVersions, ours: ObservedVersions, number: int
) -> Echo:
    sent = time.perf_counter()
    answer = await context.bare.apply(config_map(context.namespace, "echo", str(number), _ECHO))
    acknowledged = time.perf_counter()
    version = _object.decode(answer).metadata.resource_version
    seen, by_store = await bare.until(version), await ours.until(version)
    return Echo(*(1000 * (moment - sent) for moment in (acknowledged, seen, by_store)))


def _echo_figures(echoes: Sequence[Echo]) -> list[Figure]:
    acknowledged = [echo.acknowledged for echo in echoes]
    after = [echo.seen - echo.acknowledged for echo in echoes]
    seen = [echo.seen for echo in echoes]
    by_store = [echo.seen_by_store for echo in echoes]
    return [
        Figure("write acknowledged, median", median(acknowledged), "ms"),
        Figure("… 99th percentile", percentile(acknowledged, 0.99), "ms"),
        Figure("acknowledged → seen by a watch, median", median(after), "ms"),
        Figure("… 99th percentile", percentile(after, 0.99), "ms"),
        Figure("write sent → seen by a bare watch, median", median(seen), "ms"),
        Figure("… 99th percentile", percentile(seen, 0.99), "ms"),
        with_floor("write sent → seen by a store, median", median(by_store), "ms", median(seen)),
        with_floor("… 99th percentile", percentile(by_store, 0.99), "ms", percentile(seen, 0.99)),
    ]
