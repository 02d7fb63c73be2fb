"""100, 1,000 and 5,000 rows of a real MariaDB become tenants of five objects each: time, API writes, idle, restart.

The operator runs as a separate process, and calls are counted from the API server's audit log. A storm is measured
from the creation of the template until the last Tenant is Ready. The floor is the bare client of `measuring.replay`:
it writes what the operator wrote, 16 at once, in the same run, until all pods are ready. The objects of a size are
deleted after its floor was measured and before the next size begins, because deletion keeps a control plane as busy
as creation. Sizes: `--sizes 100,1000,5000`; idle time: `--seconds 120`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.measuring.figures import Figure, Target, at_most, at_most_of_floor, with_floor
from bench.measuring.object_watch import is_ready, watch_objects
from bench.measuring.operator import install_crds, running_operator
from bench.measuring.operator_phases import OperatorCalls, Phase
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.ready_times import ReadyTimes
from bench.measuring.replay import ReplayResult, read_written_objects, replay
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from bench.measuring.tenants import CustomersTable, TenantsNamespace, customers_table, row_uid, tenant_name

DEFAULT = Options(objects=1, rounds=1, seconds=120.0, sizes=(100, 1_000, 5_000))
OPERATOR = ("tenants",)
# 24 reads in two minutes of idle time, as the Go operator makes them.
INTERVAL = "5s"
MANAGER = AGENT = "tenant-operator"
WALL = at_most_of_floor(1.5)
WRITES_EACH = at_most(9)
EVENTS_EACH = at_most(1.1)
READS_EACH = at_most(0.5)
CPU_EACH = at_most(0.04)
MEDIAN = at_most_of_floor(0.6)
"""Of the whole time: what is nearly done is reconciled before what is new."""
PEAK_MB = {100: 100.0, 300: 100.0, 1_000: 160.0}
REST_MB = {100: 90.0, 300: 90.0}
REST_CPU_SECONDS = {100: 1.0, 300: 1.0, 1_000: 1.0}
REST_SECONDS = 120.0
NEW_ROW_SECONDS = {100: 3.0, 300: 3.0, 1_000: 3.0}
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


@dataclass
class SizeResult:
    """The measurements of one size."""

    size: int
    ready: ReadyTimes
    storm: Phase
    rest: Phase
    restart: RestartResult
    floor: ReplayResult


@dataclass
class RestartResult:
    phase: Phase
    new_row_seconds: float
    unrelated_writes: int
    """Writes that do not belong to the new row."""


async def measure_size(report: Report, context: BenchContext, table: CustomersTable, size: int) -> None:
    space = TenantsNamespace(context.bare, f"{context.namespace}-{size}", table, INTERVAL)
    watched = OperatorCalls(context, AGENT)
    progress(f"{size} rows")
    await space.wait_for_terminating_namespaces()
    await space.create()
    await table.clear()
    await table.add(range(size))
    async with running_operator(context, OPERATOR, {"namespaces": space.namespace}) as running:
        async with watched.phase(running) as storm:
            ready = await running.while_running(start_and_wait_ready(space, size))
            progress(f"all Ready after {ready.last:.1f} s; waiting for quiet")
            await watched.until_quiet()
        written = await read_written_objects(context.bare, storm.calls, MANAGER, space.namespace)
        progress(f"at rest for {report.options.seconds:g} s")
        async with watched.phase(running) as rest:
            await asyncio.sleep(report.options.seconds)
    restart = await measure_restart(context, space, watched, size)
    progress("the bare client writes the same")
    floor = await replay(context.bare, written, f"{space.namespace}-bare")
    await space.delete()
    await context.bare.delete(f"/api/v1/namespaces/{space.namespace}-bare")
    report.add(*figures(SizeResult(size, ready, storm, rest, restart, floor)))
    report.note(f"{size}: writes were {storm.sorted_writes()}")
    if rest.writes or restart.unrelated_writes:
        report.note(f"{size}: at rest {rest.sorted_writes()}; restart {restart.phase.sorted_writes()}")


async def start_and_wait_ready(space: TenantsNamespace, size: int) -> ReadyTimes:
    async with watch_objects(space.bare, space.path("tenants"), is_ready) as tenants:
        began = time.perf_counter()
        await space.create_registry_and_template()
        await tenants.until(size)
        return ReadyTimes.since(began, tenants.match_times())


async def measure_restart(
    context: BenchContext, space: TenantsNamespace, watched: OperatorCalls, size: int
) -> RestartResult:
    """A restarted operator handles a row that was added in between, and changes nothing else."""
    progress("restart")
    await space.table.add([size])
    mark, began = await watched.mark(), time.perf_counter()
    async with (
        watch_objects(
            space.bare, space.core("configmaps"), lambda found: found.metadata.name == row_uid(size)
        ) as made,
        running_operator(context, OPERATOR, {"namespaces": space.namespace}) as running,
    ):
        await made.until(1)
        new_row = time.perf_counter() - began
        await asyncio.sleep(_RESTART_SECONDS)
        await watched.until_quiet()
        phase = Phase(await watched.since(mark), after=running.usage())
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
    size, storm, rest, floor = found.size, found.storm, found.rest, found.floor
    cpu_of_rest = {size: most * rest.seconds / REST_SECONDS for size, most in REST_CPU_SECONDS.items()}
    shared = sum(item.call.resource in _SHARED for item in storm.writes)
    return [
        with_floor(f"{size:,} rows, all Ready", found.ready.last, "s", floor.ready_seconds, WALL),
        with_floor("… the bare client's writes alone", found.ready.last, "s", floor.writes.seconds),
        *found.ready.figures(MEDIAN),
        with_floor(
            "… writes for each, events apart",
            (storm.objects - shared) / size,
            "",
            floor.written / size,
            WRITES_EACH,
        ),
        Figure("… writes of registry and template, in all", shared, ""),
        Figure("… events for each", (len(storm.writes) - storm.objects) / size, "", target=EVENTS_EACH),
        Figure("… gets and lists for each", storm.reads / size, "", target=READS_EACH),
        Figure("… processor for each", storm.cpu_seconds / size, "s", target=CPU_EACH),
        Figure("… memory at its peak", storm.peak_mb, "MB", target=_bound(PEAK_MB, size)),
        Figure(f"… writes in {rest.seconds:.0f} s of rest", len(rest.writes), "", target=NONE),
        Figure("… gets and lists in that rest", rest.reads, "", target=NONE),
        Figure("… processor in that rest", rest.cpu_seconds, "s", target=_bound(cpu_of_rest, size)),
        Figure("… memory at rest", rest.memory_mb, "MB", target=_bound(REST_MB, size)),
        Figure(
            "… restart: a new row is served after",
            found.restart.new_row_seconds,
            "s",
            target=_bound(NEW_ROW_SECONDS, size),
        ),
        Figure("… restart: writes about anything else", found.restart.unrelated_writes, "", target=NONE),
    ]


def _bound(bounds: Mapping[int, float], size: int) -> Target | None:
    return at_most(bounds[size]) if size in bounds else None
