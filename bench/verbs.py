"""Wall and CPU time of every verb that reads a cluster, on a small one.

The floor is `steward --version`: an interpreter and click, without a verb. The target is for wall time, which a user
waits for; CPU time shows how much of it other processes caused on a busy machine.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from bench.measuring.figures import Figure, at_most, with_floor
from bench.measuring.operator import install_crds, running_operator
from bench.measuring.options import Options, read_options
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run

DEFAULT = Options(objects=12, rounds=5)
TARGET = at_most(0.5)
SETUP_TIMEOUT = 300.0
STEWARD = str(Path(sys.executable).with_name("steward"))
DATABASES = "/apis/multigres.com/v1alpha1/namespaces/{}/multigresclusters"
TENANTS = "/apis/operator.kubernetes-tenants.org/v1/namespaces/{}/{}"
CELLS = {"cells": [{"zone": zone} for zone in ("z1", "z2", "z3")]}
SOURCE = {"type": "sqlite", "syncInterval": "30s", "sqlite": {"file": "rows.db", "table": "customers"}}
COLUMNS = {"uid": "id", "hostOrUrl": "url", "activate": "active"}
CONFIG = {"id": "config", "nameTemplate": "{{ .uid }}", "spec": {"apiVersion": "v1", "kind": "ConfigMap"}}


class VerbCost(NamedTuple):
    wall: float
    processor: float


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("verbs", read_options("verbs", argv, DEFAULT)))


async def measure(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="steward-bench-rows-") as rows:
        async with bench_context() as context:
            await install_crds(context.bare)
            make_table(Path(rows), report.options.objects)
            async with running_operator(context, (), {"sqlite-root": rows, "namespaces": context.namespace}):
                await create_objects(context, report.options.objects)
                floor = await best_of(("--version",), report.options.rounds)
                for words in verbs(context, rows):
                    progress(f"steward {words[0]}")
                    report.add(*figures(words[0], await best_of(words, report.options.rounds), floor))


def verbs(context: BenchContext, rows: str) -> list[tuple[str, ...]]:
    where = ("-n", context.namespace, "--kubeconfig", str(context.plane.kubeconfig))
    return [
        ("status", *where),
        ("tree", *where),
        ("why", "mgc/mini", *where),
        ("hold", *where),
        ("updates", *where),
        ("rows", "prod", "--sqlite-root", rows, *where),
        ("preview", "prod", "--sqlite-root", rows, *where),
        ("doctor", *where),
        ("install",),
        ("crds",),
    ]


def make_table(directory: Path, count: int) -> None:
    with closing(sqlite3.connect(directory / "rows.db")) as connection, connection:
        connection.execute("CREATE TABLE customers (id TEXT, url TEXT, active TEXT)")
        made = [(f"customer-{number}", f"https://{number}.example.com", "1") for number in range(count)]
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?)", made)


async def create_objects(context: BenchContext, count: int) -> None:
    """Create a cluster across three zones and some tenants, and wait until they exist."""
    databases, tenants = DATABASES.format(context.namespace), TENANTS.format(context.namespace, "tenants")
    await context.bare.create(databases, _object("multigres.com/v1alpha1", "MultigresCluster", "mini", CELLS))
    for plural, kind, name, spec in (
        ("tenantregistries", "TenantRegistry", "prod", {"source": SOURCE, "valueMappings": COLUMNS}),
        ("tenanttemplates", "TenantTemplate", "web", {"registryId": "prod", "configMaps": [CONFIG]}),
    ):
        made = _object("operator.kubernetes-tenants.org/v1", kind, name, spec)
        await context.bare.create(TENANTS.format(context.namespace, plural), made)
    async with asyncio.timeout(SETUP_TIMEOUT):
        while not await _is_complete(context, tenants, count):  # noqa: ASYNC110 - another process decides
            await asyncio.sleep(0.5)


async def _is_complete(context: BenchContext, tenants: str, count: int) -> bool:
    found = json.loads(await context.bare.get(tenants))["items"]
    return len(found) >= count and await _is_healthy(context)


def _object(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


async def _is_healthy(context: BenchContext) -> bool:
    found = json.loads(await context.bare.get(f"{DATABASES.format(context.namespace)}/mini"))
    return bool((found.get("status") or {}).get("phase") == "Healthy")


async def best_of(words: tuple[str, ...], rounds: int) -> VerbCost:
    """The fastest of several runs: the others waited for causes outside the verb."""
    return min([await asyncio.to_thread(measure_verb, words) for _ in range(rounds)])


def measure_verb(words: tuple[str, ...]) -> VerbCost:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([STEWARD, *words], capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if "Traceback" in done.stderr or not done.stdout:
        raise RuntimeError(f"steward {' '.join(words)}: {done.stderr}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return VerbCost(wall, spent)


def figures(verb: str, spent: VerbCost, floor: VerbCost) -> list[Figure]:
    return [
        with_floor(f"steward {verb}", spent.wall, "s", floor.wall, TARGET),
        Figure("… of it, processor", spent.processor, "s"),
    ]
