"""Finds foreign objects: objects that other managers own under names that this operator needs. None is ever changed.

A foreign object must stop a cluster before any part of it is created. The API server itself rejects a create under a
name that is taken, so safety does not depend on this check; the check avoids a cluster that is half created.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from steward.kube.bounded_cache import TtlCache
from steward.kube.cache.store import Store
from steward.kube.client.client import Client, ListQuery
from steward.kube.clock import Clock
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import SECRET, Kind, Manifest, Ref, ref_of
from steward.kube.objects.meta import HasMetadata, Metadata
from steward.multigres import reasons
from steward.multigres.objects.metadata import FIELD_MANAGER, MANAGED_BY_LABEL
from steward.multigres.status.conditions import Stall

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


class ForeignObjects:
    def __init__(self, client: Client, clock: Clock, store_of: Callable[[Kind], Store[Any]]) -> None:
        self._client = client
        self._names = ForeignNames(client, clock)
        self._store_of = store_of

    def forget(self, namespace: str) -> None:
        self._names.forget(namespace)

    async def find(self, desired: Sequence[Manifest]) -> frozenset[Ref]:
        """The desired objects that exist and are foreign. Asks the API server only for objects that are not cached."""
        uncached = [ref for manifest in desired if not self._is_cached(ref := ref_of(manifest))]
        foreign = await asyncio.gather(*(self._is_foreign(ref) for ref in uncached))
        return frozenset(ref for ref, is_foreign in zip(uncached, foreign, strict=True) if is_foreign)

    def _caches_all(self, kind: Kind) -> bool:
        """Whether the cache of a kind holds foreign objects as well, so that an object it lacks does not exist."""
        store = self._store_of(kind)
        return store.synced and all(selector == "" for selector in store.rule.selectors.values())

    def _is_cached(self, ref: Ref) -> bool:
        live = self._store_of(ref.kind).get(ref.key)
        return live is not None and is_managed(live)

    async def _is_foreign(self, ref: Ref) -> bool:
        if self._caches_all(ref.kind) and self._store_of(ref.kind).get(ref.key) is None:
            return False
        # Foreign Secrets are not listed, not even by name: only the one in question is read.
        if ref.kind != SECRET and not await self._names.may_exist(ref):
            return False
        try:
            live = await self._client.get(ref.kind, ref.key, Metadata)
        except NotFound:
            return False
        return not is_managed(live)


def is_managed(live: HasMetadata) -> bool:
    return live.metadata.labels.get(MANAGED_BY_LABEL) == FIELD_MANAGER


def foreign_stall(foreign: frozenset[Ref]) -> Stall | None:
    if not foreign:
        return None
    names = ", ".join(sorted(str(ref) for ref in foreign))
    return Stall(reasons.NAME_TAKEN, f"{names} already exists and is not managed by this operator: {CURE}")
