"""The engine's applies against the bare client's, at the same depths, in the same rounds.

Four contestants write the same objects with another value each time: the bare client, the bare client beside a bare
watch that reads what it writes, `Client.apply`, and a Carrier with plans of one Apply beside a cache of what it
writes. An operator watches what it writes, so the second shows how much of the Carrier's cost is the watch's alone.
The last figure is the apply that has nothing to write: it is decided without a request.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count

from bench.floor import BareWriter
from bench.measuring.bare import FIELD_MANAGER, Manifest, config_map
from bench.measuring.contest import all_cpu, contest, cpu, rates
from bench.measuring.depth import Cost, at_depth
from bench.measuring.engine import Engine, engine
from bench.measuring.figures import at_least_of_floor, beside, paired
from bench.measuring.options import Options, read_options
from bench.measuring.plane import Ground, context
from bench.measuring.report import Report, progress
from bench.measuring.running import run
from bench.measuring.watched import watched
from steward.kube.cache.rules import CacheRule
from steward.kube.objects.kinds import CONFIG_MAP, ref_of
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import ApplyOptions
from steward.runtime.plan.steps import Apply

DEFAULT = Options(objects=100, rounds=20)
TARGET = at_least_of_floor(0.9)
_CARRIED = {"bench": "carried"}


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("applies", read_options("applies", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with context() as on, engine(on.plane) as running:
        running.caches.store(
            CacheRule(CONFIG_MAP, Metadata, {on.namespace: "bench=carried"}, owned_by=FIELD_MANAGER)
        )
        await running.sync()
        writer = EngineWriter(on, running, report.options.objects)
        bare = BareWriter(on, report.options.objects)
        async with watched(on):
            for depth in report.options.depths:
                await measure_depth(report, bare, writer, depth)
        await measure_unchanged(report, bare, writer)


async def measure_depth(report: Report, bare: BareWriter, writer: EngineWriter, depth: int) -> None:
    progress(f"depth {depth}")
    contestants = {
        "bare": partial(bare.write, depth),
        "bare with a watch": partial(writer.by_watched, depth),
        "client": partial(writer.by_client, depth),
        "carrier": partial(writer.by_carrier, depth),
    }
    found = await contest(contestants, report.options.rounds, writer.server_cpu)
    floor = found.pop("bare")
    for name, costs in found.items():
        target = TARGET if name in ("client", "carrier") else None
        report.add(
            paired(f"{name} applies, depth {depth}", "/s", rates(costs), rates(floor), target),
            paired(f"… its processor, depth {depth}", "µs each", cpu(costs), cpu(floor)),
            paired("… with the server's", "µs each", all_cpu(costs), all_cpu(floor)),
        )


async def measure_unchanged(report: Report, bare: BareWriter, writer: EngineWriter) -> None:
    progress("applies that change nothing")
    depth = report.options.depths[-1]
    written, unchanged = await bare.write(depth, 0), await writer.nothing_new(depth)
    report.add(
        beside("carrier, nothing to write", unchanged.rate, "/s", written.rate),
        beside("… its processor", unchanged.cpu_microseconds, "µs each", written.cpu_microseconds),
    )


class EngineWriter:
    def __init__(self, on: Ground, running: Engine, objects: int) -> None:
        self._on = on
        self._running = running
        self._numbers = range(objects)
        self._turn = count()
        self._options = ApplyOptions(manager=FIELD_MANAGER)
        self._watched = BareWriter(on, objects, "watched")

    def server_cpu(self) -> float:
        return self._on.server_cpu()

    async def by_watched(self, depth: int, number: int) -> Cost:
        return await self._watched.write(depth, number)

    async def by_client(self, depth: int, _: int) -> Cost:
        return await at_depth(depth, self._apply, self._manifests("client", next(self._turn)))

    async def by_carrier(self, depth: int, _: int) -> Cost:
        return await at_depth(depth, self._carry, self._manifests("carried", next(self._turn), _CARRIED))

    async def nothing_new(self, depth: int) -> Cost:
        turn = next(self._turn)
        await at_depth(depth, self._carry, self._manifests("carried", turn, _CARRIED))
        return await at_depth(depth, self._carry, self._manifests("carried", turn, _CARRIED))

    def _manifests(self, prefix: str, turn: int, labels: dict[str, str] | None = None) -> list[Manifest]:
        names = (f"{prefix}-{number}" for number in self._numbers)
        return [config_map(self._on.namespace, name, str(turn), labels) for name in names]

    async def _apply(self, manifest: Manifest) -> object:
        return await self._running.client.apply(manifest, self._options)

    async def _carry(self, manifest: Manifest) -> object:
        return await self._running.executor.execute((Apply(manifest),), ref_of(manifest))
