"""100, 1,000 and 5,000 rows of a real MariaDB become tenants of five objects each: time, API writes, rest, restart.

The operator runs as a process of its own, and every call is counted from the API server's audit log. The clock of a
storm runs from the moment the template is there to the moment the last Tenant says Ready. The floor is the bare client
of `measuring.replay`: it writes what the operator wrote, 16 at once, in the same run, and its clock stops when all pods
are ready. What a size leaves behind goes after its floor was measured and before the next begins: to delete a fleet
keeps a control plane as busy as to make it. Sizes by `--sizes 100,1000,5000`, the rest that is watched by
`--seconds 120`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.measuring.figures import Figure, Target, at_most, at_most_of_floor, beside
from bench.measuring.operator import install_kinds, operator
from bench.measuring.options import Options, read_options
from bench.measuring.phases import Phase, Watched
from bench.measuring.plane import Ground, context
from bench.measuring.replay import Replayed, replay, what_was_written
from bench.measuring.report import Report, progress
from bench.measuring.running import run
from bench.measuring.sight import says_ready, sight
from bench.measuring.tenants import Customers, Space, customers, tenant_of, uid_of

DEFAULT = Options(objects=1, rounds=1, seconds=120.0, sizes=(100, 1_000, 5_000))
OPERATOR = ("tenants",)
# 24 reads in two minutes of rest, as the operators that this is held against make them.
INTERVAL = "5s"
MANAGER = AGENT = "tenant-operator"
WALL = at_most_of_floor(1.5)
WRITES_EACH = at_most(9)
EVENTS_EACH = at_most(1.1)
READS_EACH = at_most(0.5)
CPU_EACH = at_most(0.04)
PEAK_MB = {100: 100.0, 300: 100.0, 1_000: 160.0}
REST_MB = {100: 90.0, 300: 90.0}
REST_CPU_SECONDS = {100: 1.0, 300: 1.0, 1_000: 1.0}
REST_SECONDS = 120.0
NEW_ROW_SECONDS = {100: 3.0, 300: 3.0, 1_000: 3.0}
NONE = at_most(0)
_SHARED = ("tenantregistries", "tenanttemplates", "controllerrevisions")
"""What a fleet has one of, however large it is: its writes are counted apart, they grow with seconds, not with rows."""
_RESTART_SECONDS = 30.0


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("tenants_storm", read_options("tenants_storm", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with context() as on, customers() as table:
        await install_kinds(on.bare)
        for size in report.options.sizes:
            await measure_size(report, on, table, size)


@dataclass
class Found:
    """What one size showed."""

    size: int
    seconds: float
    storm: Phase
    rest: Phase
    restart: Restart
    floor: Replayed


@dataclass
class Restart:
    phase: Phase
    new_row_seconds: float
    strangers: int
    """Writes that were not about the new row."""


async def measure_size(report: Report, on: Ground, table: Customers, size: int) -> None:
    space = Space(on.bare, f"{on.namespace}-{size}", table, INTERVAL)
    watched = Watched(on, AGENT)
    progress(f"{size} rows")
    await space.until_alone()
    await space.make()
    await table.clear()
    await table.add(range(size))
    async with operator(on, OPERATOR, {"namespaces": space.namespace}) as running:
        async with watched.phase(running) as storm:
            seconds = await until_all_ready(space, size)
            progress(f"all Ready after {seconds:.1f} s; waiting for quiet")
            await watched.until_quiet()
        written = await what_was_written(on.bare, storm.calls, MANAGER, space.namespace)
        progress(f"at rest for {report.options.seconds:g} s")
        async with watched.phase(running) as rest:
            await asyncio.sleep(report.options.seconds)
    restart = await measure_restart(on, space, watched, size)
    progress("the bare client writes the same")
    floor = await replay(on.bare, written, f"{space.namespace}-bare")
    await space.leave()
    await on.bare.delete(f"/api/v1/namespaces/{space.namespace}-bare")
    report.add(*figures(Found(size, seconds, storm, rest, restart, floor)))
    report.note(f"{size}: writes were {storm.sorted_writes()}")
    if rest.writes or restart.strangers:
        report.note(f"{size}: at rest {rest.sorted_writes()}; restart {restart.phase.sorted_writes()}")


async def until_all_ready(space: Space, size: int) -> float:
    async with sight(space.bare, space.path("tenants"), says_ready) as tenants:
        began = time.perf_counter()
        await space.open()
        await tenants.until(size)
        return time.perf_counter() - began


async def measure_restart(on: Ground, space: Space, watched: Watched, size: int) -> Restart:
    """A row that came while nobody looked is served, and nothing else is touched."""
    progress("restart")
    await space.table.add([size])
    mark, began = await watched.mark(), time.perf_counter()
    async with (
        sight(space.bare, space.core("configmaps"), lambda seen: seen.metadata.name == uid_of(size)) as made,
        operator(on, OPERATOR, {"namespaces": space.namespace}) as running,
    ):
        await made.until(1)
        new_row = time.perf_counter() - began
        await asyncio.sleep(_RESTART_SECONDS)
        await watched.until_quiet()
        phase = Phase(await watched.since(mark), after=running.usage())
    return Restart(phase, new_row, strangers(phase, size))


def strangers(phase: Phase, number: int) -> int:
    """Writes that are neither about the new row's tenant nor a status of the registry or the template that count it."""
    own = (uid_of(number), tenant_of(number), f"{tenant_of(number)}-values")
    return sum(
        item.call.name not in own
        and not (item.call.resource in _SHARED and item.call.subresource == "status")
        and item.call.resource != "events"
        for item in phase.writes
    )


def figures(found: Found) -> list[Figure]:
    size, storm, rest, floor = found.size, found.storm, found.rest, found.floor
    cpu_of_rest = {size: most * rest.seconds / REST_SECONDS for size, most in REST_CPU_SECONDS.items()}
    shared = sum(item.call.resource in _SHARED for item in storm.writes)
    return [
        beside(f"{size:,} rows, all Ready", found.seconds, "s", floor.ready_seconds, WALL),
        beside("… the bare client's writes alone", found.seconds, "s", floor.writes.seconds),
        beside(
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
        Figure("… restart: writes about anything else", found.restart.strangers, "", target=NONE),
    ]


def _bound(bounds: Mapping[int, float], size: int) -> Target | None:
    return at_most(bounds[size]) if size in bounds else None
