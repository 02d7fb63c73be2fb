"""Decides from the caches what a Tenant may write, and wakes Tenants when a Namespace opens or closes to them.

Two stores are enough for every decision: Namespaces that Tenants created, which are watched anyway, and Namespaces with
the label `allow-templates-from`. An unchanged Tenant therefore costs no request. Rejected: reading the Namespace of
each object, and caching all Namespaces of the cluster.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from steward.kube.cache.store import ObjectChange, Store
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import NAMESPACE, SERVICE_ACCOUNT, Key
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.manager.settings import Settings
from steward.runtime.partition import Partition
from steward.runtime.reconcile import Lane
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.common.child_watches import ChildWatches, child_rule
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.tenant.state import NamespaceDependents
from steward.tenants.labels import TENANT, TENANT_NAMESPACE
from steward.tenants.objects.access import TenantAccess, TenantScope
from steward.tenants.objects.desired import DesiredObject
from steward.tenants.objects.permissions import OWN_SCOPE
from steward.tenants.views import Tenant


class CachedScope:
    """What the caches say; `siblings` has the templates of Tenants that this process does not cache."""

    def __init__(
        self, stores: tuple[Store[Any], ...], tenants: Store[Tenant], children: ChildWatches
    ) -> None:
        self._stores = stores
        self._tenants = tenants
        self._children = children
        self.siblings: Mapping[Key, str] = {}

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        views = [store.get(Key("", name)) for store in self._stores]
        return {label: value for view in views if view for label, value in view.metadata.labels.items()}

    def template_of(self, tenant: Key) -> str:
        cached = self._tenants.get(tenant)
        return self.siblings.get(tenant, "") if cached is None else cached.spec.template_ref

    def account(self, key: Key) -> ObjectMeta | None:
        cached = self._children.get(SERVICE_ACCOUNT, key)
        return None if cached is None else cached.metadata

    def with_siblings(self, siblings: Mapping[Key, str]) -> "CachedScope":
        found = CachedScope(self._stores, self._tenants, self._children)
        found.siblings = siblings
        return found


class AccessResolver:
    def __init__(self, context: TenantsContext, children: ChildWatches) -> None:
        self.permissions = context.permissions
        self._context = context
        self._channel = children.channel
        self._dependents = NamespaceDependents()
        stores = self._namespace_stores()
        for store in stores:
            store.subscribe(self._wake_dependents)
        self._live = CachedScope(stores, context.store(context.rules.tenant), children)

    def _namespace_stores(self) -> tuple[Store[Any], ...]:
        """None where no decision depends on Namespaces: then the operator may lack the permission to list them."""
        permissions = self.permissions
        if permissions.no_cross_namespace or permissions.template_scope != OWN_SCOPE:
            return ()
        created = child_rule(NAMESPACE, _whole_fleet(self._context.settings))
        return self._context.store(created), self._context.store(self._context.rules.open_namespace)

    async def access(self, document: TenantDocument, desired: Iterable[DesiredObject]) -> TenantAccess:
        """What the Tenant may write. From now on, a change of the Namespaces that this depends on wakes it."""
        objects = tuple(desired)
        scope = TenantScope(document.owner, document.spec.template_ref, document.service_account)
        access = TenantAccess(scope.with_objects(objects), self.permissions, self._live)
        others = _other_namespaces(access, objects) if access.is_limited else frozenset()
        self._dependents.set(document.ref.key, others)
        if not others or self._context.settings.partition.total == 1:
            return access
        return access._replace(live=self._live.with_siblings(await self._siblings(scope, others)))

    def forget(self, tenant: Key) -> None:
        self._dependents.set(tenant, frozenset())

    async def _siblings(self, scope: TenantScope, namespaces: frozenset[str]) -> dict[Key, str]:
        """With `--shard`, the Tenant that created a namespace may be in a part that this process does not cache."""
        labels = map(self._live.namespace_labels, namespaces)
        home = scope.owner.namespace
        names = {each.get(TENANT, "") for each in labels if each.get(TENANT_NAMESPACE) == home} - {""}
        tenants = [Key(home, name) for name in sorted(names)]
        return {key: await self._read_template(key) for key in tenants if not self._live.template_of(key)}

    async def _read_template(self, tenant: Key) -> str:
        try:
            return (await self._context.client.get(TENANT_KIND, tenant, Tenant)).spec.template_ref
        except NotFound:
            return ""

    def _wake_dependents(self, change: ObjectChange[Any]) -> None:
        old, new = change.old, change.new
        if old is not None and new is not None and old.metadata.labels == new.metadata.labels:
            return
        for key in self._dependents.tenants_in(change.key.name):
            self._channel.enqueue(key, Lane.SLOW if change.initial else Lane.FAST)


def _other_namespaces(access: TenantAccess, objects: tuple[DesiredObject, ...]) -> frozenset[str]:
    """Namespaces of the objects that the Tenant does not create itself."""
    found = {each.ref.key.namespace for each in objects}
    return frozenset(found - {"", access.scope.owner.namespace} - access.scope.namespaces)


def _whole_fleet(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, partition=Partition())


def is_refused(desired: DesiredObject, access: TenantAccess) -> bool:
    refusal = access.refusal(desired)
    return refusal is not None and not refusal.is_pending


def without_unapplied(
    desired: tuple[DesiredObject, ...], document: TenantDocument, access: TenantAccess
) -> tuple[DesiredObject, ...]:
    """The objects to record: not those that the Tenant may not write, unless they were applied when it still might.

    A record would let the deletion of the Tenant delete an object of that name that was given the Tenant's labels.
    """
    recorded = frozenset(document.recorded_objects)
    return tuple(each for each in desired if each.applied_ref in recorded or not is_refused(each, access))
