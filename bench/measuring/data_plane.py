"""A fake data plane for the clusters of a scenario: topology servers and multiadmin that answer, Postgres that starts.

It runs as a process of its own, so that its CPU time is not that of the operator. Every etcd is in its memory: forty
real ones would take the processor from what is measured.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.measuring.plane import BenchContext
from steward.local.processes import Lifetime, Service
from steward.testkit.fake_data_plane import EtcdKind

_STOP_SECONDS = 10.0
_TIMES = {"start": 0.05, "stream": 0.05, "failover": 0.5, "switch": 0.2}


@asynccontextmanager
async def running_data_plane(context: BenchContext, namespace: str) -> AsyncIterator[str]:
    """The data plane of one namespace; yields the value of `--connect-to`. The kernel ends it with this process."""
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as directory:
        service = Service("data-plane", Path(directory))
        flags = {
            "kubeconfig": str(context.plane.kubeconfig),
            "directory": directory,
            "namespace": namespace,
            "etcd": EtcdKind.MEMORY.value,
            **{f"{name}-seconds": str(seconds) for name, seconds in _TIMES.items()},
        }
        command = [sys.executable, "-m", "steward.testkit.fake_data_plane"]
        service.start([*command, *(f"--{name}={value}" for name, value in flags.items())], Lifetime.PARENT)
        try:
            yield f"@{Path(directory) / 'connect-to'}"
        finally:
            await service.stop(_STOP_SECONDS)
