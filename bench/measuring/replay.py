"""The floor of an operator: a bare client that writes the very objects that the operator wrote, and their statuses.

What to write is read from the cluster itself, by the operator's field manager, so that nobody has to say it twice. No
owner references and no finalizers: the owners would be strangers in another namespace, and nobody is there to answer
to a finalizer. The controllers of Kubernetes run as they do for the operator, and the clock stops when every workload
is ready, for both.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bench.measuring.bare import BareClient, Manifest
from bench.measuring.depth import Cost, at_depth
from bench.measuring.projection import written_by
from bench.measuring.sight import has_ready_pods, sight
from steward.testkit.audit import Calls

DEPTH = 16
_UNSAID = ("ownerReferences", "finalizers")
_WORKLOADS = ("deployments", "statefulsets")
_NOT_SAID = frozenset(("apiVersion", "kind", "metadata", "status"))
_NOT_KEPT = frozenset(("leases", "events"))


@dataclass(frozen=True)
class Written:
    collection: str
    """The path of its kind, up to the namespace."""
    plural: str
    manifest: Manifest
    status: Manifest | None

    def path(self, namespace: str) -> str:
        return f"{self.collection}/namespaces/{namespace}/{self.plural}/{self.manifest['metadata']['name']}"


async def what_was_written(bare: BareClient, calls: Calls, manager: str, namespace: str) -> list[Written]:
    """All objects of the namespace that the manager wrote, of the kinds that the calls are about."""
    kinds = {
        (call.group, call.version, call.resource)
        for call in (item.call for item in calls)
        if call.namespace == namespace and call.resource not in _NOT_KEPT
    }
    found = [await _of_kind(bare, kind, manager, namespace) for kind in sorted(kinds)]
    return [written for objects in found for written in objects]


async def _of_kind(
    bare: BareClient, kind: tuple[str, str, str], manager: str, namespace: str
) -> Iterable[Written]:
    group, version, plural = kind
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    listing = json.loads(await bare.get(f"{root}/namespaces/{namespace}/{plural}"))
    identity = {"apiVersion": listing["apiVersion"], "kind": listing["kind"].removesuffix("List")}
    parts = (
        (item, written_by(manager, item), written_by(manager, item, "status")) for item in listing["items"]
    )
    return [
        Written(root, plural, {**identity, **_again(item, part or {})}, status and status["status"])
        for item, part, status in parts
        if part is not None or status is not None
    ]


def _again(item: Manifest, part: Manifest) -> Manifest:
    """What to write for the object to be there again; of one that a user wrote, all that the user said."""
    said = {name: value for name, value in part.items() if name != "metadata"}
    if not said:
        said = {name: value for name, value in item.items() if name not in _NOT_SAID}
    return {"metadata": _metadata(item["metadata"]["name"], part.get("metadata", {})), **said}


def _metadata(name: str, given: Manifest) -> Manifest:
    return {"name": name, **{field: value for field, value in given.items() if field not in _UNSAID}}


@dataclass(frozen=True)
class Replayed:
    written: int
    """Objects and statuses."""
    writes: Cost
    ready_seconds: float


async def replay(bare: BareClient, written: Sequence[Written], namespace: str) -> Replayed:
    """Writes all of it into the namespace, `DEPTH` at once, and waits until its workloads are ready."""
    began = time.perf_counter()
    await bare.create("/api/v1/namespaces", {"metadata": {"name": namespace}})

    async with workloads(bare, namespace, written) as until_ready:
        cost = await write_all(bare, written, namespace)
        await until_ready()
    return Replayed(writes_of(written), cost, time.perf_counter() - began)


def writes_of(written: Sequence[Written]) -> int:
    """Objects and statuses."""
    return len(written) + sum(one.status is not None for one in written)


async def write_all(bare: BareClient, written: Sequence[Written], namespace: str) -> Cost:
    """Into a namespace that is there, over what is there."""

    async def write(one: Written) -> None:
        path = one.path(namespace)
        metadata = {**one.manifest["metadata"], "namespace": namespace}
        await bare.apply_at(path, {**one.manifest, "metadata": metadata})
        if one.status is not None:
            identity = {name: one.manifest[name] for name in ("apiVersion", "kind")}
            status = {**identity, "metadata": {"name": metadata["name"]}, "status": one.status}
            await bare.apply_at(f"{path}/status", status)

    return await at_depth(DEPTH, write, written)


@asynccontextmanager
async def workloads(
    bare: BareClient, namespace: str, written: Sequence[Written]
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Sees the workloads among what is being written, and waits until all of them are ready."""
    root = f"/apis/apps/v1/namespaces/{namespace}"
    async with AsyncExitStack() as stack:
        sights = [
            (await stack.enter_async_context(sight(bare, f"{root}/{plural}", has_ready_pods)), plural)
            for plural in _WORKLOADS
        ]

        async def until_ready() -> None:
            for seen, plural in sights:
                await seen.until(sum(one.plural == plural for one in written))

        yield until_ready
