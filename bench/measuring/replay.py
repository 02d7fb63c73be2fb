"""The floor of an operator: a bare client that writes the objects that the operator wrote, and their statuses.

The objects are read from the cluster, by the operator's field manager. Owner references and finalizers are omitted: the
owners do not exist in the other namespace, and no operator would remove a finalizer. The controllers of Kubernetes run
as they do for the operator, and both are measured until every workload is ready.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bench.measuring.bare_client import BareClient, Manifest
from bench.measuring.concurrency import Cost, run_concurrently
from bench.measuring.object_watch import has_ready_pods, watch_objects
from bench.measuring.projection import written_by
from steward.testkit.audit import AuditedCalls

DEPTH = 16
_OMITTED_METADATA = ("ownerReferences", "finalizers")
_WORKLOADS = ("deployments", "statefulsets")
_NOT_IN_SPEC = frozenset(("apiVersion", "kind", "metadata", "status"))
_SKIPPED_RESOURCES = frozenset(("leases", "events"))


@dataclass(frozen=True)
class WrittenObject:
    collection: str
    """The path of its API group and version."""
    plural: str
    manifest: Manifest
    status: Manifest | None

    def path(self, namespace: str) -> str:
        return f"{self.collection}/namespaces/{namespace}/{self.plural}/{self.manifest['metadata']['name']}"


async def read_written_objects(
    bare: BareClient, calls: AuditedCalls, manager: str, namespace: str
) -> list[WrittenObject]:
    """All objects of the namespace that the manager wrote, of the resources in the calls."""
    kinds = {
        (call.group, call.version, call.resource)
        for call in (item.call for item in calls)
        if call.namespace == namespace and call.resource not in _SKIPPED_RESOURCES
    }
    found = [await _written_objects_of_kind(bare, kind, manager, namespace) for kind in sorted(kinds)]
    return [written for objects in found for written in objects]


async def _written_objects_of_kind(
    bare: BareClient, kind: tuple[str, str, str], manager: str, namespace: str
) -> Iterable[WrittenObject]:
    group, version, plural = kind
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    listing = json.loads(await bare.get(f"{root}/namespaces/{namespace}/{plural}"))
    identity = {"apiVersion": listing["apiVersion"], "kind": listing["kind"].removesuffix("List")}
    parts = (
        (item, written_by(manager, item), written_by(manager, item, "status")) for item in listing["items"]
    )
    return [
        WrittenObject(
            root, plural, {**identity, **_replayable_manifest(item, part or {})}, status and status["status"]
        )
        for item, part, status in parts
        if part is not None or status is not None
    ]


def _replayable_manifest(item: Manifest, part: Manifest) -> Manifest:
    """The manifest that recreates the object; of an object that a user wrote, all of the user's fields."""
    fields = {name: value for name, value in part.items() if name != "metadata"}
    if not fields:
        fields = {name: value for name, value in item.items() if name not in _NOT_IN_SPEC}
    return {"metadata": _metadata(item["metadata"]["name"], part.get("metadata", {})), **fields}


def _metadata(name: str, given: Manifest) -> Manifest:
    return {
        "name": name,
        **{field: value for field, value in given.items() if field not in _OMITTED_METADATA},
    }


@dataclass(frozen=True)
class ReplayResult:
    written: int
    """Number of objects and statuses."""
    writes: Cost
    ready_seconds: float


async def replay(bare: BareClient, written: Sequence[WrittenObject], namespace: str) -> ReplayResult:
    """Write all objects into the namespace, `DEPTH` at once, and wait until the workloads are ready."""
    began = time.perf_counter()
    await bare.create("/api/v1/namespaces", {"metadata": {"name": namespace}})

    async with workloads(bare, namespace, written) as until_ready:
        cost = await write_all(bare, written, namespace)
        await until_ready()
    return ReplayResult(count_writes(written), cost, time.perf_counter() - began)


def count_writes(written: Sequence[WrittenObject]) -> int:
    """Number of objects and statuses."""
    return len(written) + sum(item.status is not None for item in written)


async def write_all(bare: BareClient, written: Sequence[WrittenObject], namespace: str) -> Cost:
    """Apply all objects in an existing namespace."""

    async def write(item: WrittenObject) -> None:
        path = item.path(namespace)
        metadata = {**item.manifest["metadata"], "namespace": namespace}
        await bare.apply_at(path, {**item.manifest, "metadata": metadata})
        if item.status is not None:
            identity = {name: item.manifest[name] for name in ("apiVersion", "kind")}
            status = {**identity, "metadata": {"name": metadata["name"]}, "status": item.status}
            await bare.apply_at(f"{path}/status", status)

    return await run_concurrently(DEPTH, write, written)


@asynccontextmanager
async def workloads(
    bare: BareClient, namespace: str, written: Sequence[WrittenObject]
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Watch the workloads that are being written; yields a function that waits until all are ready."""
    root = f"/apis/apps/v1/namespaces/{namespace}"
    async with AsyncExitStack() as stack:
        watches = [
            (await stack.enter_async_context(watch_objects(bare, f"{root}/{plural}", has_ready_pods)), plural)
            for plural in _WORKLOADS
        ]

        async def until_ready() -> None:
            for seen, plural in watches:
                await seen.until(sum(item.plural == plural for item in written))

        yield until_ready
