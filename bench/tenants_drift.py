"""Objects of a fleet of tenants drift at once: time until all are back, requests for each, statuses, and a restart.

A third each: ConfigMaps are deleted, Deployments scaled, and the ports of Services edited, each of another tenant. The
floor is a bare client that applies a change to as many objects of the same kinds, 16 at once, in the same run. Requests
are counted from the API server's audit log, rejected ones included. Tenants, and drifted objects: `--sizes 300`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from bench.measuring.concurrency import run_concurrently
from bench.measuring.figures import Figure, at_most, at_most_of_floor, with_floor
from bench.measuring.object_watch import ObjectPredicate, ObjectWatch, watch_objects
from bench.measuring.operator import install_crds, running_operator
from bench.measuring.operator_phases import OperatorCalls, Phase
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.replay import DEPTH, WrittenObject, read_written_objects, write_all
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from bench.measuring.tenants import CustomersTable, TenantsNamespace, customers_table, row_uid
from bench.tenants_changes import Drift, drifts
from bench.tenants_storm import AGENT, MANAGER, OPERATOR, start_and_wait_ready

DEFAULT = Options(objects=1, rounds=1, seconds=10.0, sizes=(300,))
BACK = at_most_of_floor(2)
REQUESTS_EACH = {"configmaps": at_most(1), "deployments": at_most(1)}
"""A Service whose port was edited has two ports of one name, which no apply alone can repair."""
NONE = at_most(0)


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("tenants_drift", read_options("tenants_drift", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context, customers_table() as table:
        await install_crds(context.bare)
        for size in report.options.sizes:
            await measure_size(report, context, table, size)


@dataclass
class DriftResult:
    size: int
    back_seconds: dict[str, float]
    """By resource: from the last edit to the last repair."""
    drift: Phase
    restart: Phase
    floor_seconds: float


async def measure_size(report: Report, context: BenchContext, table: CustomersTable, size: int) -> None:
    space = TenantsNamespace(context.bare, f"{context.namespace}-{size}", table)
    watched, flags = OperatorCalls(context, AGENT), {"namespaces": space.namespace}
    progress(f"{size} rows")
    await space.create()
    await table.clear()
    await table.add(range(size))
    async with running_operator(context, OPERATOR, flags) as running:
        async with watched.phase(running) as storm:
            await running.while_running(start_and_wait_ready(space, size))
            await watched.until_quiet()
        written = await read_written_objects(context.bare, storm.calls, MANAGER, space.namespace)
        async with watched.phase(running) as drift:
            back = await running.while_running(let_drift(space, size))
            await watched.until_quiet()
    progress("restart")
    mark = await watched.mark()
    async with running_operator(context, OPERATOR, flags) as running:
        await asyncio.sleep(report.options.seconds)
        await watched.until_quiet()
        restart = Phase(await watched.since(mark), after=running.usage())
    floor = await measure_floor(space, written, size)
    await space.delete()
    await space.bare.delete(f"/api/v1/namespaces/{space.namespace}-bare")
    report.add(*figures(DriftResult(size, back, drift, restart, floor)))
    report.note(f"{size}: writes were {drift.sorted_writes()}; restart {restart.sorted_writes() or 'none'}")


def names_by_drift(space: TenantsNamespace, size: int) -> list[tuple[Drift, frozenset[str]]]:
    """Each kind of drift with a third of the tenants."""
    kinds = drifts(space)
    return [
        (kind, frozenset(row_uid(number) for number in range(position, size, len(kinds))))
        for position, kind in enumerate(kinds)
    ]


async def let_drift(space: TenantsNamespace, size: int) -> dict[str, float]:
    """Change all objects at once; seconds from the last change to the last repair, by resource."""
    progress(f"{size} objects drift")
    parts = names_by_drift(space, size)
    async with AsyncExitStack() as stack:
        watches: list[ObjectWatch] = []
        for kind, names in parts:
            found = await stack.enter_async_context(watch_objects(space.bare, kind.path, _is_one_of(names)))
            await found.until(len(names))
            found.expect(_is_repaired(kind, names))
            watches.append(found)
        edits = [(kind, name) for kind, names in parts for name in names]
        await run_concurrently(DEPTH, lambda edit: _edit(space, *edit), edits)
        edited = time.perf_counter()
        return {
            kind.path.rpartition("/")[2]: await _until_back(found, names, edited)
            for (kind, names), found in zip(parts, watches, strict=True)
        }


def _is_one_of(names: frozenset[str]) -> ObjectPredicate:
    return lambda found: found.metadata.name in names


def _is_repaired(kind: Drift, names: frozenset[str]) -> ObjectPredicate:
    return lambda found: found.metadata.name in names and kind.is_repaired(found)


async def _edit(space: TenantsNamespace, kind: Drift, name: str) -> None:
    await kind.edit(space.bare, f"{kind.path}/{name}")


async def _until_back(objects: ObjectWatch, names: frozenset[str], edited: float) -> float:
    await objects.until_mismatched(names)
    await objects.until(len(names))
    return max(0.0, objects.last_match() - edited)


async def measure_floor(space: TenantsNamespace, written: list[WrittenObject], size: int) -> float:
    """The bare client changes copies of as many objects of the same kinds."""
    progress("the bare client applies as many changes")
    namespace = f"{space.namespace}-bare"
    parts = {kind.path.rpartition("/")[2]: names for kind, names in names_by_drift(space, size)}
    drifted = [
        replace(item, status=None)
        for item in written
        if item.manifest["metadata"]["name"] in parts.get(item.plural, ())
    ]
    await space.bare.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    await write_all(space.bare, drifted, namespace)
    return (await write_all(space.bare, list(map(_changed, drifted)), namespace)).seconds


def _changed(item: WrittenObject) -> WrittenObject:
    metadata = {**item.manifest["metadata"], "annotations": {"bench": "changed"}}
    return replace(item, manifest={**item.manifest, "metadata": metadata})


def figures(found: DriftResult) -> list[Figure]:
    size, writes = found.size, found.drift.writes
    requests = Counter(item.call.resource for item in writes if not item.call.subresource)
    statuses = sum(item.call.subresource == "status" for item in writes)
    last = max(found.back_seconds.values())
    each = {name: requests[name] / (size / len(found.back_seconds)) for name in found.back_seconds}
    return [
        with_floor(f"{size:,} objects drift, all back", last, "s", found.floor_seconds, BACK),
        *(Figure(f"… {name}", seconds, "s") for name, seconds in found.back_seconds.items()),
        *(
            Figure(f"… requests for one of {name}", count, "", target=REQUESTS_EACH.get(name))
            for name, count in each.items()
        ),
        Figure("… statuses", statuses, ""),
        Figure("… events", requests["events"], ""),
        Figure("… processor for each", found.drift.cpu_seconds / size, "s"),
        Figure("… writes after a restart", len(found.restart.writes), "", target=NONE),
    ]
