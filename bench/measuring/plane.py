"""The control plane of a scenario: a new one in a temporary directory, or the one that STEWARD_BENCH_CONTROL_PLANE
names (`steward up --bare --detach --dir D`).

The kernel kills a new one when the measuring process dies.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measuring.bare_client import BareClient
from bench.measuring.process import process_usage
from steward.local import control_plane as local
from steward.local.control_plane import ControlPlane
from steward.local.processes import Lifetime
from steward.local.progress import ProgressLines
from steward.local.settings import ControlPlaneSettings, Layout

VARIABLE = "STEWARD_BENCH_CONTROL_PLANE"


@dataclass(frozen=True)
class BenchContext:
    """A control plane, a bare client, and a namespace that is deleted when the scenario ends."""

    plane: ControlPlane
    bare: BareClient
    namespace: str

    def server_cpu(self) -> float:
        """CPU seconds that API server and etcd have used so far."""
        services = map(Layout(self.plane.directory).service, ("kube-apiserver", "etcd"))
        return sum(
            process_usage(json.loads(service.pidfile.read_text())["pid"]).cpu_seconds for service in services
        )


@asynccontextmanager
async def control_plane() -> AsyncIterator[ControlPlane]:
    named = os.environ.get(VARIABLE)
    if named:
        yield local.find(Path(named))
        return
    directory = Path(tempfile.mkdtemp(prefix="steward-bench-"))
    try:
        settings = ControlPlaneSettings(directory, lifetime=Lifetime.PARENT)
        yield await local.start(settings, ProgressLines(sys.stderr))
    finally:
        await local.stop(directory)
        shutil.rmtree(directory, ignore_errors=True)


@asynccontextmanager
async def bench_context() -> AsyncIterator[BenchContext]:
    async with control_plane() as plane, BareClient(plane) as bare:
        namespace = f"bench-{secrets.token_hex(4)}"
        await bare.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        try:
            yield BenchContext(plane, bare, namespace)
        finally:
            await bare.delete(f"/api/v1/namespaces/{namespace}")
