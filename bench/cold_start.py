"""A start beside 10,000 Secrets of other people: they must never be loaded, so memory must not grow.

Two processes are started on a cluster without them and again with them: a cache of Secrets under the label selector
of the multigres operator, and the operator itself. The floor of growth is what a cache without a selector holds.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from statistics import median

from bench.measuring.bare import Manifest
from bench.measuring.child import Answer, child
from bench.measuring.depth import at_depth
from bench.measuring.figures import Figure, at_most, at_most_of_floor, beside
from bench.measuring.operator import compile_operator, install_kinds, operator
from bench.measuring.options import Options, read_options
from bench.measuring.plane import Ground, context
from bench.measuring.process import Usage
from bench.measuring.report import Report, progress
from bench.measuring.running import run

DEFAULT = Options(objects=10_000, rounds=3)
OPERATOR = ("multigres",)
SELECTOR = "app.kubernetes.io/managed-by=multigres-operator"
FLAT = at_most_of_floor(1.03)
_PAYLOAD = base64.b64encode(b"x" * 768).decode()


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("cold_start", read_options("cold_start", argv, DEFAULT)))


async def measure(report: Report) -> None:
    objects, rounds = report.options.objects, report.options.rounds
    async with context() as on, foreign_namespace(on) as foreign:
        await install_kinds(on.bare)
        await compile_operator(on, OPERATOR)
        progress("starts on an empty cluster")
        empty = [await cached(on, SELECTOR) for _ in range(rounds)]
        operator_empty = [await operator_at_rest(on) for _ in range(rounds)]
        progress(f"{objects:,} foreign Secrets")
        await at_depth(32, on.bare.apply, (_secret(foreign, number) for number in range(objects)))
        progress("starts beside them")
        beside_them = [await cached(on, SELECTOR) for _ in range(rounds)]
        operator_beside = [await operator_at_rest(on) for _ in range(rounds)]
        unfiltered = await cached(on, "")
    report.add(
        *cache_figures(empty, beside_them, unfiltered),
        *operator_figures(operator_empty, operator_beside),
    )


def foreign_namespace(on: Ground) -> _ForeignNamespace:
    return _ForeignNamespace(on)


class _ForeignNamespace:
    """Another one than the operator's own, where no selector applies."""

    def __init__(self, on: Ground) -> None:
        self._bare = on.bare
        self._name = f"{on.namespace}-foreign"

    async def __aenter__(self) -> str:
        await self._bare.create("/api/v1/namespaces", {"metadata": {"name": self._name}})
        return self._name

    async def __aexit__(self, *_: object) -> None:
        await self._bare.delete(f"/api/v1/namespaces/{self._name}")


def _secret(namespace: str, number: int) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"foreign-{number}", "namespace": namespace, "labels": {"app": "somebody"}},
        "data": {"password": _PAYLOAD},
    }


async def cached(on: Ground, selector: str) -> Answer:
    async with child("bench.measuring.secrets_process", str(on.plane.directory), selector) as process:
        return await process.ask("sync")


async def operator_at_rest(on: Ground) -> Usage:
    async with operator(on, OPERATOR) as running:
        return running.usage()


def cache_figures(empty: Sequence[Answer], beside_them: Sequence[Answer], unfiltered: Answer) -> list[Figure]:
    before, after = _median(empty, "rss_mb"), _median(beside_them, "rss_mb")
    peak_before, peak_after = _median(empty, "peak_mb"), _median(beside_them, "peak_mb")
    return [
        Figure("foreign Secrets in the cache", _median(beside_them, "objects"), "", target=at_most(0)),
        beside("cache with the selector, memory (floor: empty cluster)", after, "MB", before, FLAT),
        beside("… at its peak", peak_after, "MB", peak_before, FLAT),
        beside("cache without a selector, memory", unfiltered["rss_mb"], "MB", before),
    ]


def operator_figures(empty: Sequence[Usage], beside_them: Sequence[Usage]) -> list[Figure]:
    rss = [median(found.rss_mb for found in usages) for usages in (beside_them, empty)]
    peak = [median(found.peak_mb for found in usages) for usages in (beside_them, empty)]
    return [
        beside("steward run multigres, memory (floor: empty cluster)", rss[0], "MB", rss[1], FLAT),
        beside("… at its peak", peak[0], "MB", peak[1], FLAT),
    ]


def _median(answers: Sequence[Answer], name: str) -> float:
    return float(median(answer[name] for answer in answers))
