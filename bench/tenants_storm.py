"""100, 1,000 and 5,000 rows of a real MariaDB become tenants of five objects each: time, API writes, idle, restart.

The operator runs as a separate process, and calls are counted from the API server's audit log. A storm is measured
from the creation of the template until the last Tenant is Ready. The floor is the bare client of `measuring.replay`:
it writes what the operator wrote, 16 at once, in the same run, until all pods are ready. The objects of a size are
deleted after its floor was measured and before the next size begins, because deletion keeps a control plane as busy
as creation. Rest and restart are measured in the first round. Sizes: `--sizes 100,1000,5000`; storms of each size:
`--rounds 5`; idle time: `--seconds 120`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bench.measuring.figures import Figure, Target, at_most, at_most_of_floor, with_floor, with_paired_floors
from bench.measuring.namespaces import until_none_terminates
from bench.measuring.object_watch import is_ready, watch_objects
from bench.measuring.operator import RunningOperator, install_crds, running_operator
from bench.measuring.operator_phases import OperatorCalls, Phase
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.ready_times import ReadyTimes, figures_of_each_round, figures_of_rounds
from bench.measuring.replay import ReplayResult, WrittenObject, read_written_objects, replay
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from bench.measuring.tenants import CustomersTable, TenantsNamespace, customers_table, row_uid, tenant_name

DEFAULT = Options(objects=1, rounds=1, seconds=120.0, sizes=(100, 1_000, 5_000))
OPERATOR = ("tenants",)
# 24 reads in two minutes of idle time, as the Go operator makes them.
INTERVAL = "5s"
MANAGER = AGENT = "tenant-operator"
WALL = at_most_of_floor(1.3)
WRITES_EACH = at_most(9)
"""Two are of the registry, five objects, and a status or two."""
EVENTS_EACH = at_most(1.1)
READS_EACH = at_most(0.5)
CPU_EACH = at_most(0.04)
MEDIAN = at_most_of_floor(0.6)
"""Of the whole time: what is nearly done is reconciled before what is new."""
PEAK_MB = {100: 100.0, 300: 100.0, 1_000: 160.0}
REST_MB = {100: 90.0, 300: 90.0}
REST_CPU_SECONDS = {100: 1.0, 300: 1.0, 1_000: 1.0}
REST_SECONDS = 120.0
NEW_ROW_SECONDS = {100: 3.0, 300: 3.0, 1_000: 3.0, 5_000: 3.0}
NONE = at_most(0)
_SHARED = ("tenantregistries", "tenanttemplates", "controllerrevisions")
"""Resources that exist once per fleet; their writes are counted separately: they grow with time, not with rows."""
_RESTART_SECONDS = 30.0


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("tenants_storm", read_options("tenants_storm", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context, customers_table() as table:
        await install_crds(context.bare)
        for size in report.options.sizes:
            await measure_size(report, context, table, size)


@dataclass(frozen=True)
class StormResult:
    """One storm, and the bare client's writes after it."""

    ready: ReadyTimes
    phase: Phase
    floor: ReplayResult


@dataclass(frozen=True)
class RestartResult:
    phase: Phase
    new_row_seconds: float
    unrelated_writes: int
    """Writes that do not belong to the new row."""


@dataclass(frozen=True)
class SizeResult:
    """The measurements of one size."""

    size: int
    storms: list[StormResult]
    rest: Phase
    restart: RestartResult

    @property
    def storm(self) -> StormResult:
        """The first one, to which rest and restart belong."""
        return self.storms[0]


@dataclass(frozen=True)
class StormRun:
    """The fleet of one round, in a namespace of its own."""

    context: BenchContext
    space: TenantsNamespace
    calls: OperatorCalls
    size: int

    @asynccontextmanager
    async def operator(self) -> AsyncIterator[RunningOperator]:
        flags = {"namespaces": self.space.namespace}
        async with running_operator(self.context, OPERATOR, flags) as running:
            yield running

    async def create(self) -> None:
        await until_none_terminates(self.context.bare, self.context.namespace)
        await self.space.create()
        await self.space.table.clear()
        await self.space.table.add(range(self.size))

    async def measure_storm(self, running: RunningOperator) -> tuple[ReadyTimes, Phase, list[WrittenObject]]:
        async with self.calls.phase(running) as storm:
            ready = await running.while_running(start_and_wait_ready(self.space, self.size))
            progress(f"all Ready after {ready.last:.1f} s; waiting for quiet")
            await self.calls.until_quiet()
        bare, namespace = self.context.bare, self.space.namespace
        return ready, storm, await read_written_objects(bare, storm.calls, MANAGER, namespace)

    async def measure_floor(self, written: list[WrittenObject]) -> ReplayResult:
        progress("the bare client writes the same")
        return await replay(self.context.bare, written, f"{self.space.namespace}-bare")

    async def delete(self) -> None:
        await self.space.delete()
        await self.context.bare.delete(f"/api/v1/namespaces/{self.space.namespace}-bare")


async def measure_size(report: Report, context: BenchContext, table: CustomersTable, size: int) -> None:
    rounds, seconds = report.options.rounds, report.options.seconds
    runs = [
        StormRun(
            context,
            TenantsNamespace(context.bare, f"{context.namespace}-{size}-{number}", table, INTERVAL),
            OperatorCalls(context, AGENT),
            size,
        )
        for number in range(1, rounds + 1)
    ]
    first, rest, restart = await measure_first_round(runs[0], seconds)
    storms = [first, *[await measure_further_round(each) for each in runs[1:]]]
    report.add(*figures(SizeResult(size, storms, rest, restart)))
    for storm in storms:
        report.note(f"{size}: writes were {storm.phase.sorted_writes()}")
    if rest.writes or restart.unrelated_writes:
        report.note(f"{size}: at rest {rest.sorted_writes()}; restart {restart.phase.sorted_writes()}")


async def measure_first_round(one: StormRun, seconds: float) -> tuple[StormResult, Phase, RestartResult]:
    progress(f"{one.size} rows")
    await one.create()
    async with one.operator() as running:
        ready, storm, written = await one.measure_storm(running)
        progress(f"at rest for {seconds:g} s")
        async with one.calls.phase(running) as rest:
            await asyncio.sleep(seconds)
    restart = await measure_restart(one)
    floor = await one.measure_floor(written)
    await one.delete()
    return StormResult(ready, storm, floor), rest, restart


async def measure_further_round(one: StormRun) -> StormResult:
    progress(f"{one.size} rows, again")
    await one.create()
    async with one.operator() as running:
        ready, storm, written = await one.measure_storm(running)
    floor = await one.measure_floor(written)
    await one.delete()
    return StormResult(ready, storm, floor)


async def start_and_wait_ready(space: TenantsNamespace, size: int) -> ReadyTimes:
    async with watch_objects(space.bare, space.path("tenants"), is_ready) as tenants:
        began = time.perf_counter()
        await space.create_registry_and_template()
        await tenants.until(size)
        return ReadyTimes.since(began, tenants.match_times())


async def measure_restart(one: StormRun) -> RestartResult:
    """A restarted operator handles a row that was added in between, and changes nothing else."""
    progress("restart")
    space, size = one.space, one.size
    await space.table.add([size])
    mark, began = await one.calls.mark(), time.perf_counter()
    async with (
        watch_objects(
            space.bare, space.core("configmaps"), lambda found: found.metadata.name == row_uid(size)
        ) as made,
        one.operator() as running,
    ):
        await made.until(1)
        new_row = time.perf_counter() - began
        await asyncio.sleep(_RESTART_SECONDS)
        await one.calls.until_quiet()
        phase = Phase(await one.calls.since(mark), after=running.usage())
    return RestartResult(phase, new_row, count_unrelated_writes(phase, size))


def count_unrelated_writes(phase: Phase, number: int) -> int:
    """Writes other than those of the new row's tenant and the statuses of registry and template."""
    own = (row_uid(number), tenant_name(number), f"{tenant_name(number)}-values")
    return sum(
        item.call.name not in own
        and not (item.call.resource in _SHARED and item.call.subresource == "status")
        and item.call.resource != "events"
        for item in phase.writes
    )


def figures(found: SizeResult) -> list[Figure]:
    return [*storm_figures(found), *rest_figures(found), *restart_figures(found)]


def storm_figures(found: SizeResult) -> list[Figure]:
    size, phase, floor = found.size, found.storm.phase, found.storm.floor
    shared = sum(item.call.resource in _SHARED for item in phase.writes)
    own = (phase.objects - shared) / size
    return [
        *wall_figures(found),
        with_floor("… writes for each, events apart", own, "", floor.written / size, WRITES_EACH),
        Figure("… writes of registry and template, in all", shared, ""),
        Figure("… events for each", (len(phase.writes) - phase.objects) / size, "", target=EVENTS_EACH),
        Figure("… gets and lists for each", phase.reads / size, "", target=READS_EACH),
        Figure("… processor for each", phase.cpu_seconds / size, "s", target=CPU_EACH),
        Figure("… memory at its peak", phase.peak_mb, "MB", target=_bound(PEAK_MB, size)),
    ]


def wall_figures(found: SizeResult) -> list[Figure]:
    """Medians over the rounds; with several rounds also the ratio of each."""
    wholes = [each.ready.last for each in found.storms]
    floors = [each.floor.ready_seconds for each in found.storms]
    writes = [each.floor.writes.seconds for each in found.storms]
    return [
        with_paired_floors(f"{found.size:,} rows, all Ready", "s", wholes, floors, WALL),
        *figures_of_each_round(wholes, floors),
        with_paired_floors("… the bare client's writes alone", "s", wholes, writes),
        *figures_of_rounds([each.ready for each in found.storms], MEDIAN),
    ]


def rest_figures(found: SizeResult) -> list[Figure]:
    size, rest = found.size, found.rest
    cpu_seconds = {size: most * rest.seconds / REST_SECONDS for size, most in REST_CPU_SECONDS.items()}
    return [
        Figure(f"… writes in {rest.seconds:.0f} s of rest", len(rest.writes), "", target=NONE),
        Figure("… gets and lists in that rest", rest.reads, "", target=NONE),
        Figure("… processor in that rest", rest.cpu_seconds, "s", target=_bound(cpu_seconds, size)),
        Figure("… memory at rest", rest.memory_mb, "MB", target=_bound(REST_MB, size)),
    ]


def restart_figures(found: SizeResult) -> list[Figure]:
    new_row, unrelated = found.restart.new_row_seconds, found.restart.unrelated_writes
    target = _bound(NEW_ROW_SECONDS, found.size)
    return [
        Figure("… restart: a new row is served after", new_row, "s", target=target),
        Figure("… restart: writes about anything else", unrelated, "", target=NONE),
    ]


def _bound(bounds: Mapping[int, float], size: int) -> Target | None:
    return at_most(bounds[size]) if size in bounds else None
