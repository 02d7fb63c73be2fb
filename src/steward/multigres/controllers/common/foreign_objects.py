"""Finds foreign objects: objects that other managers own under names that this operator needs. None is ever changed.

A foreign object must stop a cluster before any part of it is created. The API server itself rejects a create under a
name that is taken, so safety does not depend on this check; the check avoids a cluster that is half created.

The caches hold objects by the label of this operator. An object that has lost the label, and whose controller is the
owner that the manifest names, is not foreign: its label is put back, which brings it into the cache, and the apply of
the same reconcile repairs the rest.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from steward.kube.bounded_cache import TtlCache
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.client.client import Client, ListQuery
from steward.kube.clock import Clock
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import SECRET, Key, Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import HasMetadata, Metadata, ObjectMeta, controller_of
from steward.kube.objects.patches import MergePatch
from steward.multigres import reasons
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.objects.metadata import CLUSTER_LABEL, FIELD_MANAGER, MANAGED_BY_LABEL, selector
from steward.multigres.status.conditions import Stall
from steward.runtime.plan.steps import Patch, Plan

FRESH_SECONDS = 5.0
PAGE_LIMIT = 200
FOREIGN_SELECTOR = f"{MANAGED_BY_LABEL}!={FIELD_MANAGER}"
CURE = "rename or delete it, or rename the cluster"


class NamespacedKind(NamedTuple):
    kind: Kind
    namespace: str


class NameListing(NamedTuple):
    """Names of foreign objects; None if there are more than one page of them."""

    names: frozenset[str] | None


class ForeignNames:
    """Lists the metadata of foreign objects once per kind and namespace, instead of one get per name.

    A listing is shared by all reconciles within `FRESH_SECONDS`, so a fleet that starts costs one list per kind.
    """

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client.metadata_only()
        self._listings: TtlCache[NamespacedKind, NameListing] = TtlCache(clock, FRESH_SECONDS)
        self._locks: dict[NamespacedKind, asyncio.Lock] = {}

    async def may_exist(self, ref: Ref) -> bool:
        names = await self.list_names(NamespacedKind(ref.kind, ref.key.namespace))
        return names is None or ref.key.name in names

    async def list_names(self, place: NamespacedKind) -> frozenset[str] | None:
        """At most `FRESH_SECONDS` old; a caller that finds a name here reads that object live."""
        # Concurrent callers wait for the first one and share its listing.
        async with self._locks.setdefault(place, asyncio.Lock()):
            listing = self._listings.get(place)
            if listing is None:
                listing = await self._list(place)
                self._listings.set(place, listing)
        return listing.names

    def forget(self, namespace: str) -> None:
        """Called when a create fails because of an object that the listing did not contain."""
        self._listings.forget_where(lambda place: place.namespace == namespace)

    async def _list(self, place: NamespacedKind) -> NameListing:
        query = ListQuery(namespace=place.namespace, label_selector=FOREIGN_SELECTOR, limit=PAGE_LIMIT)
        page = await self._client.first_page(place.kind, query, Metadata)
        return NameListing(None if page.more else frozenset(item.metadata.name for item in page.items))


class PlanExecution(Protocol):
    async def execute(self, plan: Plan, cause: Ref) -> object: ...


class ForeignObjects:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        store_of: Callable[[Kind], Store[Any]],
        executor: PlanExecution,
    ) -> None:
        self._client = client
        self._names = ForeignNames(client, clock)
        self._store_of = store_of
        self._executor = executor

    def forget(self, namespace: str) -> None:
        self._names.forget(namespace)

    def observe(self, change: ObjectChange[Any]) -> None:
        """An object that leaves a cache without being deleted has lost its label, and is in no listing yet."""
        if change.old is not None and change.new is None and change.old.metadata.deletion_timestamp is None:
            self._names.forget(change.key.namespace)

    async def find(self, desired: Sequence[Manifest]) -> frozenset[Ref]:
        """The desired objects that exist and are foreign. Asks the API server only for objects that are not cached."""
        uncached = [manifest for manifest in desired if not self._is_cached(manifest)]
        foreign = await asyncio.gather(*(self._is_foreign(manifest) for manifest in uncached))
        return frozenset(
            ref_of(manifest) for manifest, is_foreign in zip(uncached, foreign, strict=True) if is_foreign
        )

    async def restore_label(self, manifest: Manifest) -> bool:
        """Puts the label of this operator back on an object that is not cached; False if the object is foreign."""
        ref = ref_of(manifest)
        live = await self._read(ref)
        if live is None or is_managed(live):
            return True
        if not is_object_of(manifest, live):
            return False
        await self._executor.execute((relabel_step(ref, live.metadata),), _cluster_of(manifest))
        return True

    async def find_unlabelled(self, ref: Ref) -> Metadata | None:
        """The object of this name without the label of this operator, if there is one."""
        if not await self._names.may_exist(ref):
            return None
        live = await self._read(ref)
        return None if live is None or is_managed(live) else live

    def _caches_all(self, kind: Kind) -> bool:
        """Whether the cache of a kind holds foreign objects as well, so that an object it lacks does not exist."""
        store = self._store_of(kind)
        return store.synced and all(selector == "" for selector in store.rule.selectors.values())

    def _is_cached(self, manifest: Manifest) -> bool:
        ref = ref_of(manifest)
        live = self._store_of(ref.kind).get(ref.key)
        return live is not None and is_managed(live) and not has_other_controller(manifest, live)

    async def _is_foreign(self, manifest: Manifest) -> bool:
        ref = ref_of(manifest)
        cached = self._store_of(ref.kind).get(ref.key)
        if cached is not None:
            return not is_object_of(manifest, cached)
        if self._caches_all(ref.kind):
            return False
        # Foreign Secrets are not listed, not even by name: only the one in question is read.
        if ref.kind != SECRET and not await self._names.may_exist(ref):
            return False
        return not await self.restore_label(manifest)

    async def _read(self, ref: Ref) -> Metadata | None:
        try:
            return await self._client.get(ref.kind, ref.key, Metadata)
        except NotFound:
            return None


def _cluster_of(manifest: Manifest) -> Ref:
    labels = manifest["metadata"].get("labels") or {}
    return Ref(CLUSTER, Key(ref_of(manifest).key.namespace, labels.get(CLUSTER_LABEL, "")))


def is_managed(live: HasMetadata) -> bool:
    return live.metadata.labels.get(MANAGED_BY_LABEL) == FIELD_MANAGER


def is_object_of(manifest: Manifest, live: HasMetadata) -> bool:
    """Whether a live object is the one that the manifest describes: its controller is the owner in the manifest. An
    object without an owner, which outlives its cluster, is recognized by the labels that identify it."""
    if has_other_controller(manifest, live):
        return False
    if is_managed(live):
        return True
    metadata, controller = manifest["metadata"], controller_of(live.metadata)
    owners = [owner["uid"] for owner in metadata.get("ownerReferences", ()) if owner.get("controller")]
    if owners:
        return controller is not None and controller.uid in owners
    return controller is None and selector(live.metadata.labels) == selector(metadata["labels"])


def has_other_controller(manifest: Manifest, live: HasMetadata) -> bool:
    """Whether the object belongs to another owner, such as a cluster whose object has the same name by chance or on
    purpose. One that is terminating is only in the way for a while."""
    controller = controller_of(live.metadata)
    if controller is None or live.metadata.deletion_timestamp is not None:
        return False
    owners = [owner["uid"] for owner in manifest["metadata"].get("ownerReferences", ())]
    return bool(owners) and controller.uid not in owners


def relabel_step(ref: Ref, live: ObjectMeta, labels: Mapping[str, str] | None = None) -> Patch:
    """Sets the label of this operator, and `labels`, on exactly this object."""
    changes = {"uid": live.uid, "labels": {**(labels or {}), MANAGED_BY_LABEL: FIELD_MANAGER}}
    return Patch(ref, MergePatch({"metadata": changes}))


def foreign_stall(foreign: frozenset[Ref]) -> Stall | None:
    if not foreign:
        return None
    names = ", ".join(sorted(str(ref) for ref in foreign))
    return Stall(reasons.NAME_TAKEN, f"{names} already exists and is not managed by this operator: {CURE}")
