"""Memory after a start on a cluster with 10,000 foreign Secrets, which the operator must not load.

Two processes are started on a cluster without the Secrets and again with them: a cache of Secrets with the label
selector of the multigres operator, and the operator itself. For comparison, a cache without a selector is measured
too.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from statistics import median

from bench.measuring.bare_client import Manifest
from bench.measuring.child import ChildAnswer, run_child
from bench.measuring.concurrency import run_concurrently
from bench.measuring.figures import Figure, at_most, at_most_of_floor, with_floor
from bench.measuring.operator import compile_operator, install_crds, running_operator
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.process import Usage
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run

DEFAULT = Options(objects=10_000, rounds=3)
OPERATOR = ("multigres",)
SELECTOR = "app.kubernetes.io/managed-by=multigres-operator"
FLAT = at_most_of_floor(1.03)
_PAYLOAD = base64.b64encode(b"x" * 768).decode()


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("cold_start", read_options("cold_start", argv, DEFAULT)))


async def measure(report: Report) -> None:
    objects, rounds = report.options.objects, report.options.rounds
    async with bench_context() as context, foreign_namespace(context) as foreign:
        await install_crds(context.bare)
        await compile_operator(context, OPERATOR)
        progress("starts on an empty cluster")
        empty = [await measure_cache(context, SELECTOR) for _ in range(rounds)]
        operator_empty = [await measure_operator(context) for _ in range(rounds)]
        progress(f"{objects:,} foreign Secrets")
        await run_concurrently(
            32, context.bare.apply, (_secret(foreign, number) for number in range(objects))
        )
        progress("starts with the Secrets")
        with_secrets = [await measure_cache(context, SELECTOR) for _ in range(rounds)]
        operator_with_secrets = [await measure_operator(context) for _ in range(rounds)]
        unfiltered = await measure_cache(context, "")
    report.add(
        *cache_figures(empty, with_secrets, unfiltered),
        *operator_figures(operator_empty, operator_with_secrets),
    )


def foreign_namespace(context: BenchContext) -> _ForeignNamespace:
    return _ForeignNamespace(context)


class _ForeignNamespace:
    """A namespace other than the operator's own, where no selector applies."""

    def __init__(self, context: BenchContext) -> None:
        self._bare = context.bare
        self._name = f"{context.namespace}-foreign"

    async def __aenter__(self) -> str:
        await self._bare.create("/api/v1/namespaces", {"metadata": {"name": self._name}})
        return self._name

    async def __aexit__(self, *_: object) -> None:
        await self._bare.delete(f"/api/v1/namespaces/{self._name}")


def _secret(namespace: str, number: int) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"foreign-{number}", "namespace": namespace, "labels": {"app": "other"}},
        "data": {"password": _PAYLOAD},
    }


async def measure_cache(context: BenchContext, selector: str) -> ChildAnswer:
    async with run_child(
        "bench.measuring.secrets_process", str(context.plane.directory), selector
    ) as process:
        return await process.request("sync")


async def measure_operator(context: BenchContext) -> Usage:
    async with running_operator(context, OPERATOR) as running:
        return running.usage()


def cache_figures(
    empty: Sequence[ChildAnswer], with_secrets: Sequence[ChildAnswer], unfiltered: ChildAnswer
) -> list[Figure]:
    before, after = _median(empty, "rss_mb"), _median(with_secrets, "rss_mb")
    peak_before, peak_after = _median(empty, "peak_mb"), _median(with_secrets, "peak_mb")
    return [
        Figure("foreign Secrets in the cache", _median(with_secrets, "objects"), "", target=at_most(0)),
        with_floor("cache with the selector, memory (floor: empty cluster)", after, "MB", before, FLAT),
        with_floor("… at its peak", peak_after, "MB", peak_before, FLAT),
        with_floor("cache without a selector, memory", unfiltered["rss_mb"], "MB", before),
    ]


def operator_figures(empty: Sequence[Usage], with_secrets: Sequence[Usage]) -> list[Figure]:
    rss = [median(found.rss_mb for found in usages) for usages in (with_secrets, empty)]
    peak = [median(found.peak_mb for found in usages) for usages in (with_secrets, empty)]
    return [
        with_floor("steward run multigres, memory (floor: empty cluster)", rss[0], "MB", rss[1], FLAT),
        with_floor("… at its peak", peak[0], "MB", peak[1], FLAT),
    ]


def _median(answers: Sequence[ChildAnswer], name: str) -> float:
    return float(median(answer[name] for answer in answers))
