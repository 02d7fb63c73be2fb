"""1,000 idle tenants: latency of a changed row, of an edited template, and of the repair of 200 drifted objects.

A row's change is measured from the operator's SELECT that read it, by the database's statement log, until a watch
shows the changed object; the floor is a bare write and its watch event. The template's edit changes one object of
every tenant; the floor is the bare client that writes the same (each Tenant, its object, its status) over copies of
the previous objects, 16 at once, in the same run. Drift is a third each of deleted ConfigMaps, scaled Deployments and
Services with another port. Tenants: `--sizes 1000`; drifted objects: `--objects 200`; changes of a row: `--rounds
20`.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from statistics import median
from typing import NamedTuple

from bench.measuring.bare_client import BareClient, Manifest
from bench.measuring.concurrency import run_concurrently
from bench.measuring.figures import Figure, at_most, at_most_of_floor, with_floor
from bench.measuring.object_watch import ObjectPredicate, ObjectWatch, WatchedObject, is_ready, watch_objects
from bench.measuring.operator import install_crds, running_operator
from bench.measuring.operator_phases import OperatorCalls, Phase
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.replay import DEPTH, WrittenObject, count_writes, read_written_objects, write_all
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from bench.measuring.tenants import CustomersTable, TenantsNamespace, customers_table, row_uid
from bench.tenants_storm import AGENT, MANAGER, OPERATOR, start_and_wait_ready

DEFAULT = Options(objects=200, rounds=20, seconds=120.0, sizes=(1_000,))
ROW_MILLISECONDS = at_most(100)
EDIT = at_most_of_floor(2)
DRIFT_SECONDS = at_most(2)
EDITED = ("tenants", "configmaps")
"""The resources that an edit changes: the Tenant with its status, and the one object that differs."""


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("tenants_changes", read_options("tenants_changes", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context, customers_table() as table:
        await install_crds(context.bare)
        for size in report.options.sizes:
            await measure_size(report, context, table, size)


async def measure_size(report: Report, context: BenchContext, table: CustomersTable, size: int) -> None:
    space, watched = (
        TenantsNamespace(context.bare, f"{context.namespace}-{size}", table),
        OperatorCalls(context, AGENT),
    )
    progress(f"{size} rows")
    await space.create()
    await table.clear()
    await table.add(range(size))
    async with running_operator(context, OPERATOR, {"namespaces": space.namespace}) as running:
        async with watched.phase(running) as storm:
            await running.while_running(start_and_wait_ready(space, size))
            await watched.until_quiet()
        report.add(*await measure_row_changes(space, min(report.options.rounds, size)))
        before = await read_edited_objects(space, storm)
        async with watched.phase(running) as editing:
            edited = await measure_template_edit(space, size)
            await watched.until_quiet()
        floor = await measure_edit_floor(space, before, await read_edited_objects(space, storm))
        report.add(*edit_figures(size, edited, editing, floor))
        report.add(*await measure_drift(space, min(report.options.objects, size)))
    await space.delete()
    await space.bare.delete(f"/api/v1/namespaces/{floor_namespace(space)}")


async def measure_row_changes(space: TenantsNamespace, rounds: int) -> list[Figure]:
    progress(f"{rounds} rows change, one after the other")
    ours, floors = [], []
    async with (
        space.table.logged_statements(),
        watch_objects(space.bare, space.core("configmaps"), _match_nothing) as objects,
    ):
        for number in range(rounds):
            ours.append(await _measure_row_change(space, objects, number))
            floors.append(await _measure_bare_change(space, objects, number))
    milliseconds, floor = 1_000 * median(ours), 1_000 * median(floors)
    return [
        with_floor("a row changes → its object, after the read", milliseconds, "ms", floor, ROW_MILLISECONDS)
    ]


def _match_nothing(_: WatchedObject) -> bool:
    return False


async def _measure_row_change(space: TenantsNamespace, objects: ObjectWatch, number: int) -> float:
    name, plan = row_uid(number), f"plan-{number}"
    objects.expect(lambda found: found.metadata.name == name and found.data.get("plan") == plan)
    changed = await space.table.now()
    await space.table.set_plan(number, plan)
    await objects.until(1)
    shown = await space.table.now()
    return (shown - await space.table.first_read_since(changed)).total_seconds()


async def _measure_bare_change(space: TenantsNamespace, objects: ObjectWatch, number: int) -> float:
    """The same change of an object without an owner, until its watch event."""
    name = f"bare-{number}"
    objects.expect(lambda found: found.metadata.name == name)
    began = time.perf_counter()
    await space.bare.apply(_config_map(space.namespace, name))
    await objects.until(1)
    return time.perf_counter() - began


def _config_map(namespace: str, name: str) -> Manifest:
    identity = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}
    return {**identity, "data": {"host": "bare.example.com", "plan": "basic", "version": "1"}}


async def measure_template_edit(space: TenantsNamespace, size: int, version: str = "2") -> float:
    """Seconds until every tenant has the edited object and is Ready again."""
    progress("the template is edited")
    async with (
        watch_objects(
            space.bare, space.core("configmaps"), lambda found: found.data.get("version") == version
        ) as objects,
        watch_objects(space.bare, space.path("tenants"), is_ready) as tenants,
    ):
        await tenants.until(size)
        began = time.perf_counter()
        await space.apply_template(version)
        await objects.until(size)
        await tenants.until(size)
        return time.perf_counter() - began


async def read_edited_objects(space: TenantsNamespace, storm: Phase) -> list[WrittenObject]:
    found = await read_written_objects(space.bare, storm.calls, MANAGER, space.namespace)
    return [written for written in found if written.plural in EDITED]


def floor_namespace(space: TenantsNamespace) -> str:
    """The namespace of the bare client. Deleted at the end, because its deletion slows down other measurements."""
    return f"{space.namespace}-bare"


async def measure_edit_floor(
    space: TenantsNamespace, before: list[WrittenObject], after: list[WrittenObject]
) -> Floor:
    """The bare client writes the new versions over copies of the old ones."""
    progress("the bare client writes the same")
    namespace = floor_namespace(space)
    await space.bare.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    await write_all(space.bare, before, namespace)
    cost = await write_all(space.bare, after, namespace)
    return Floor(count_writes(after), cost.seconds)


def edit_figures(size: int, seconds: float, editing: Phase, floor: Floor) -> list[Figure]:
    return [
        with_floor(f"template edited over {size:,}", seconds, "s", floor.seconds, EDIT),
        with_floor("… writes for each", len(editing.writes) / size, "", floor.writes / size),
        Figure("… processor for each", editing.cpu_seconds / size, "s"),
    ]


class Floor(NamedTuple):
    writes: int
    seconds: float


class Drift(NamedTuple):
    what: str
    path: str
    edit: Callable[[BareClient, str], Awaitable[object]]
    is_repaired: ObjectPredicate


def drifts(space: TenantsNamespace) -> list[Drift]:
    return [
        Drift("ConfigMaps deleted", space.core("configmaps"), BareClient.delete, lambda found: True),
        Drift(
            "Services' port edited",
            space.core("services"),
            _move_port,
            lambda found: [port.port for port in found.spec.ports] == [80],
        ),
        # Last, because the created and deleted pods would slow down the next measurement.
        Drift(
            "Deployments scaled", space.apps("deployments"), _scale, lambda found: found.spec.replicas == 1
        ),
    ]


async def _scale(bare: BareClient, path: str) -> None:
    await bare.merge(path, {"spec": {"replicas": 3}})


async def _move_port(bare: BareClient, path: str) -> None:
    await bare.merge(path, {"spec": {"ports": [{"name": "http", "port": 8080}]}})


async def measure_drift(space: TenantsNamespace, count: int) -> list[Figure]:
    """Change all objects of one kind at once; measure from the last change to the last repair."""
    share = max(1, count // 3)
    return [await _measure_one_drift(space, kind, share) for kind in drifts(space)]


async def _measure_one_drift(space: TenantsNamespace, kind: Drift, count: int) -> Figure:
    progress(f"{count} {kind.what}")
    names = {row_uid(number) for number in range(count)}
    async with watch_objects(space.bare, kind.path, lambda found: found.metadata.name in names) as objects:
        await objects.until(count)
        objects.expect(lambda found: found.metadata.name in names and kind.is_repaired(found))
        await run_concurrently(DEPTH, lambda name: kind.edit(space.bare, f"{kind.path}/{name}"), names)
        edited = time.perf_counter()
        await objects.until_mismatched(names)
        await objects.until(count)
        seconds = max(0.0, time.perf_counter() - edited)
    return Figure(f"{count} {kind.what}: all back after", seconds, "s", target=DRIFT_SECONDS)
