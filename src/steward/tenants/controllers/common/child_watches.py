"""The objects of Tenants as the caches see them: one watch for each kind that a living Tenant uses.

Built-in kinds are watched from the start, others from the moment a Tenant first names them. Only what carries a
Tenant's label is kept (with `--shard`, only what is this part's), and of that only metadata, the few fields that
readiness reads, and what we own. Any change of those wakes the Tenant at once: an edit by hand is put back within a
moment, not at the next pass.
"""

from collections.abc import Iterable
from typing import Any, Final

from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule
from steward.kube.cache.store import Change, Store
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import HasMetadata, Metadata
from steward.kube.objects.readiness_views import observed_view
from steward.runtime.controller.predicates import any_of, child, generation
from steward.runtime.controller.triggers import Channel
from steward.runtime.controller.workqueue import Lane
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.tenants.api.lists import KINDS
from steward.tenants.cache_rules import bucket_selector
from steward.tenants.labels import FIELD_MANAGER, TENANT, TENANT_NAMESPACE

_READY_BY_BEING_THERE: Final = (kinds.SECRET, kinds.CONFIG_MAP, kinds.SERVICE_ACCOUNT)

# What has no generation may have changed in a part that nobody keeps: any new version of it is worth a look.
_is_worth_a_look = any_of(child, generation)


def child_rule(kind: Kind, settings: Settings) -> CacheRule[Any]:
    view: type[Any] = Metadata if kind in _READY_BY_BEING_THERE else observed_view(kind)
    return CacheRule(kind, view, _selectors(settings), owned_by=FIELD_MANAGER)


def _selectors(settings: Settings) -> dict[str, str]:
    """Tenants of some namespaces may have objects in any other, unless that is locked down."""
    part = bucket_selector(settings.shard)
    of_this_part = f",{part}" if part else ""
    if not settings.namespaces:
        return {EVERY_NAMESPACE: TENANT + of_this_part}
    if settings.no_cross_namespace:
        return dict.fromkeys(settings.namespaces, TENANT + of_this_part)
    return {EVERY_NAMESPACE: f"{TENANT_NAMESPACE} in ({','.join(settings.namespaces)}){of_this_part}"}


def tenant_of(seen: HasMetadata) -> Key | None:
    labels = seen.metadata.labels
    name, namespace = labels.get(TENANT), labels.get(TENANT_NAMESPACE)
    return Key(namespace, name) if name and namespace else None


class Children:
    """The stores of all kinds that Tenants use; a change in any of them wakes its Tenant."""

    def __init__(self, manager: Manager, settings: Settings) -> None:
        self.channel = Channel()
        self._manager = manager
        self._settings = settings
        self._stores: dict[Kind, Store[Any]] = {}
        self._followed: set[Kind] = set()
        self.watch(KINDS)

    def watch(self, wanted: Iterable[Kind]) -> None:
        for kind in wanted:
            if kind not in self._stores and self._may_have(kind):
                store = self._manager.store(child_rule(kind, self._settings))
                self._stores[kind] = store
                store.subscribe(self._heard)

    def _may_have(self, kind: Kind) -> bool:
        """Where templates are kept in their namespaces they have no Namespaces, and the right to watch those is one on
        the whole cluster."""
        return kind != kinds.NAMESPACE or not self._settings.no_cross_namespace

    def follow(self, wanted: Iterable[Kind]) -> None:
        """From now on any change of these counts: a rule of the user's may read what no cache keeps."""
        self._followed.update(wanted)

    def store(self, kind: Kind) -> Store[Any]:
        return self._stores[kind]

    def knows(self, kind: Kind) -> bool:
        """Whether all objects of the kind that carry a Tenant's label are in the cache."""
        store = self._stores.get(kind)
        return store is not None and store.synced

    def get(self, kind: Kind, key: Key) -> HasMetadata | None:
        """What the cache holds; None may mean that it is not there, or that it is not (yet) ours."""
        store = self._stores.get(kind)
        found: HasMetadata | None = None if store is None else store.get(key)
        return found

    def _heard(self, change: Change[Any]) -> None:
        if change.kind not in self._followed and not _is_worth_a_look(change):
            return
        lane = Lane.SLOW if change.initial else Lane.FAST
        sides = (change.old, change.new)
        for key in dict.fromkeys(tenant_of(seen) for seen in sides if seen is not None):
            if key is not None:
                self.channel.tell(key, lane)
