"""Waits until a component is ready, and explains why one did not become ready."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from steward.local.assembly import Assembly
from steward.local.bootstrap.api import BootstrapClient
from steward.local.errors import ComponentFailed, DiskFull
from steward.local.processes import Service
from steward.local.settings import LOOPBACK

_START_SECONDS = 120.0
_POLL_SECONDS = 0.05


Check = Callable[[], Awaitable[bool]]


def url_checks(assembly: Assembly, api: BootstrapClient) -> dict[str, Check]:
    """Of the control plane, and of kwok if it simulates the nodes."""
    return {name: partial(api.is_healthy, url) for name, url in health_urls(assembly).items()}


def health_urls(assembly: Assembly) -> dict[str, str]:
    ports = assembly.ports
    urls = {
        "etcd": f"{assembly.etcd_url}/health",
        "kube-apiserver": f"{assembly.url}/readyz",
        "kube-controller-manager": f"https://{LOOPBACK}:{ports['kube-controller-manager']}/healthz",
        "kube-scheduler": f"https://{LOOPBACK}:{ports['kube-scheduler']}/healthz",
    }
    return urls if assembly.containers else urls | {"kwok": f"http://{LOOPBACK}:{ports['kwok']}/healthz"}


class AddressInUse(Exception):
    """A port was taken after it was chosen; the caller chooses others."""


async def wait_until_ready(service: Service, is_ready: Check) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not await is_ready():
        if not service.is_running():
            raise _startup_error(service, "ended while it started")
        if time.monotonic() > deadline:
            raise _startup_error(service, f"did not become ready within {_START_SECONDS:.0f} s")
        await asyncio.sleep(_POLL_SECONDS)


def _startup_error(service: Service, what: str) -> Exception:
    tail = service.log_tail()
    if "address already in use" in tail:
        return AddressInUse(
            f"{service.name} found its port in use in every attempt; its log: {service.logfile}"
        )
    if "no space left on device" in tail:
        return DiskFull(f"The disk that holds {service.directory} is full: make room and run it again.")
    return ComponentFailed(
        f"{service.name} {what}: run the command again, or begin with an empty cluster (`steward down --purge`); "
        f"its log ({service.logfile}) ends with:\n{tail}"
    )
