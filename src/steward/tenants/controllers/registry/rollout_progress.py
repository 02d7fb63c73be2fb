"""Reads the progress of a registry's Tenants from the API server, so that no more than `maxSkew` roll out at a time.

A Tenant that was written counts until a read after the write shows that it is rolled out. Listing the fleet for every
batch would do as well, but a Tenant holds its objects: a rollout over thousands would read the whole fleet, tens of
megabytes, once a second. So the cache, which has the operator's own writes as soon as they are answered, only shows
which Tenants may be done, and each of those is read once, by name. That is one read for each Tenant and version.

All are listed when none are known: at the first batch of a leadership term, since the leader before, or this process
before it was killed, may have written Tenants that no cache holds yet. And once more before a rollout is given up,
which lasts until the template is edited. Names are recorded before they are written, so a write whose answer is lost
counts as well.

A list of metadata alone, to compare versions with the cache, was rejected: it still grows with the fleet at every
batch. So was the cache alone: it is as late as its watch, which may be silent for a minute.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.options import ListQuery
from steward.tenants import labels
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.common.concurrency import gather_all
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.fleet.fleet import is_ready
from steward.tenants.names import label_value
from steward.tenants.rendering.tenant_manifest import DesiredTenant
from steward.tenants.views import Tenant

MAX_SINGLE_READS: Final = 50
"""If more than these may be done since the last batch, one list is cheaper than a read of each."""

Names = frozenset[str]
TenantsByName = Mapping[str, Tenant]


def is_updated(desired: DesiredTenant, tenants: TenantsByName) -> bool:
    """Whether the Tenant has the active generation of its template."""
    tenant = tenants.get(desired.name)
    return tenant is not None and tenant.spec.template_generation == desired.template.generation


def is_in_progress(desired: DesiredTenant, tenants: TenantsByName) -> bool:
    return is_updated(desired, tenants) and not is_ready(tenants[desired.name])


def in_progress(desired: Iterable[DesiredTenant], tenants: TenantsByName) -> Names:
    return frozenset(each.name for each in desired if is_in_progress(each, tenants))


class LiveTenants:
    def __init__(self, context: TenantsContext) -> None:
        self._context = context

    async def read(
        self, desired: Sequence[DesiredTenant], registry: ObjectMeta, counted: Names | None
    ) -> TenantsByName:
        """The Tenants of a registry by name. Of those that counted at the last batch, each that may be done is read."""
        if counted is None:
            return await self.list_all(registry)
        fleet = self._context.fleets.tenants_of(Key(registry.namespace, registry.name))
        cached = {tenant.metadata.name: tenant for tenant in fleet}
        may_be_done = [
            each.name for each in desired if each.name in counted and not is_in_progress(each, cached)
        ]
        if len(may_be_done) > MAX_SINGLE_READS:
            return await self.list_all(registry)
        return await self._read_each(cached, may_be_done, registry.namespace)

    async def _read_each(self, cached: TenantsByName, names: list[str], namespace: str) -> TenantsByName:
        live = await gather_all(self._read_one(Key(namespace, name)) for name in names)
        known = {**cached, **dict(zip(names, live, strict=True))}
        return {name: tenant for name, tenant in known.items() if tenant is not None}

    async def _read_one(self, key: Key) -> Tenant | None:
        try:
            return await self._context.client.get(TENANT_KIND, key, Tenant)
        except NotFound:
            return None

    async def list_all(self, registry: ObjectMeta) -> TenantsByName:
        selector = f"{labels.REGISTRY}={label_value(registry.name)}"
        query = ListQuery(namespace=registry.namespace, label_selector=selector)
        found = await self._context.client.list(TENANT_KIND, query, Tenant)
        return {tenant.metadata.name: tenant for tenant in found.items}
