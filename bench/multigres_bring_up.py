"""1, 10 and 40 clusters at once: time until all are Healthy, API writes, idle time, restart, memory, deletion.

Each cluster has 3 cells and 1 shard with a pool in each cell: 14 pods. The operator runs as a separate process, and
calls are counted from the API server's audit log. The floor is the bare client of `measuring.replay`: it writes the
objects that the operator wrote, 16 at once, in the same run, until their workloads are ready. A fake data plane runs
beside both. Rest, restart and deletion are measured in the first round. Sizes: `--sizes 1,10,40`; rounds of each size:
`--rounds 3`; idle time: `--seconds 120`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from bench.measuring.bare_client import BareClient
from bench.measuring.concurrency import run_concurrently
from bench.measuring.data_plane import running_data_plane
from bench.measuring.figures import Figure, Target, at_most, at_most_of_floor, with_floor, with_paired_floors
from bench.measuring.namespaces import until_none_terminates
from bench.measuring.object_watch import WatchedObject, watch_objects
from bench.measuring.operator import RunningOperator, install_crds, running_operator
from bench.measuring.operator_phases import OperatorCalls, Phase
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.ready_times import ReadyTimes, figures_of_each_round, figures_of_rounds
from bench.measuring.replay import DEPTH, ReplayResult, WrittenObject, read_written_objects, replay
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from steward.multigres.deletion.annotations import GraceSettings

DEFAULT = Options(objects=1, rounds=1, seconds=120.0, sizes=(1, 10, 40))
OPERATOR = ("multigres",)
MANAGER = AGENT = "multigres-operator"
WRITES_EACH = at_most(60)
ONE_CLUSTER_SECONDS = 2.5
MEDIAN = at_most_of_floor(0.65)
"""Of the whole time: a cluster that was begun is finished before the next one is begun."""
MEMORY_MB = {10: 75.0, 40: 100.0}
PEAK_MB = {10: 90.0}
"""While the clusters start, with the process that makes certificates."""
CPU_SECONDS_EACH = at_most(0.4)
REST_CPU_SECONDS = 0.3
REST_SECONDS = 60.0
DELETE_SECONDS = {10: 8.0 + GraceSettings().default_seconds}
"""Includes the shutdown grace period of gateways and servers."""
NONE = at_most(0)
_KIND = "/apis/multigres.com/v1alpha1"
_POLL_SECONDS = 0.25
_RESTART_SECONDS = 30.0


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("multigres_bring_up", read_options("multigres_bring_up", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context:
        await install_crds(context.bare)
        for size in report.options.sizes:
            await measure_size(report, context, size)


@dataclass(frozen=True)
class ClusterFleet:
    """The clusters of one size, in their own namespace."""

    bare: BareClient
    namespace: str
    size: int

    @property
    def path(self) -> str:
        return f"{_KIND}/namespaces/{self.namespace}/multigresclusters"

    async def create_and_wait(self) -> ReadyTimes:
        """When the clusters became Healthy, counted from the first create."""
        began = time.perf_counter()
        async with watch_objects(self.bare, self.path, is_healthy) as clusters:
            await run_concurrently(DEPTH, self._create, [f"c{number}" for number in range(self.size)])
            await clusters.until(self.size)
            return ReadyTimes.since(began, clusters.match_times())

    async def _create(self, name: str) -> None:
        cells = [{"zone": zone} for zone in ("z1", "z2", "z3")]
        identity = {"apiVersion": "multigres.com/v1alpha1", "kind": "MultigresCluster"}
        await self.bare.create(self.path, {**identity, "metadata": {"name": name}, "spec": {"cells": cells}})

    async def delete(self) -> float:
        """Seconds until all clusters are deleted; the operator must be running to remove their finalizers."""
        began = time.perf_counter()
        for number in range(self.size):
            await self.bare.delete(f"{self.path}/c{number}")
        while json.loads(await self.bare.get(self.path))["items"]:  # noqa: ASYNC110 - another process decides
            await asyncio.sleep(_POLL_SECONDS)
        return time.perf_counter() - began


def is_healthy(cluster: WatchedObject) -> bool:
    return cluster.is_current and cluster.status.phase == "Healthy"


class Scenario(NamedTuple):
    """The clusters of one round, in a namespace of their own, and the calls of their operator."""

    context: BenchContext
    fleet: ClusterFleet
    watched: OperatorCalls


@dataclass(frozen=True)
class UpResult:
    """Clusters that start, and the bare client's writes after it."""

    healthy: ReadyTimes
    phase: Phase
    floor: ReplayResult


@dataclass(frozen=True)
class FirstRound:
    peak_mb: float
    rest: Phase
    restart: Phase
    deleted_seconds: float


@dataclass(frozen=True)
class SizeResult:
    """The measurements of one size."""

    size: int
    rounds: list[UpResult]
    first: FirstRound


async def measure_size(report: Report, context: BenchContext, size: int) -> None:
    names = [f"{context.namespace}-{size}-{number}" for number in range(1, report.options.rounds + 1)]
    scenarios = [
        Scenario(context, ClusterFleet(context.bare, name, size), OperatorCalls(context, AGENT))
        for name in names
    ]
    up, first = await measure_first_round(scenarios[0], report.options.seconds)
    rounds = [up, *[await measure_further_round(each) for each in scenarios[1:]]]
    report.add(*figures(SizeResult(size, rounds, first)))
    for each in rounds:
        report.note(f"{size}: writes were {each.phase.sorted_writes()}")
    if first.rest.writes or first.restart.writes:
        rest, restart = first.rest.sorted_writes() or "none", first.restart.sorted_writes() or "none"
        report.note(f"{size}: at rest {rest}; restart {restart}")


async def measure_first_round(scenario: Scenario, seconds: float) -> tuple[UpResult, FirstRound]:
    context, watched = scenario.context, scenario.watched
    async with data_plane(scenario) as flags:
        async with running_operator(context, OPERATOR, flags) as running:
            healthy, up, written = await measure_up(scenario, running)
            peak_mb = running.peak_tree_mb
            rest = await measure_rest(watched, running, seconds)
        restart, deleted = await measure_restart(scenario, flags, seconds)
    floor = await measure_floor(scenario, written)
    return UpResult(healthy, up, floor), FirstRound(peak_mb, rest, restart, deleted)


async def measure_further_round(scenario: Scenario) -> UpResult:
    context, fleet = scenario.context, scenario.fleet
    async with data_plane(scenario) as flags, running_operator(context, OPERATOR, flags) as running:
        healthy, up, written = await measure_up(scenario, running)
        await running.while_running(fleet.delete())
    return UpResult(healthy, up, await measure_floor(scenario, written))


@asynccontextmanager
async def data_plane(scenario: Scenario) -> AsyncIterator[dict[str, str]]:
    """A namespace with a data plane; yields the flags of its operator."""
    context, namespace = scenario.context, scenario.fleet.namespace
    await until_none_terminates(context.bare, context.namespace)
    await context.bare.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    async with running_data_plane(context, namespace) as connect_to:
        yield {"namespaces": namespace, "connect-to": connect_to}


async def measure_up(
    scenario: Scenario, running: RunningOperator
) -> tuple[ReadyTimes, Phase, list[WrittenObject]]:
    context, fleet, watched = scenario
    progress(f"{fleet.size} clusters")
    async with watched.phase(running) as up:
        healthy = await running.while_running(fleet.create_and_wait())
        progress(f"all Healthy after {healthy.last:.1f} s; waiting for quiet")
        await watched.until_quiet()
    return healthy, up, await read_written_objects(context.bare, up.calls, MANAGER, fleet.namespace)


async def measure_floor(scenario: Scenario, written: list[WrittenObject]) -> ReplayResult:
    progress("the bare client writes the same")
    bare, namespace = scenario.context.bare, scenario.fleet.namespace
    async with running_data_plane(scenario.context, f"{namespace}-bare"):
        floor = await replay(bare, written, f"{namespace}-bare")
    for name in (namespace, f"{namespace}-bare"):
        await bare.delete(f"/api/v1/namespaces/{name}")
    return floor


async def measure_rest(watched: OperatorCalls, running: RunningOperator, seconds: float) -> Phase:
    progress(f"at rest for {seconds:g} s")
    async with watched.phase(running) as rest:
        await asyncio.sleep(seconds)
    return rest


async def measure_restart(
    scenario: Scenario, flags: Mapping[str, str], seconds: float
) -> tuple[Phase, float]:
    """Measure the writes of a restarted operator, then delete the clusters."""
    progress("restart")
    watched = scenario.watched
    mark = await watched.mark()
    async with running_operator(scenario.context, OPERATOR, flags) as running:
        await asyncio.sleep(min(_RESTART_SECONDS, seconds))
        await watched.until_quiet()
        restart = Phase(await watched.since(mark), after=running.usage())
        progress("deletion")
        return restart, await running.while_running(scenario.fleet.delete())


def figures(found: SizeResult) -> list[Figure]:
    size, up, first = found.size, found.rounds[0], found.first
    rest = first.rest
    cpu_of_rest = at_most(REST_CPU_SECONDS * rest.seconds / REST_SECONDS)
    writes_each = [len(each.phase.writes) / size for each in found.rounds]
    floor_each = [each.floor.written / size for each in found.rounds]
    return [
        *wall_figures(found),
        with_paired_floors("… writes for each", "", writes_each, floor_each, WRITES_EACH),
        with_floor("… gets and lists for each", up.phase.reads / size, "", 0.0),
        Figure("… processor for each", up.phase.cpu_seconds / size, "s", target=CPU_SECONDS_EACH),
        Figure(f"… writes in {rest.seconds:.0f} s of rest", len(rest.writes), "", target=NONE),
        Figure("… processor in that rest", rest.cpu_seconds, "s", target=cpu_of_rest),
        Figure("… memory at its peak", first.peak_mb, "MB", target=_at_most(PEAK_MB, size)),
        Figure("… memory at rest", rest.memory_mb, "MB", target=_at_most(MEMORY_MB, size)),
        Figure("… writes after a restart", len(first.restart.writes), "", target=NONE),
        Figure("… deleted", first.deleted_seconds, "s", target=_at_most(DELETE_SECONDS, size)),
    ]


def wall_figures(found: SizeResult) -> list[Figure]:
    """Medians over the rounds; with several rounds also each of them."""
    size = found.size
    wholes = [each.healthy.last for each in found.rounds]
    floors = [each.floor.ready_seconds for each in found.rounds]
    writes = [each.floor.writes.seconds for each in found.rounds]
    target = at_most(ONE_CLUSTER_SECONDS) if size == 1 else at_most_of_floor(1.3)
    return [
        with_paired_floors(f"{size} clusters, all Healthy", "s", wholes, floors, target),
        *figures_of_each_round(wholes, floors),
        with_paired_floors("… the bare client's writes alone", "s", wholes, writes),
        *(figures_of_rounds([each.healthy for each in found.rounds], MEDIAN) if size > 1 else ()),
    ]


def _at_most(bounds: Mapping[int, float], size: int) -> Target | None:
    return at_most(bounds[size]) if size in bounds else None
