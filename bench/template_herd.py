"""Latency of an edit of one cluster while 100 other clusters apply a change of their shared template.

All clusters have one cell, an external topology server and no pods but, at times, a gateway: the template's change adds
or removes one. The edit adds a gateway to a cluster with its own template. It is measured from the response to the edit
until a watch shows the changed Deployment; the floor is the same edit without other changes, in the same run. Clusters:
`--sizes 100`; edits: `--rounds 5`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.measuring.bare_client import BareClient
from bench.measuring.concurrency import run_concurrently
from bench.measuring.figures import Figure, at_most, with_paired_floors
from bench.measuring.object_watch import ObjectPredicate, ObjectWatch, watch_objects
from bench.measuring.operator import install_crds, running_operator
from bench.measuring.operator_phases import OperatorCalls
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.replay import DEPTH
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run
from steward.multigres import names
from steward.testkit.fake_data_plane.memory_etcd import MemoryEtcd

DEFAULT = Options(objects=1, rounds=5, sizes=(100,))
SERVED_SECONDS = at_most(1.0)
AGENT, MINE = "multigres-operator", "mine"
_POLL_SECONDS = 0.25
_IDLE = {"spec": {"replicas": 0}}


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("template_herd", read_options("template_herd", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context:
        await install_crds(context.bare)
        for size in report.options.sizes:
            await measure_size(report, context, size)


@dataclass(frozen=True)
class HerdNamespace:
    """Clusters that share a template, and one cluster with its own template."""

    bare: BareClient
    namespace: str
    size: int
    topology_port: int
    """Of the etcd that all of them use."""

    @property
    def herd(self) -> list[str]:
        return [f"herd-{number}" for number in range(self.size)]

    @property
    def deployments(self) -> str:
        return f"/apis/apps/v1/namespaces/{self.namespace}/deployments"

    async def create(self) -> None:
        await self.bare.create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        shard = {"multiorch": {"replicas": 0}, "pools": {"main": {"replicasPerCell": 0}}}
        await self._apply("ShardTemplate", "std", shard)
        for template in ("shared", MINE):
            await self.set_gateways(template, 0)
        await run_concurrently(DEPTH, lambda name: self._cluster(name, "shared"), self.herd)
        await self._cluster(MINE, MINE)

    async def delete(self) -> None:
        await self.bare.delete(f"/api/v1/namespaces/{self.namespace}")
        clusters = f"/apis/multigres.com/v1alpha1/namespaces/{self.namespace}/multigresclusters"
        while json.loads(await self.bare.get(clusters))["items"]:  # noqa: ASYNC110 - another process decides
            await asyncio.sleep(_POLL_SECONDS)

    async def set_gateways(self, template: str, gateways: int) -> None:
        await self._apply("CellTemplate", template, {"multiGateway": {"replicas": gateways}})

    async def edit_mine(self, gateways: int) -> None:
        await self._cluster(MINE, MINE, {"overrides": {"multiGateway": {"replicas": gateways}}})

    async def _cluster(self, name: str, template: str, cell: Mapping[str, Any] | None = None) -> None:
        spec = {
            "cells": [{"zone": "z1", "cellTemplate": template, **(cell or {})}],
            "templateDefaults": {"shardTemplate": "std"},
            "globalTopoServer": {"external": {"endpoints": [f"http://127.0.0.1:{self.topology_port}"]}},
            "multiadmin": _IDLE,
            "multiadminWeb": _IDLE,
        }
        await self._apply("MultigresCluster", name, spec)

    async def _apply(self, kind: str, name: str, spec: Mapping[str, Any]) -> None:
        root = f"/apis/multigres.com/v1alpha1/namespaces/{self.namespace}/{kind.lower()}s/{name}"
        identity = {"apiVersion": "multigres.com/v1alpha1", "kind": kind}
        metadata = {"name": name, "namespace": self.namespace}
        await self.bare.apply_at(root, {**identity, "metadata": metadata, "spec": spec})


def has_gateways(clusters: Sequence[str], gateways: int) -> ObjectPredicate:
    expected = {names.gateway(cluster, "z1") for cluster in clusters}
    return lambda found: found.metadata.name in expected and found.spec.replicas == gateways


@dataclass
class HerdResult:
    """Seconds of each round: the edit alone, the edit during the template change, and the template change."""

    alone: list[float]
    among: list[float]
    herd: list[float]


async def measure_size(report: Report, context: BenchContext, size: int) -> None:
    etcd = MemoryEtcd()
    await etcd.start()
    space = HerdNamespace(context.bare, f"{context.namespace}-{size}", size, etcd.port)
    watched = OperatorCalls(context, AGENT)
    progress(f"{size} clusters")
    async with running_operator(
        context, (AGENT.removesuffix("-operator"),), {"namespaces": space.namespace}
    ) as running:
        await space.create()
        async with (
            watch_objects(context.bare, space.deployments, has_gateways(space.herd, 0)) as herd,
            watch_objects(context.bare, space.deployments, has_gateways([MINE], 0)) as mine,
        ):
            await running.while_running(herd.until(size))
            await running.while_running(mine.until(1))
            found = HerdResult([], [], [])
            for number in range(report.options.rounds):
                await watched.until_quiet()
                await running.while_running(measure_round(space, herd, mine, number, found))
        # While the operator is running and can remove the finalizers.
        await running.while_running(space.delete())
    await etcd.remove()
    report.add(*figures(size, found))


async def measure_round(
    space: HerdNamespace, herd: ObjectWatch, mine: ObjectWatch, number: int, found: HerdResult
) -> None:
    progress(f"round {number + 1}")
    found.alone.append(await measure_edit(space, mine, 2 * number + 1))
    gateways = (number + 1) % 2
    herd.expect(has_gateways(space.herd, gateways))
    began = time.perf_counter()
    await space.set_gateways("shared", gateways)
    found.among.append(await measure_edit(space, mine, 2 * number + 2))
    await herd.until(space.size)
    found.herd.append(time.perf_counter() - began)


async def measure_edit(space: HerdNamespace, mine: ObjectWatch, gateways: int) -> float:
    mine.expect(has_gateways([MINE], gateways))
    await space.edit_mine(gateways)
    answered = time.perf_counter()
    await mine.until(1)
    return time.perf_counter() - answered


def figures(size: int, found: HerdResult) -> list[Figure]:
    return [
        with_paired_floors(
            f"an edit among {size} clusters that change", "s", found.among, found.alone, SERVED_SECONDS
        ),
        Figure("… at worst", max(found.among), "s", target=SERVED_SECONDS),
        Figure(f"the template's change in all {size}", max(found.herd), "s"),
    ]
