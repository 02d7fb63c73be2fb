"""Watches the objects of Tenants: one watch for each kind that an existing Tenant uses.

Built-in kinds are watched from the start, others from the moment a Tenant first uses them. Only objects with a Tenant's
label are cached (with `--shard`, only those of this part), and of these only metadata, the fields that readiness reads,
and the fields that the operator owns. Any change of those wakes the Tenant at once, so a manual edit is reverted within
a moment and not at the next resync.
"""

from collections.abc import Iterable
from typing import Any, Final

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.managed_fields.field_losses import NO_LOSSES, ChangedKeys, Losses
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import HasMetadata, Metadata
from steward.kube.objects.readiness import READY_NOW, view_readiness
from steward.kube.objects.readiness_views import readiness_view
from steward.runtime.controller.predicates import any_of, child, deletion, generation, needs_repair
from steward.runtime.controller.triggers import Channel
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.reconcile import Lane
from steward.tenants.api.lists import KINDS
from steward.tenants.cache_rules import FleetScope, object_rule
from steward.tenants.labels import TENANT, TENANT_NAMESPACE
from steward.tenants.views import TenantSecret

_READY_WHEN_CREATED: Final[dict[Kind, type[Any]]] = {
    kinds.SECRET: TenantSecret,
    kinds.CONFIG_MAP: Metadata,
    kinds.SERVICE_ACCOUNT: Metadata,
}

# An object without a generation may have changed in a part that is not cached: any new version of it counts.
_is_relevant = any_of(child, generation)


def child_rule(kind: Kind, settings: Settings) -> CacheRule[Any]:
    return object_rule(kind, _READY_WHEN_CREATED.get(kind) or readiness_view(kind), fleet_scope(settings))


def fleet_scope(settings: Settings) -> FleetScope:
    return FleetScope(settings.namespaces, settings.partition, settings.no_cross_namespace)


def tenant_of(live: HasMetadata) -> Key | None:
    labels = live.metadata.labels
    name, namespace = labels.get(TENANT), labels.get(TENANT_NAMESPACE)
    return Key(namespace, name) if name and namespace else None


def _lane(change: ObjectChange[Any]) -> Lane:
    """Urgent are a Tenant whose object has become ready, because it is nearly done, and one that needs a repair:
    Kubernetes acts on a change within milliseconds."""
    if change.initial:
        return Lane.SLOW
    is_urgent = needs_repair(change) or deletion(change) or _became_ready(change)
    return Lane.URGENT if is_urgent else Lane.FAST


def _became_ready(change: ObjectChange[Any]) -> bool:
    old, new = change.old, change.new
    if old is None or new is None:
        return False
    return view_readiness(change.kind, new) == READY_NOW != view_readiness(change.kind, old)


class ChildWatches:
    """The stores of all kinds that Tenants use; a change in any of them wakes its Tenant."""

    def __init__(self, manager: Manager, settings: Settings) -> None:
        self.channel = Channel()
        self._manager = manager
        self._settings = settings
        self._part = fleet_scope(settings).part
        self._stores: dict[Kind, Store[Any]] = {}
        self._every_change: set[Kind] = set()
        self.unrepaired: set[Key] = set()
        """Tenants with an object that was changed or deleted since they were last reconciled."""
        self.watch(KINDS)
        self._filling = tuple(self._stores.values())

    async def wait_filled(self) -> None:
        """Returns when the objects that existed at the start of the process are cached."""
        for store in self._filling:
            await store.wait_synced()
        self._filling = ()

    def watch(self, used: Iterable[Kind]) -> None:
        for kind in used:
            if kind not in self._stores and self._may_watch(kind):
                store = self._manager.store(child_rule(kind, self._settings))
                self._stores[kind] = store
                store.subscribe(self._handle)

    def _may_watch(self, kind: Kind) -> bool:
        """With `no_cross_namespace` templates make no Namespaces, and watching them needs a permission on the
        cluster."""
        return kind != kinds.NAMESPACE or not self._settings.no_cross_namespace

    def watch_every_change(self, used: Iterable[Kind]) -> None:
        """From now on any change of these kinds counts: `readyWhen` may read fields that are not cached."""
        self._every_change.update(used)

    def store(self, kind: Kind) -> Store[Any]:
        return self._stores[kind]

    def is_synced(self, kind: Kind) -> bool:
        """Whether all objects of the kind that have a Tenant's label are in the cache."""
        store = self._stores.get(kind)
        return store is not None and store.synced

    def get(self, kind: Kind, key: Key) -> HasMetadata | None:
        """The cached object; None may mean that it does not exist, or that it is not (yet) managed."""
        store = self._stores.get(kind)
        cached: HasMetadata | None = None if store is None else store.get(key)
        return cached

    def lost_fields(self, kind: Kind, key: Key) -> Losses:
        """The fields that others were seen to take from the operator."""
        store = self._stores.get(kind)
        return NO_LOSSES if store is None else store.lost_fields(key)

    def changed_keys(self, kind: Kind, key: Key) -> ChangedKeys | None:
        """The object, if others were seen to change the merge key of one of its list items."""
        store = self._stores.get(kind)
        return None if store is None else store.changed_keys(key)

    def _handle(self, change: ObjectChange[Any]) -> None:
        if change.kind not in self._every_change and not _is_relevant(change):
            return
        lane, is_repair = _lane(change), not change.initial and needs_repair(change)
        for key in dict.fromkeys(map(tenant_of, self._own_sides(change))):
            if key is not None:
                self.channel.enqueue(key, lane)
                if is_repair:
                    self.unrepaired.add(key)

    def _own_sides(self, change: ObjectChange[Any]) -> list[HasMetadata]:
        """The object before and after, where it belongs to this part: the store of Secrets of part 0 has values of
        others."""
        sides = (change.old, change.new)
        return [live for live in sides if live is not None and self._part.has(live.metadata)]
