"""How far the Tenants of a registry are, for whoever counts them before writing more: never more than `maxSkew`.

A Tenant that was written counts until the API server itself, asked after the write, says that it is rolled out. To list
the fleet at every turn keeps that promise too, but a Tenant holds its objects: a rollout over thousands would read the
whole fleet, tens of megabytes, once a second. So the cache, which has our own writes as soon as they are answered, only
tells who may have finished, and each of those is asked for once, by name. That is one read for each Tenant and version.

All are listed where we know of nobody: at the first turn of a term, since the leader before us, or this process before
it was killed, may have written what no cache shows yet. And once more before a rollout is given up, which stands until
somebody edits the template. Names are noted before they are written, so that a write whose answer is lost counts as
well.

A list of metadata alone, to compare versions with the cache, was rejected: it still grows with the fleet at every turn.
So was the word of the cache alone: it is late by as much as its watch is, and that may be silent for a minute.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.options import ListQuery
from steward.tenants import labels
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.controllers.common.concurrency import together
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.fleet.fleet import is_ready
from steward.tenants.names import label_value
from steward.tenants.rendering.tenant_manifest import WantedTenant
from steward.tenants.views import Tenant

ONE_BY_ONE: Final = 50
"""When more than these have finished since the last turn, a list of all is cheaper than to ask for each."""

Names = frozenset[str]
States = Mapping[str, Tenant]


def is_updated(wanted: WantedTenant, states: States) -> bool:
    """Whether the Tenant has the version of its template that is in force."""
    tenant = states.get(wanted.name)
    return tenant is not None and tenant.spec.template_generation == wanted.template.generation


def is_under_way(wanted: WantedTenant, states: States) -> bool:
    return is_updated(wanted, states) and not is_ready(states[wanted.name])


def under_way(wanted: Iterable[WantedTenant], states: States) -> Names:
    return frozenset(each.name for each in wanted if is_under_way(each, states))


class FleetStates:
    def __init__(self, context: ControllerContext) -> None:
        self._context = context

    async def of(self, wanted: Sequence[WantedTenant], registry: ObjectMeta, counted: Names | None) -> States:
        """By name, the Tenants of a registry. Those that counted at the last turn are who may have finished since."""
        if counted is None:
            return await self.listed(registry)
        fleet = self._context.fleets.of(Key(registry.namespace, registry.name))
        cached = {tenant.metadata.name: tenant for tenant in fleet}
        doubtful = [each.name for each in wanted if each.name in counted and not is_under_way(each, cached)]
        if len(doubtful) > ONE_BY_ONE:
            return await self.listed(registry)
        return await self._with_word_of_the_server(cached, doubtful, registry.namespace)

    async def _with_word_of_the_server(self, cached: States, names: list[str], namespace: str) -> States:
        told = await together(self._told(Key(namespace, name)) for name in names)
        known = {**cached, **dict(zip(names, told, strict=True))}
        return {name: tenant for name, tenant in known.items() if tenant is not None}

    async def _told(self, key: Key) -> Tenant | None:
        try:
            return await self._context.client.get(TENANT_KIND, key, Tenant)
        except NotFound:
            return None

    async def listed(self, registry: ObjectMeta) -> States:
        selector = f"{labels.REGISTRY}={label_value(registry.name)}"
        query = ListQuery(namespace=registry.namespace, label_selector=selector)
        found = await self._context.client.list(TENANT_KIND, query, Tenant)
        return {tenant.metadata.name: tenant for tenant in found.items}
