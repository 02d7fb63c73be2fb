"""Limits concurrent creates of Services that need a ClusterIP.

The API server allocates the addresses of Services one at a time. Of a hundred concurrent creates ninety wait inside the
server, each holding one of our write slots, until the server times most of them out and rolls them back: with ten new
clusters on a busy machine two of three creates failed that way. Here they wait before they take a write slot. A
headless Service needs no address.
"""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext

from steward.kube.objects.kinds import SERVICE, Manifest, kind_of
from steward.runtime.plan.steps import Apply, Create, Step

MAX_CONCURRENT_ALLOCATIONS = 8


class ServiceIpLimit:
    """One per process: the allocation is serial for all of the API server's clients."""

    def __init__(self) -> None:
        self._addresses = asyncio.Semaphore(MAX_CONCURRENT_ALLOCATIONS)
        self._unlimited: AbstractAsyncContextManager[None] = nullcontext()

    def acquire_for(self, step: Step) -> AbstractAsyncContextManager[None]:
        return self._addresses if allocates_ip(step) else self._unlimited


def allocates_ip(step: Step) -> bool:
    """Whether the step creates a Service with a ClusterIP. An existing Service has its address already."""
    match step:
        case Create():
            return _has_cluster_ip(step.manifest)
        case Apply():
            return step.only_if_absent and _has_cluster_ip(step.manifest)
        case _:
            return False


def _has_cluster_ip(manifest: Manifest) -> bool:
    spec = manifest.get("spec") or {}
    return kind_of(manifest) == SERVICE and spec.get("clusterIP") != "None"
