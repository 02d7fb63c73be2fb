"""100 clusters take a template's change, and somebody edits a cluster of their own in the middle of it.

All clusters have one cell, a topology server elsewhere and nothing that runs but, from time to time, a gateway: the
template's change asks each of them for one more or one less. The edit asks for another gateway of a cluster that has a
template of its own. Its clock runs from the edit's answer to the moment a watch shows the Deployment as asked for; the
floor is the same edit while nothing else happens, in the same run. Clusters by `--sizes 100`, edits by `--rounds 5`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.measuring.bare import BareClient
from bench.measuring.depth import at_depth
from bench.measuring.figures import Figure, at_most, paired
from bench.measuring.operator import install_kinds, operator
from bench.measuring.options import Options, read_options
from bench.measuring.phases import Watched
from bench.measuring.plane import Ground, context
from bench.measuring.replay import DEPTH
from bench.measuring.report import Report, progress
from bench.measuring.running import run
from bench.measuring.sight import IsRight, Sight, sight
from steward.multigres import names

DEFAULT = Options(objects=1, rounds=5, sizes=(100,))
SERVED_SECONDS = at_most(1.0)
AGENT, MINE = "multigres-operator", "mine"
_POLL_SECONDS = 0.25
_IDLE = {"spec": {"replicas": 0}}
_NOWHERE = {"external": {"endpoints": ["http://127.0.0.1:9"]}}


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("template_herd", read_options("template_herd", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with context() as on:
        await install_kinds(on.bare)
        for size in report.options.sizes:
            await measure_size(report, on, size)


@dataclass(frozen=True)
class Space:
    """A herd that shares a template, and one cluster beside it."""

    bare: BareClient
    namespace: str
    size: int

    @property
    def herd(self) -> list[str]:
        return [f"herd-{number}" for number in range(self.size)]

    @property
    def deployments(self) -> str:
        return f"/apis/apps/v1/namespaces/{self.namespace}/deployments"

    async def make(self) -> None:
        await self.bare.create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        shard = {"multiorch": {"replicas": 0}, "pools": {"main": {"replicasPerCell": 0}}}
        await self._apply("ShardTemplate", "std", shard)
        for template in ("shared", MINE):
            await self.ask(template, 0)
        await at_depth(DEPTH, lambda name: self._cluster(name, "shared"), self.herd)
        await self._cluster(MINE, MINE)

    async def leave(self) -> None:
        await self.bare.delete(f"/api/v1/namespaces/{self.namespace}")
        clusters = f"/apis/multigres.com/v1alpha1/namespaces/{self.namespace}/multigresclusters"
        while json.loads(await self.bare.get(clusters))["items"]:  # noqa: ASYNC110 - another process decides
            await asyncio.sleep(_POLL_SECONDS)

    async def ask(self, template: str, gateways: int) -> None:
        await self._apply("CellTemplate", template, {"multiGateway": {"replicas": gateways}})

    async def edit_mine(self, gateways: int) -> None:
        await self._cluster(MINE, MINE, {"overrides": {"multiGateway": {"replicas": gateways}}})

    async def _cluster(self, name: str, template: str, cell: Mapping[str, Any] | None = None) -> None:
        spec = {
            "cells": [{"zone": "z1", "cellTemplate": template, **(cell or {})}],
            "templateDefaults": {"shardTemplate": "std"},
            "globalTopoServer": _NOWHERE,
            "multiadmin": _IDLE,
            "multiadminWeb": _IDLE,
        }
        await self._apply("MultigresCluster", name, spec)

    async def _apply(self, kind: str, name: str, spec: Mapping[str, Any]) -> None:
        root = f"/apis/multigres.com/v1alpha1/namespaces/{self.namespace}/{kind.lower()}s/{name}"
        identity = {"apiVersion": "multigres.com/v1alpha1", "kind": kind}
        metadata = {"name": name, "namespace": self.namespace}
        await self.bare.apply_at(root, {**identity, "metadata": metadata, "spec": spec})


def have(clusters: Sequence[str], gateways: int) -> IsRight:
    wanted = {names.gateway(cluster, "z1") for cluster in clusters}
    return lambda seen: seen.metadata.name in wanted and seen.spec.replicas == gateways


@dataclass
class Found:
    """Seconds of each round: of the edit alone, of the edit among the herd, and of the herd."""

    alone: list[float]
    among: list[float]
    herd: list[float]


async def measure_size(report: Report, on: Ground, size: int) -> None:
    space, watched = Space(on.bare, f"{on.namespace}-{size}", size), Watched(on, AGENT)
    progress(f"{size} clusters")
    async with operator(on, (AGENT.removesuffix("-operator"),), {"namespaces": space.namespace}) as running:
        await space.make()
        async with (
            sight(on.bare, space.deployments, have(space.herd, 0)) as herd,
            sight(on.bare, space.deployments, have([MINE], 0)) as mine,
        ):
            await running.during(herd.until(size))
            await running.during(mine.until(1))
            found = Found([], [], [])
            for number in range(report.options.rounds):
                await watched.until_quiet()
                await running.during(measure_round(space, herd, mine, number, found))
        # While there is somebody to answer to the finalizers.
        await running.during(space.leave())
    report.add(*figures(size, found))


async def measure_round(space: Space, herd: Sight, mine: Sight, number: int, found: Found) -> None:
    progress(f"round {number + 1}")
    found.alone.append(await edited(space, mine, 2 * number + 1))
    asked = (number + 1) % 2
    herd.expect(have(space.herd, asked))
    began = time.perf_counter()
    await space.ask("shared", asked)
    found.among.append(await edited(space, mine, 2 * number + 2))
    await herd.until(space.size)
    found.herd.append(time.perf_counter() - began)


async def edited(space: Space, mine: Sight, gateways: int) -> float:
    mine.expect(have([MINE], gateways))
    await space.edit_mine(gateways)
    answered = time.perf_counter()
    await mine.until(1)
    return time.perf_counter() - answered


def figures(size: int, found: Found) -> list[Figure]:
    return [
        paired(f"an edit among {size} clusters that change", "s", found.among, found.alone, SERVED_SECONDS),
        Figure("… at worst", max(found.among), "s", target=SERVED_SECONDS),
        Figure(f"the template's change in all {size}", max(found.herd), "s"),
    ]
