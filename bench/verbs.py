"""Every verb that looks at a cluster, on a small one: how long until its answer is there, and what processor it takes.

The floor is `steward --version`: an interpreter, click, and no verb. Wall time is what a user waits for, so it has the
target; the processor's share tells on a busy machine how much of it was somebody else's.
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

from bench.measuring.figures import Figure, at_most, beside
from bench.measuring.operator import install_kinds, operator
from bench.measuring.options import Options, read_options
from bench.measuring.plane import Ground, context
from bench.measuring.report import Report, progress
from bench.measuring.running import run

DEFAULT = Options(objects=12, rounds=5)
TARGET = at_most(0.5)
PATIENCE = 300.0
STEWARD = str(Path(sys.executable).with_name("steward"))
DATABASES = "/apis/multigres.com/v1alpha1/namespaces/{}/multigresclusters"
TENANTS = "/apis/operator.kubernetes-tenants.org/v1/namespaces/{}/{}"
CELLS = {"cells": [{"zone": zone} for zone in ("z1", "z2", "z3")]}
SOURCE = {"type": "sqlite", "syncInterval": "30s", "sqlite": {"file": "rows.db", "table": "customers"}}
COLUMNS = {"uid": "id", "hostOrUrl": "url", "activate": "active"}
CONFIG = {"id": "config", "nameTemplate": "{{ .uid }}", "spec": {"apiVersion": "v1", "kind": "ConfigMap"}}


class Took(NamedTuple):
    wall: float
    processor: float


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("verbs", read_options("verbs", argv, DEFAULT)))


async def measure(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="steward-bench-rows-") as rows:
        async with context() as on:
            await install_kinds(on.bare)
            make_table(Path(rows), report.options.objects)
            async with operator(on, (), {"sqlite-root": rows, "namespaces": on.namespace}):
                await grow(on, report.options.objects)
                floor = await best(("--version",), report.options.rounds)
                for words in verbs(on, rows):
                    progress(f"steward {words[0]}")
                    report.add(*figures(words[0], await best(words, report.options.rounds), floor))


def verbs(on: Ground, rows: str) -> list[tuple[str, ...]]:
    where = ("-n", on.namespace, "--kubeconfig", str(on.plane.kubeconfig))
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


async def grow(on: Ground, count: int) -> None:
    """A cluster across three zones and a handful of tenants, all of them there."""
    databases, tenants = DATABASES.format(on.namespace), TENANTS.format(on.namespace, "tenants")
    await on.bare.create(databases, _object("multigres.com/v1alpha1", "MultigresCluster", "mini", CELLS))
    for plural, kind, name, spec in (
        ("tenantregistries", "TenantRegistry", "prod", {"source": SOURCE, "valueMappings": COLUMNS}),
        ("tenanttemplates", "TenantTemplate", "web", {"registryId": "prod", "configMaps": [CONFIG]}),
    ):
        made = _object("operator.kubernetes-tenants.org/v1", kind, name, spec)
        await on.bare.create(TENANTS.format(on.namespace, plural), made)
    async with asyncio.timeout(PATIENCE):
        # Another process decides.
        while len(json.loads(await on.bare.get(tenants))["items"]) < count or not await _is_healthy(on):  # noqa: ASYNC110
            await asyncio.sleep(0.5)


def _object(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


async def _is_healthy(on: Ground) -> bool:
    found = json.loads(await on.bare.get(f"{DATABASES.format(on.namespace)}/mini"))
    return bool((found.get("status") or {}).get("phase") == "Healthy")


async def best(words: tuple[str, ...], rounds: int) -> Took:
    """Of several runs: the others waited for something that has nothing to do with the verb."""
    return min([await asyncio.to_thread(took, words) for _ in range(rounds)])


def took(words: tuple[str, ...]) -> Took:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([STEWARD, *words], capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if "Traceback" in done.stderr or not done.stdout:
        raise RuntimeError(f"steward {' '.join(words)}: {done.stderr}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall, spent)


def figures(verb: str, spent: Took, floor: Took) -> list[Figure]:
    return [
        beside(f"steward {verb}", spent.wall, "s", floor.wall, TARGET),
        Figure("… of it, processor", spent.processor, "s"),
    ]
