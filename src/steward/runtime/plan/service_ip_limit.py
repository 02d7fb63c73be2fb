"""Writes of which the API server makes one at a time: only a few of them are under way at once.

The server hands out the addresses of Services one after the other. Who sends a hundred of them together has ninety
wait inside the server, each in one of our turns, until it gives up on most and takes back what it had done: with ten
clusters at once on a busy machine two of three creates ended so. Here they wait before they take a turn from anybody.
A headless Service needs no address.
"""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext

from steward.kube.objects.kinds import SERVICE, Manifest, kind_of
from steward.runtime.plan.steps import Apply, Create, Step

ADDRESSES_AT_ONCE = 8


class Narrows:
    """One for the process: it is the server that is narrow."""

    def __init__(self) -> None:
        self._addresses = asyncio.Semaphore(ADDRESSES_AT_ONCE)
        self._wide: AbstractAsyncContextManager[None] = nullcontext()

    def of(self, step: Step) -> AbstractAsyncContextManager[None]:
        return self._addresses if takes_an_address(step) else self._wide


def takes_an_address(step: Step) -> bool:
    """Whether the step makes a Service that is given an address. What is there already has its own."""
    match step:
        case Create():
            return _has_address(step.manifest)
        case Apply():
            return step.only_if_absent and _has_address(step.manifest)
        case _:
            return False


def _has_address(manifest: Manifest) -> bool:
    spec = manifest.get("spec") or {}
    return kind_of(manifest) == SERVICE and spec.get("clusterIP") != "None"
