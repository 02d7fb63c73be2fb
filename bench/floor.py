"""What this machine gives: bare server-side applies a second at several depths, and how soon a watch shows a write.

Nothing on this machine can write faster than this, so everything else is measured as a share of it. The echo is
measured twice in the same moments: by a bare watch, and by a store of the engine with a subscriber.
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

from bench.measuring.bare import config_map
from bench.measuring.contest import contest, cpu, rates
from bench.measuring.depth import Cost, at_depth
from bench.measuring.engine import engine
from bench.measuring.figures import Figure, beside, percentile
from bench.measuring.options import Options, read_options
from bench.measuring.plane import Ground, context
from bench.measuring.report import Report, progress
from bench.measuring.running import run
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Change
from steward.kube.objects.kinds import CONFIG_MAP
from steward.kube.objects.meta import Metadata

DEFAULT = Options(objects=400, rounds=3)
_ECHO = {"bench": "echo"}
_SEEN_SECONDS = 10.0


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("floor", read_options("floor", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with context() as on:
        progress("bare applies, a depth after the other")
        await measure_depths(report, on)
        progress("the echo of a watch, one write after the other")
        await measure_echo(report, on)


async def measure_depths(report: Report, on: Ground) -> None:
    writer = BareWriter(on, report.options.objects)
    depths = {str(depth): partial(writer.write, depth) for depth in report.options.depths}
    found = await contest(depths, report.options.rounds)
    for depth, costs in found.items():
        report.add(
            Figure(f"bare applies, depth {depth}", median(rates(costs)), "/s"),
            Figure(f"… processor of the client, depth {depth}", median(cpu(costs)), "µs each"),
        )


class BareWriter:
    """Applies the same objects again and again, with another value each time."""

    def __init__(self, on: Ground, objects: int, prefix: str = "bare") -> None:
        self._on = on
        self._labels = {"bench": prefix}
        self._names = [f"{prefix}-{number}" for number in range(objects)]
        self._turn = count()

    async def write(self, depth: int, _: int) -> Cost:
        turn = str(next(self._turn))
        manifests = [config_map(self._on.namespace, name, turn, self._labels) for name in self._names]
        return await at_depth(depth, self._on.bare.apply, manifests)


@dataclass
class Sightings:
    """When each version of an object was first seen by one watch."""

    at: dict[str, float] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def saw(self, version: str) -> None:
        self.at[version] = time.perf_counter()
        self._news.set()

    async def until(self, version: str) -> float:
        async with asyncio.timeout(_SEEN_SECONDS):
            while version not in self.at:
                self._news.clear()
                await self._news.wait()
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


async def measure_echo(report: Report, on: Ground) -> None:
    bare, ours = Sightings(), Sightings()
    watching = asyncio.create_task(_watch(on, bare))
    rule = CacheRule(CONFIG_MAP, Metadata, {on.namespace: "bench=echo"})
    try:
        async with engine(on.plane) as running:
            store = running.caches.store(rule)
            store.subscribe(partial(_take, ours))
            await running.sync()
            await bare.until("begun")
            echoes = [await _echo(on, bare, ours, number) for number in range(report.options.objects)]
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    report.add(*_echo_figures(echoes))


async def _watch(on: Ground, seen: Sightings) -> None:
    collection = f"/api/v1/namespaces/{on.namespace}/configmaps"
    version = json.loads(await on.bare.get(f"{collection}?limit=1"))["metadata"]["resourceVersion"]
    query = f"watch=1&labelSelector=bench%3Decho&resourceVersion={version}"
    async with on.bare.lines(f"{collection}?{query}") as lines:
        seen.saw("begun")
        async for line in lines:
            seen.saw(_event.decode(line).object.metadata.resource_version)


def _take(seen: Sightings, change: Change[Metadata]) -> None:
    if change.new is not None:
        seen.saw(change.new.metadata.resource_version)


async def _echo(on: Ground, bare: Sightings, ours: Sightings, number: int) -> Echo:
    sent = time.perf_counter()
    answer = await on.bare.apply(config_map(on.namespace, "echo", str(number), _ECHO))
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
        beside("write sent → told by a store, median", median(by_store), "ms", median(seen)),
        beside("… 99th percentile", percentile(by_store, 0.99), "ms", percentile(seen, 0.99)),
    ]
