"""Runs `steward run` as a separate process and measures it from outside."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from bench.measuring.bare_client import BareClient
from bench.measuring.plane import BenchContext
from bench.measuring.process import Usage, process_usage, tree_mb
from steward.kube.crd.schema import definition
from steward.local.ports import choose_ports
from steward.local.processes import Lifetime, Service
from steward.multigres.api import kinds as multigres
from steward.tenants.api import kinds as tenants

READY_SECONDS = 240.0
_STOP_SECONDS = 20.0
_POLL_SECONDS = 0.1
_CHECK_SECONDS = 1.0
_SAMPLE_SECONDS = 0.25
_LEASE = {"lease-duration": "120s", "renew-deadline": "100s", "retry-period": "5s"}
"""A busy machine must not end the operator in the middle of a measurement."""
NO_FLAGS: Mapping[str, str] = {}
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

T = TypeVar("T")


class OperatorFailed(RuntimeError):
    """The operator ended or did not become ready; the message holds the end of its log."""


class RunningOperator:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._pid: int = json.loads(service.pidfile.read_text())["pid"]
        self.peak_tree_mb = 0.0
        """The most memory that it and its children had together at any sample."""

    def usage(self) -> Usage:
        with suppress(OSError):  # it ends at this moment
            if self._service.is_running():
                return process_usage(self._pid)
        raise OperatorFailed(f"the operator ended by itself:\n{self._service.log_tail()}")

    async def sample_memory(self) -> None:
        while True:
            self.peak_tree_mb = max(self.peak_tree_mb, tree_mb(self._pid))
            await asyncio.sleep(_SAMPLE_SECONDS)

    async def while_running(self, work: Coroutine[Any, Any, T]) -> T:
        """Await work that depends on the operator; raise OperatorFailed if the operator ends."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_CHECK_SECONDS)
                self.usage()
            return task.result()
        finally:
            task.cancel()

    async def until_ready(self, port: int) -> None:
        """Wait until /readyz reports that the caches are synced."""
        async with (
            aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session,
            asyncio.timeout(READY_SECONDS),
        ):
            while not await _is_ready(session):
                self.usage()
                await asyncio.sleep(_POLL_SECONDS)


async def _is_ready(session: aiohttp.ClientSession) -> bool:
    try:
        async with session.get("/readyz") as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False


@asynccontextmanager
async def running_operator(
    context: BenchContext, names: tuple[str, ...], more: Mapping[str, str] = NO_FLAGS
) -> AsyncIterator[RunningOperator]:
    """Run the operator, ready, with its caches synced and its lease held."""
    probes, metrics = list(choose_ports({}, None).values())[:2]
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as directory:
        service = Service("operator", Path(directory))
        command = [str(Path(sys.executable).with_name("steward")), "run", *names]
        flags = {
            "kubeconfig": str(context.plane.kubeconfig),
            "namespace": context.namespace,
            "health-probe-bind-address": f"127.0.0.1:{probes}",
            "metrics-bind-address": f"127.0.0.1:{metrics}",
            **_LEASE,
            **more,
        }
        service.start([*command, *(f"--{name}={value}" for name, value in flags.items())], Lifetime.PARENT)
        try:
            running = RunningOperator(service)
            sampling = asyncio.create_task(running.sample_memory())
            try:
                await running.until_ready(probes)
                yield running
            finally:
                sampling.cancel()
        finally:
            await service.stop(_STOP_SECONDS)


async def compile_operator(context: BenchContext, names: tuple[str, ...]) -> None:
    """Start it once, so that modules which it imports at run time are compiled too."""
    async with running_operator(context, names):
        pass


async def install_crds(bare: BareClient) -> None:
    """Install the operators' CRDs, and wait until they are established."""
    found = json.loads(await bare.get(_DEFINITIONS))["items"]
    existing = {item["metadata"]["name"] for item in found}
    desired = [definition(custom) for custom in (*multigres.CUSTOM_KINDS, *tenants.CUSTOM_KINDS)]
    for item in desired:
        if item["metadata"]["name"] not in existing:
            await bare.create(_DEFINITIONS, item)
    names = {item["metadata"]["name"] for item in desired}
    async with asyncio.timeout(READY_SECONDS):
        while not names <= await _established(bare):  # noqa: ASYNC110 - another process decides
            await asyncio.sleep(_POLL_SECONDS)


async def _established(bare: BareClient) -> set[str]:
    items = json.loads(await bare.get(_DEFINITIONS))["items"]
    return {item["metadata"]["name"] for item in items if _is_established(item)}


def _is_established(item: dict[str, Any]) -> bool:
    # A new CRD has no status, and the conditions of its first status are null.
    conditions = item.get("status", {}).get("conditions") or ()
    return any(found["type"] == "Established" and found["status"] == "True" for found in conditions)
