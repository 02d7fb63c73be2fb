"""An edit of a template that all clusters share: time until every cluster runs it and is Healthy again, and writes.

The clusters are those of `multigres_bring_up`, with a CellTemplate and a ShardTemplate named `default`. Each edit
changes a CPU request: first of the gateways, then of the orchestrators, so that three Deployments of each cluster are
rolled. Pools are not changed: their pods are replaced one at a time, the primary last, which depends on the number of
pods and needs a data plane that reports the primary. Clusters: `--sizes 10`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from bench.measuring.bare_client import Manifest
from bench.measuring.data_plane import running_data_plane
from bench.measuring.figures import Figure, at_most
from bench.measuring.object_watch import ObjectPredicate, WatchedObject, watch_objects
from bench.measuring.operator import RunningOperator, install_crds, running_operator
from bench.measuring.operator_phases import OperatorCalls, Phase
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from bench.multigres_bring_up import AGENT, OPERATOR, ClusterFleet, is_healthy

DEFAULT = Options(objects=1, rounds=1, seconds=1.0, sizes=(10,))
EDIT_SECONDS = at_most(10)
WRITES_EACH = 3 * 3 + 2
"""A child and its Deployment for each cell, and the active revision; statuses are counted separately."""
_API = "multigres.com/v1alpha1"


class TemplateEdit(NamedTuple):
    kind: str
    plural: str
    part: str
    """The part of the template's spec with the changed CPU request."""

    @property
    def template(self) -> str:
        return f"{self.kind}/default"

    def spec(self, cpu: str) -> Manifest:
        return {self.part: {"resources": {"requests": {"cpu": cpu}}}}


EDITS = (
    TemplateEdit("CellTemplate", "celltemplates", "multiGateway"),
    TemplateEdit("ShardTemplate", "shardtemplates", "multiorch"),
)


class EditResult(NamedTuple):
    seconds: float
    phase: Phase


def main(argv: Sequence[str]) -> int:
    name = "multigres_template_edit"
    return run(measure, Report(name, read_options(name, argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context:
        await install_crds(context.bare)
        for size in report.options.sizes:
            await measure_size(report, context, size)


async def measure_size(report: Report, context: BenchContext, size: int) -> None:
    namespace = f"{context.namespace}-{size}"
    fleet, watched = ClusterFleet(context.bare, namespace, size), OperatorCalls(context, AGENT)
    await context.bare.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    for edit in EDITS:
        template = {"apiVersion": _API, "kind": edit.kind, "metadata": {"name": "default"}}
        await context.bare.create(_path(namespace, edit), {**template, "spec": edit.spec("100m")})
    async with (
        running_data_plane(context, namespace) as connect_to,
        running_operator(context, OPERATOR, {"namespaces": namespace, "connect-to": connect_to}) as running,
    ):
        progress(f"{size} clusters come up")
        await running.while_running(fleet.create_and_wait())
        for edit in EDITS:
            await watched.until_quiet()
            report.add(*figures(edit, size, await measure_edit(watched, running, fleet, edit)))
        progress("deletion")
        await running.while_running(fleet.delete())
    await context.bare.delete(f"/api/v1/namespaces/{namespace}")


async def measure_edit(
    watched: OperatorCalls, running: RunningOperator, fleet: ClusterFleet, edit: TemplateEdit
) -> EditResult:
    """Measure from the edit until the last cluster runs the new template and is Healthy."""
    progress(f"{edit.kind} is edited")
    async with watched.phase(running) as phase:
        began = time.perf_counter()
        async with watch_objects(fleet.bare, fleet.path, runs_template(edit.template, 2)) as clusters:
            await fleet.bare.merge(f"{_path(fleet.namespace, edit)}/default", {"spec": edit.spec("150m")})
            await running.while_running(clusters.until(fleet.size))
        seconds = time.perf_counter() - began
        await watched.until_quiet()
    return EditResult(seconds, phase)


def runs_template(template: str, generation: int) -> ObjectPredicate:
    def has_template(cluster: WatchedObject) -> bool:
        active_generation = cluster.status.applied_template_generations.get(template)
        return is_healthy(cluster) and active_generation == generation

    return has_template


def _path(namespace: str, edit: TemplateEdit) -> str:
    return f"/apis/{_API}/namespaces/{namespace}/{edit.plural}"


def figures(edit: TemplateEdit, size: int, found: EditResult) -> list[Figure]:
    statuses = [item for item in found.phase.writes if item.call.subresource == "status"]
    objects = len(found.phase.writes) - len(statuses)
    return [
        Figure(f"{edit.kind} of {size} clusters, all Healthy again", found.seconds, "s", target=EDIT_SECONDS),
        Figure("… writes for each, statuses apart", objects / size, "", target=at_most(WRITES_EACH)),
        Figure("… statuses for each", len(statuses) / size, ""),
        Figure("… processor for each", found.phase.cpu_seconds / size, "s"),
    ]
