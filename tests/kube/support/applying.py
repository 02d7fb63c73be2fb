"""An applier on the real API server, whose requests are counted."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from steward.kube.apply.applier import Applier, ApplyResult
from steward.kube.cache.caches import Caches
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.client.client import Client, connect
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import NoSuchKind
from steward.kube.objects.kinds import Key, Kind, Manifest, kind_of, ref_of
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import ApplyOptions, ListQuery
from steward.kube.objects.patches import JsonPatch
from steward.kube.transport.transport import Hooks, TransportOptions
from tests.kube.support.applied_kinds import MANIFESTS
from tests.kube.support.widgets import WIDGET, WIDGET_CRD

MANAGER = "steward-test"
OURS = ApplyOptions(manager=MANAGER)
STATUS = ApplyOptions(manager=MANAGER, subresource="status")
SELECTOR = "app.kubernetes.io/managed-by=steward-test"


@dataclass
class Bench:
    """The client, caches and applier of one process."""

    client: Client
    caches: Caches
    applier: Applier
    namespace: str
    requests: list[str] = field(default_factory=list)
    """The requests of the applier's client, without watches."""

    def store(self, kind: Kind) -> Store[Metadata]:
        return self.caches.store(rule(kind, self.namespace))

    async def apply(self, manifest: Manifest, options: ApplyOptions = OURS) -> ApplyResult:
        return await self.applier.apply(manifest, options, self.store(kind_of(manifest)))

    async def requests_of(self, manifest: Manifest, options: ApplyOptions = OURS) -> list[str]:
        """The requests that an apply of this manifest costs."""
        self.requests.clear()
        await self.apply(manifest, options)
        return list(self.requests)

    async def until(self, kind: Kind, key: Key, holds: Callable[[Metadata | None], bool]) -> None:
        await until(self.store(kind), key, holds)

    async def caught_up(self, manifest: Manifest, live: Manifest) -> None:
        """Waits until the cache has this version of the object."""
        version = int(live["metadata"]["resourceVersion"])
        ref = ref_of(manifest)
        await self.until(
            ref.kind,
            ref.key,
            lambda seen: seen is not None and int(seen.metadata.resource_version) >= version,
        )


def rule(kind: Kind, namespace: str) -> CacheRule[Metadata]:
    return CacheRule(kind, Metadata, {namespace: SELECTOR}, owned_by=MANAGER)


async def until(store: Store[Any], key: Key, holds: Callable[[Any], bool]) -> None:
    """Waits, without polling, until the object in the store meets the condition."""
    reached = asyncio.Event()

    def check(change: ObjectChange[Any] | None = None) -> None:
        if holds(store.get(key)):
            reached.set()

    store.subscribe(check)
    check()
    async with asyncio.timeout(120):
        await reached.wait()


@asynccontextmanager
async def bench(settings: ConnectionSettings, namespace: str, *kinds: Kind) -> AsyncIterator[Bench]:
    """A process that has just started: no server knowledge, and synced caches."""
    requests: list[str] = []

    def count(method: str, host: str, code: str, seconds: float) -> None:
        requests.append(f"{method} {code}")

    client = await connect(settings, TransportOptions(hooks=Hooks(on_request=count)))
    watching = await connect(settings)
    caches = Caches(watching)
    applying = Bench(client, caches, Applier(client), namespace, requests)
    for kind in kinds:
        applying.store(kind)
        await client.discovery.resource(kind)
    await caches.start()
    try:
        await caches.wait_synced()
        requests.clear()
        yield applying
    finally:
        await caches.stop()
        await client.close()
        await watching.close()


async def install_widgets(client: Client) -> None:
    await client.apply(WIDGET_CRD, ApplyOptions(manager="installer"))
    async with asyncio.timeout(120):
        while True:
            try:
                await client.list(WIDGET, ListQuery(namespace="default"))
            except NoSuchKind:
                await asyncio.sleep(0.05)
            else:
                return


async def edit(client: Client, manifest: Manifest, *operations: dict[str, Any]) -> Manifest:
    """An edit by another client, like `kubectl edit`; returns the object after it."""
    ref = ref_of(manifest)
    await client.patch(ref, JsonPatch(list(operations)), manager="kubectl-edit")
    return await client.get(ref.kind, ref.key)


def at_path(obj: Any, pointer: str) -> Any:
    for step in pointer.strip("/").split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            obj = obj[int(name)] if isinstance(obj, list) else obj.get(name)
        except (IndexError, AttributeError):
            return None
    return obj


ALL_KINDS = tuple(dict.fromkeys(kind_of(manifest) for manifest in MANIFESTS.values()))
