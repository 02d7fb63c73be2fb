"""Stops everything that runs in the directory of a cluster."""

from __future__ import annotations

import asyncio

from steward.local.containers import cluster
from steward.local.settings import Layout

_STOP_SECONDS = 10.0


async def stop_all(layout: Layout) -> None:
    """Stop all processes, and remove what a cluster with containers made on the machine."""
    # In parallel: on termination each operator makes calls to the API server, but none to the others.
    services = [*layout.operator_services(), layout.page_service()]
    await asyncio.gather(*(service.stop(_STOP_SECONDS) for service in services))
    await cluster.stop_nodes(layout)
    # An API server without etcd does not terminate on SIGTERM.
    grace_seconds = _STOP_SECONDS if layout.service("etcd").is_running() else 0.0
    for service in reversed(layout.component_services()):
        await service.stop(grace_seconds)
    # Last: the API server listens on the bridge.
    await cluster.clean_machine(layout)
