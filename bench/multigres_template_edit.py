"""A template that all clusters share is edited: time until every cluster runs it and is Healthy again, and writes.

The clusters are those of `multigres_bring_up`, with a CellTemplate and a ShardTemplate named `default` beside them.
Each edit gives another processor request: first the gateways', then the orchestrators', so that three Deployments of
each cluster are rolled. The servers of pools are left alone: those go one at a time and primary last, which takes as
long as there are servers, and wants a data plane that says who leads. Clusters by `--sizes 10`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from bench.measuring.bare import Manifest
from bench.measuring.figures import Figure, at_most
from bench.measuring.operator import RunningOperator, install_kinds, operator
from bench.measuring.options import Options, read_options
from bench.measuring.phases import Phase, Watched
from bench.measuring.plane import Ground, context
from bench.measuring.report import Report, progress
from bench.measuring.running import run
from bench.measuring.sight import IsRight, Seen, sight
from bench.multigres_bring_up import AGENT, OPERATOR, Fleet, is_healthy

DEFAULT = Options(objects=1, rounds=1, seconds=1.0, sizes=(10,))
EDIT_SECONDS = at_most(10)
WRITES_EACH = 3 * 3 + 2
"""A child and its Deployment for each cell, and the new content in force; statuses stand apart."""
_API = "multigres.com/v1alpha1"


class Edit(NamedTuple):
    kind: str
    plural: str
    part: str
    """The part of the template's spec that asks for another processor."""

    @property
    def template(self) -> str:
        return f"{self.kind}/default"

    def spec(self, cpu: str) -> Manifest:
        return {self.part: {"resources": {"requests": {"cpu": cpu}}}}


EDITS = (
    Edit("CellTemplate", "celltemplates", "multiGateway"),
    Edit("ShardTemplate", "shardtemplates", "multiorch"),
)


class Edited(NamedTuple):
    seconds: float
    phase: Phase


def main(argv: Sequence[str]) -> int:
    name = "multigres_template_edit"
    return run(measure, Report(name, read_options(name, argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with context() as on:
        await install_kinds(on.bare)
        for size in report.options.sizes:
            await measure_size(report, on, size)


async def measure_size(report: Report, on: Ground, size: int) -> None:
    namespace = f"{on.namespace}-{size}"
    fleet, watched = Fleet(on.bare, namespace, size), Watched(on, AGENT)
    await on.bare.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    for edit in EDITS:
        template = {"apiVersion": _API, "kind": edit.kind, "metadata": {"name": "default"}}
        await on.bare.create(_path(namespace, edit), {**template, "spec": edit.spec("100m")})
    async with operator(on, OPERATOR, {"namespaces": namespace}) as running:
        progress(f"{size} clusters come up")
        await running.during(fleet.bring_up())
        for edit in EDITS:
            await watched.until_quiet()
            report.add(*figures(edit, size, await edited(watched, running, fleet, edit)))
        progress("deletion")
        await running.during(fleet.delete())
    await on.bare.delete(f"/api/v1/namespaces/{namespace}")


async def edited(watched: Watched, running: RunningOperator, fleet: Fleet, edit: Edit) -> Edited:
    """From the edit of the template to the moment the last cluster says that it runs it and is Healthy."""
    progress(f"{edit.kind} is edited")
    async with watched.phase(running) as phase:
        began = time.perf_counter()
        async with sight(fleet.bare, fleet.path, runs(edit.template, 2)) as clusters:
            await fleet.bare.merge(f"{_path(fleet.namespace, edit)}/default", {"spec": edit.spec("150m")})
            await running.during(clusters.until(fleet.size))
        seconds = time.perf_counter() - began
        await watched.until_quiet()
    return Edited(seconds, phase)


def runs(template: str, generation: int) -> IsRight:
    def is_right(cluster: Seen) -> bool:
        in_force = cluster.status.applied_template_generations.get(template)
        return is_healthy(cluster) and in_force == generation

    return is_right


def _path(namespace: str, edit: Edit) -> str:
    return f"/apis/{_API}/namespaces/{namespace}/{edit.plural}"


def figures(edit: Edit, size: int, found: Edited) -> list[Figure]:
    statuses = [item for item in found.phase.writes if item.call.subresource == "status"]
    objects = len(found.phase.writes) - len(statuses)
    return [
        Figure(f"{edit.kind} of {size} clusters, all Healthy again", found.seconds, "s", target=EDIT_SECONDS),
        Figure("… writes for each, statuses apart", objects / size, "", target=at_most(WRITES_EACH)),
        Figure("… statuses for each", len(statuses) / size, ""),
        Figure("… processor for each", found.phase.cpu_seconds / size, "s"),
    ]
