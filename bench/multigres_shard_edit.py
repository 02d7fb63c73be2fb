"""The edit of one shard in a cluster of many: time, writes and processor, which should not grow with the cluster.

The cluster has one cell and pools and orchestrators without replicas, so that nothing waits for pods. The CPU request
of one shard's Postgres is edited, `--rounds` times, each time of another shard; the median counts. Shards:
`--sizes 201,641`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from bench.measuring.bare_client import BareClient, Manifest
from bench.measuring.data_plane import running_data_plane
from bench.measuring.figures import Figure, at_most
from bench.measuring.object_watch import is_ready, watch_objects
from bench.measuring.operator import RunningOperator, install_crds, running_operator
from bench.measuring.operator_phases import OperatorCalls, Phase
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from bench.multigres_bring_up import AGENT, OPERATOR

DEFAULT = Options(objects=1, rounds=3, seconds=1.0, sizes=(201, 641))
WRITES = at_most(8)
CPU_SECONDS = at_most(0.1)
SHARDS_A_GROUP = 32
_API = "multigres.com/v1alpha1"


def main(argv: Sequence[str]) -> int:
    name = "multigres_shard_edit"
    return run(measure, Report(name, read_options(name, argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context:
        await install_crds(context.bare)
        for size in report.options.sizes:
            await measure_size(report, context, size)


@dataclass
class LargeCluster:
    """One cluster in a namespace of its own; `cpu` has the CPU request of each edited shard."""

    bare: BareClient
    namespace: str
    shards: int
    cpu: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return f"/apis/{_API}/namespaces/{self.namespace}/multigresclusters"

    def manifest(self) -> Manifest:
        identity = {"apiVersion": _API, "kind": "MultigresCluster", "metadata": {"name": "large"}}
        groups = [
            {"name": f"g{start}", "shards": [self._shard(start + number) for number in range(count)]}
            for start, count in _groups(self.shards - 1)
        ]
        databases = [{"name": "postgres", "default": True, "tablegroups": groups}]
        return {**identity, "spec": {"cells": [{"zone": "z1"}], "databases": databases}}

    def _shard(self, number: int) -> dict[str, Any]:
        name = f"s{number}"
        compute = {"requests": {"cpu": self.cpu.get(name, "100m")}}
        pools = {"main": {"type": "readWrite", "replicasPerCell": 0, "postgres": compute}}
        return {"name": name, "spec": {"multiorch": {"replicas": 0}, "pools": pools}}

    async def apply(self) -> None:
        await self.bare.apply_at(f"{self.path}/large", self.manifest())


def _groups(shards: int) -> list[tuple[int, int]]:
    """The first shard and the number of shards of each table group."""
    return [(start, min(SHARDS_A_GROUP, shards - start)) for start in range(0, shards, SHARDS_A_GROUP)]


async def measure_size(report: Report, context: BenchContext, size: int) -> None:
    cluster = LargeCluster(context.bare, f"{context.namespace}-{size}", size)
    watched = OperatorCalls(context, AGENT)
    await context.bare.create("/api/v1/namespaces", {"metadata": {"name": cluster.namespace}})
    async with running_data_plane(context, cluster.namespace) as connect_to:
        flags = {"namespaces": cluster.namespace, "connect-to": connect_to}
        async with running_operator(context, OPERATOR, flags) as running:
            progress(f"{size} shards")
            up = await measure_apply(watched, running, cluster)
            edits = [
                await measure_edit(watched, running, cluster, each) for each in range(report.options.rounds)
            ]
            progress("deletion")
            await context.bare.delete(f"{cluster.path}/large")
            async with watch_objects(context.bare, cluster.path, lambda _: True) as left:
                await running.while_running(left.until_mismatched({"large"}))
    await context.bare.delete(f"/api/v1/namespaces/{cluster.namespace}")
    report.add(*figures(size, up, edits))
    report.note(f"{size}: an edit wrote {edits[0].phase.sorted_writes()}")


@dataclass
class ApplyResult:
    seconds: float
    phase: Phase


async def measure_edit(
    watched: OperatorCalls, running: RunningOperator, cluster: LargeCluster, number: int
) -> ApplyResult:
    cluster.cpu[f"s{number}"] = "150m"
    return await measure_apply(watched, running, cluster)


async def measure_apply(
    watched: OperatorCalls, running: RunningOperator, cluster: LargeCluster
) -> ApplyResult:
    """From the apply until the cluster is Ready in its new generation."""
    await watched.until_quiet()
    async with watched.phase(running) as phase:
        began = time.perf_counter()
        await cluster.apply()
        async with watch_objects(cluster.bare, cluster.path, is_ready) as ready:
            await running.while_running(ready.until(1))
        seconds = time.perf_counter() - began
        await watched.until_quiet()
    return ApplyResult(seconds, phase)


def figures(size: int, up: ApplyResult, edits: list[ApplyResult]) -> list[Figure]:
    return [
        Figure(f"{size} shards, Ready", up.seconds, "s"),
        Figure("… writes for each", len(up.phase.writes) / size, ""),
        Figure("… processor for each", up.phase.cpu_seconds / size, "s"),
        Figure("… memory at its peak", up.phase.peak_mb, "MB"),
        Figure("… one shard is edited: Ready again", median(each.seconds for each in edits), "s"),
        Figure("… writes", median(len(each.phase.writes) for each in edits), "", target=WRITES),
        Figure("… processor", median(each.phase.cpu_seconds for each in edits), "s", target=CPU_SECONDS),
    ]
