"""Thousands of Tenants, reconciled by one process and by partitions: memory, rest, restart, a template edit.

The Tenants have five objects that no other controller works on, so that a large fleet fits a small machine: a
Deployment that is paused and has no replicas stands for workloads. One process creates the fleet. Each number of
processes starts on it twice (`--shard=N/M`), because the first start labels what it finds; memory and times are those
of the second, when nothing is left to write. `tenants_storm` measures how fast a fleet with pods comes up.

Sizes: `--sizes 5000,10000`, the same fleet that grows, with all numbers of processes at its last size; partitions:
`--processes 1,2,4`; idle time: `--seconds 60`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bench.measuring.bare_client import Manifest
from bench.measuring.figures import Figure, at_most, at_most_of_floor, with_floor
from bench.measuring.object_watch import ObjectPredicate, watch_objects
from bench.measuring.operator import RunningOperator, install_crds, running_operator
from bench.measuring.operator_phases import OperatorCalls, Phase
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.process import Usage
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from bench.measuring.tenants import TenantsNamespace, customers_table, row_uid, template
from bench.tenants_changes import measure_template_edit
from bench.tenants_storm import AGENT, INTERVAL, OPERATOR, count_unrelated_writes, start_and_wait_ready

DEFAULT = Options(objects=1, rounds=1, seconds=60.0, sizes=(5_000, 10_000), processes=(1, 2, 4))
NEW_ROW_SECONDS = at_most(3)
KILOBYTES_EACH = at_most(40)
NONE = at_most(0)
_SPLIT = {2: at_most_of_floor(0.75), 4: at_most_of_floor(0.5)}
"""Of the work of one process, for the busiest partition: partition 0 also reconciles the registry."""
_FEW = 1
"""Rows of the fleet whose memory is subtracted: an operator without Tenants has not loaded all modules."""


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("tenants_fleet", read_options("tenants_fleet", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context, customers_table() as table:
        await install_crds(context.bare)
        space = TenantsNamespace(context.bare, f"{context.namespace}-fleet", table, INTERVAL, light_template)
        await space.create()
        await table.clear()
        fleet = Fleet(context, space, OperatorCalls(context, AGENT))
        *smaller, largest = report.options.sizes
        small_mb = await create_first(fleet)
        for size in smaller:
            await measure_size(report, fleet, size, report.options.processes[:1], small_mb)
        await measure_size(report, fleet, largest, report.options.processes, small_mb)
        await space.delete()


@dataclass
class Fleet:
    context: BenchContext
    space: TenantsNamespace
    calls: OperatorCalls
    size: int = 0
    """Rows of the table: the first of them, by number."""

    async def add_rows(self, count: int) -> None:
        await self.space.table.add(range(self.size, self.size + count))
        self.size += count

    @asynccontextmanager
    async def partitions(self, count: int) -> AsyncIterator[list[RunningOperator]]:
        """The operator as so many processes, all ready."""
        async with AsyncExitStack() as stack:
            starting = [
                stack.enter_async_context(
                    running_operator(self.context, OPERATOR, self._flags(number, count))
                )
                for number in range(count)
            ]
            yield list(await asyncio.gather(*starting))

    def _flags(self, number: int, count: int) -> dict[str, str]:
        return {"namespaces": self.space.namespace, "shard": f"{number}/{count}"}


@dataclass(frozen=True)
class PartitionsResult:
    """The second start of a number of processes, all of it by process."""

    count: int
    first_start: Phase
    new_row_seconds: float
    unrelated_writes: int
    rest: list[tuple[Usage, Usage]]
    edit: list[tuple[Usage, Usage]]
    edit_seconds: float

    @property
    def largest_mb(self) -> float:
        return max(after.rss_mb for _, after in self.rest)

    @property
    def rest_cpu(self) -> float:
        return sum(after.cpu_seconds - before.cpu_seconds for before, after in self.rest)

    @property
    def edit_cpu(self) -> list[float]:
        return [after.cpu_seconds - before.cpu_seconds for before, after in self.edit]


async def measure_size(
    report: Report, fleet: Fleet, size: int, processes: Sequence[int], small_mb: float
) -> None:
    await grow(fleet, size)
    results: list[PartitionsResult] = []
    for count in processes:
        results.append(await measure_partitions(fleet, count, report.options.seconds))
        report.add(*figures(size, results, small_mb))


def light_template(version: str) -> Manifest:
    """The Service is left out, and the Deployment has no pods: nothing that other controllers would work on."""
    made = template(version)
    services = made["spec"].pop("services")
    [account] = made["spec"]["serviceAccounts"]
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"podSelector": {}}}
    made["spec"]["networkPolicies"] = [{**account, "id": services[0]["id"], "spec": policy}]
    [app] = made["spec"]["deployments"]
    app["spec"]["spec"].update(replicas=0, paused=True)
    return made


async def create_first(fleet: Fleet) -> float:
    """Create few Tenants; the memory of the operator with them."""
    await fleet.add_rows(_FEW)
    async with fleet.partitions(1) as [running]:
        await running.while_running(start_and_wait_ready(fleet.space, _FEW))
        return running.usage().rss_mb


async def grow(fleet: Fleet, size: int) -> None:
    progress(f"{size} rows")
    await fleet.add_rows(size - fleet.size)
    async with fleet.partitions(1) as [running]:
        await running.while_running(until_all_exist(fleet, size))
        await fleet.calls.until_quiet()


async def until_all_exist(fleet: Fleet, count: int) -> None:
    """Until each Tenant has its last object."""
    path = fleet.space.apps("deployments")
    async with watch_objects(fleet.space.bare, path, lambda _: True) as made:
        await made.until(count)


async def measure_partitions(fleet: Fleet, count: int, seconds: float) -> PartitionsResult:
    progress(f"processes: {count}; first start")
    mark = await fleet.calls.mark()
    async with fleet.partitions(count):
        await fleet.calls.until_quiet()
    first_start = Phase(await fleet.calls.since(mark))
    progress("second start")
    row = fleet.size
    await fleet.add_rows(1)
    mark, began = await fleet.calls.mark(), time.perf_counter()
    async with (
        watch_objects(fleet.space.bare, fleet.space.core("configmaps"), _is_named(row_uid(row))) as made,
        fleet.partitions(count) as processes,
    ):
        await processes[0].while_running(made.until(1))
        new_row = time.perf_counter() - began
        await fleet.calls.until_quiet()
        unrelated = count_unrelated_writes(Phase(await fleet.calls.since(mark)), row)
        before = _usages(processes)
        await asyncio.sleep(seconds)
        rest = list(zip(before, _usages(processes), strict=True))
        before = _usages(processes)
        edit = measure_template_edit(fleet.space, fleet.size, f"{fleet.size}")
        edit_seconds = await processes[0].while_running(edit)
        await fleet.calls.until_quiet()
        edited = list(zip(before, _usages(processes), strict=True))
    return PartitionsResult(count, first_start, new_row, unrelated, rest, edited, edit_seconds)


def _is_named(name: str) -> ObjectPredicate:
    return lambda found: found.metadata.name == name


def _usages(processes: Sequence[RunningOperator]) -> list[Usage]:
    return [each.usage() for each in processes]


def figures(size: int, results: Sequence[PartitionsResult], small_mb: float) -> list[Figure]:
    """Of the last result, compared with the first."""
    first, last = results[0], results[-1]
    target = _SPLIT.get(last.count) if first.count == 1 else None
    kilobytes = [1_000 * (each.largest_mb - small_mb) / size for each in (last, first)]
    memory = [after.rss_mb for _, after in last.rest]
    return [
        Figure(f"{size:,} tenants, processes: {last.count}; memory of the largest", max(memory), "MB"),
        Figure("… of the smallest", min(memory), "MB"),
        with_floor(
            "… each tenant of the fleet in the largest",
            kilobytes[0],
            "kB",
            kilobytes[1],
            KILOBYTES_EACH if last.count == 1 else target,
        ),
        Figure("… writes of the first start", len(last.first_start.writes), ""),
        Figure(
            "… second start: a new row is served after", last.new_row_seconds, "s", target=NEW_ROW_SECONDS
        ),
        Figure("… second start: writes about anything else", last.unrelated_writes, "", target=NONE),
        Figure("… processor of all in the rest", last.rest_cpu, "s"),
        with_floor("… the template is edited: all Ready again", last.edit_seconds, "s", first.edit_seconds),
        with_floor("… … processor of the busiest", max(last.edit_cpu), "s", max(first.edit_cpu), target),
        Figure("… … processor of all", sum(last.edit_cpu), "s"),
    ]
