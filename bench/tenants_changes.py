"""1,000 tenants at rest, and then: one row changes, the template is edited, 200 objects drift.

A row's change is measured from the operator's own SELECT that saw it, by the database's log of statements, to the
moment a watch shows the changed object: the floor is a bare write and the echo of it. The template's edit changes one
object of every tenant: the floor is the bare client that writes the very same (each Tenant, its object, its status)
over copies of what was there before, 16 at once, in the same run. Drift is a third each of deleted ConfigMaps, scaled
Deployments and Services with another port number. Tenants by `--sizes 1000`, drifted objects by `--objects 200`,
changes of a row by `--rounds 20`.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from statistics import median
from typing import NamedTuple

from bench.measuring.bare import BareClient, Manifest
from bench.measuring.depth import at_depth
from bench.measuring.figures import Figure, at_most, at_most_of_floor, beside
from bench.measuring.operator import install_kinds, operator
from bench.measuring.options import Options, read_options
from bench.measuring.phases import Phase, Watched
from bench.measuring.plane import Ground, context
from bench.measuring.replay import DEPTH, Written, what_was_written, write_all, writes_of
from bench.measuring.report import Report, progress
from bench.measuring.running import run
from bench.measuring.sight import IsRight, Seen, Sight, says_ready, sight
from bench.measuring.tenants import Customers, Space, customers, uid_of
from bench.tenants_storm import AGENT, MANAGER, OPERATOR, until_all_ready

DEFAULT = Options(objects=200, rounds=20, seconds=120.0, sizes=(1_000,))
ROW_MILLISECONDS = at_most(100)
EDIT = at_most_of_floor(2)
DRIFT_SECONDS = at_most(2)
EDITED = ("tenants", "configmaps")
"""What an edit changes: the Tenant with its new body and its status, and the one object that differs."""


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("tenants_changes", read_options("tenants_changes", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with context() as on, customers() as table:
        await install_kinds(on.bare)
        for size in report.options.sizes:
            await measure_size(report, on, table, size)


async def measure_size(report: Report, on: Ground, table: Customers, size: int) -> None:
    space, watched = Space(on.bare, f"{on.namespace}-{size}", table), Watched(on, AGENT)
    progress(f"{size} rows")
    await space.make()
    await table.clear()
    await table.add(range(size))
    async with operator(on, OPERATOR, {"namespaces": space.namespace}) as running:
        async with watched.phase(running) as storm:
            await until_all_ready(space, size)
            await watched.until_quiet()
        report.add(*await row_changes(space, min(report.options.rounds, size)))
        before = await what_an_edit_changes(space, storm)
        async with watched.phase(running) as editing:
            edited = await edit_template(space, size)
            await watched.until_quiet()
        floor = await edit_floor(space, before, await what_an_edit_changes(space, storm))
        report.add(*edit_figures(size, edited, editing, floor))
        report.add(*await drift(space, min(report.options.objects, size)))
    await space.leave()
    await space.bare.delete(f"/api/v1/namespaces/{bare_copy(space)}")


async def row_changes(space: Space, rounds: int) -> list[Figure]:
    progress(f"{rounds} rows change, one after the other")
    ours, floors = [], []
    async with space.table.noting_reads(), sight(space.bare, space.core("configmaps"), _nothing) as objects:
        for number in range(rounds):
            ours.append(await _row_change(space, objects, number))
            floors.append(await _bare_change(space, objects, number))
    milliseconds, floor = 1_000 * median(ours), 1_000 * median(floors)
    return [beside("a row changes → its object, after the read", milliseconds, "ms", floor, ROW_MILLISECONDS)]


def _nothing(_: Seen) -> bool:
    return False


async def _row_change(space: Space, objects: Sight, number: int) -> float:
    name, plan = uid_of(number), f"plan-{number}"
    objects.expect(lambda seen: seen.metadata.name == name and seen.data.get("plan") == plan)
    changed = await space.table.now()
    await space.table.set_plan(number, plan)
    await objects.until(1)
    shown = await space.table.now()
    return (shown - await space.table.first_read_since(changed)).total_seconds()


async def _bare_change(space: Space, objects: Sight, number: int) -> float:
    """The same change of an object that is nobody's, written and seen."""
    name = f"bare-{number}"
    objects.expect(lambda seen: seen.metadata.name == name)
    began = time.perf_counter()
    await space.bare.apply(_config_map(space.namespace, name))
    await objects.until(1)
    return time.perf_counter() - began


def _config_map(namespace: str, name: str) -> Manifest:
    identity = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}
    return {**identity, "data": {"host": "bare.example.com", "plan": "basic", "version": "1"}}


async def edit_template(space: Space, size: int) -> float:
    """Seconds until every tenant has the edited object and says Ready again."""
    progress("the template is edited")
    async with (
        sight(space.bare, space.core("configmaps"), lambda seen: seen.data.get("version") == "2") as objects,
        sight(space.bare, space.path("tenants"), says_ready) as tenants,
    ):
        await tenants.until(size)
        began = time.perf_counter()
        await space.apply_template("2")
        await objects.until(size)
        await tenants.until(size)
        return time.perf_counter() - began


async def what_an_edit_changes(space: Space, storm: Phase) -> list[Written]:
    found = await what_was_written(space.bare, storm.calls, MANAGER, space.namespace)
    return [written for written in found if written.plural in EDITED]


def bare_copy(space: Space) -> str:
    """Where the bare client writes. It goes at the end: to delete it would slow down what is measured meanwhile."""
    return f"{space.namespace}-bare"


async def edit_floor(space: Space, before: list[Written], after: list[Written]) -> Floor:
    """The bare client puts the new versions over copies of the old ones."""
    progress("the bare client writes the same")
    namespace = bare_copy(space)
    await space.bare.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    await write_all(space.bare, before, namespace)
    cost = await write_all(space.bare, after, namespace)
    return Floor(writes_of(after), cost.seconds)


def edit_figures(size: int, seconds: float, editing: Phase, floor: Floor) -> list[Figure]:
    return [
        beside(f"template edited over {size:,}", seconds, "s", floor.seconds, EDIT),
        beside("… writes for each", len(editing.writes) / size, "", floor.writes / size),
        Figure("… processor for each", editing.cpu_seconds / size, "s"),
    ]


class Floor(NamedTuple):
    writes: int
    seconds: float


class Drift(NamedTuple):
    what: str
    path: str
    edit: Callable[[BareClient, str], Awaitable[object]]
    is_right: IsRight


def drifts(space: Space) -> list[Drift]:
    return [
        Drift("ConfigMaps deleted", space.core("configmaps"), BareClient.delete, lambda seen: True),
        Drift(
            "Services' port edited",
            space.core("services"),
            _move_port,
            lambda seen: [port.port for port in seen.spec.ports] == [80],
        ),
        # Last: the pods that come and go by it would slow down what is measured after it.
        Drift("Deployments scaled", space.apps("deployments"), _scale, lambda seen: seen.spec.replicas == 1),
    ]


async def _scale(bare: BareClient, path: str) -> None:
    await bare.merge(path, {"spec": {"replicas": 3}})


async def _move_port(bare: BareClient, path: str) -> None:
    await bare.merge(path, {"spec": {"ports": [{"name": "http", "port": 8080}]}})


async def drift(space: Space, count: int) -> list[Figure]:
    """All of one sort drift at once; the clock runs from the last edit to the last repair."""
    share = max(1, count // 3)
    return [await _drift(space, kind, share) for kind in drifts(space)]


async def _drift(space: Space, kind: Drift, count: int) -> Figure:
    progress(f"{count} {kind.what}")
    names = {uid_of(number) for number in range(count)}
    async with sight(space.bare, kind.path, lambda seen: seen.metadata.name in names) as objects:
        await objects.until(count)
        objects.expect(lambda seen: seen.metadata.name in names and kind.is_right(seen))
        await at_depth(DEPTH, lambda name: kind.edit(space.bare, f"{kind.path}/{name}"), names)
        edited = time.perf_counter()
        await objects.until_wrong_once(names)
        await objects.until(count)
        seconds = max(0.0, time.perf_counter() - edited)
    return Figure(f"{count} {kind.what}: all back after", seconds, "s", target=DRIFT_SECONDS)
