"""The Tenants of each registry, and how often anything about them has changed.

A table at rest is read every few seconds, and to look at thousands of Tenants each time would be most of what an idle
operator does. So every change of a Tenant, or of the Secret with its values, moves the fleet's version on: what was
found out at one version holds until the next.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from steward.kube.cache.store import Change, Store
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import Metadata
from steward.tenants.fleet.fleet import Counts, counted, registry_of, registry_value, template_sizes
from steward.tenants.labels import TENANT
from steward.tenants.names import values_secret
from steward.tenants.views import Tenant

OF_REGISTRY = "tenants of a registry"


class Sizes(NamedTuple):
    counts: Counts
    by_template: Mapping[str, int]
    """How many stay of each template."""


class Fleets:
    def __init__(self, tenants: Store[Tenant], secrets: Store[Metadata]) -> None:
        self.tenants = tenants
        self._versions: Counter[str] = Counter()
        self._sizes: dict[str, tuple[int, Sizes]] = {}
        tenants.add_index(OF_REGISTRY, registry_of)
        tenants.subscribe(self._heard)
        secrets.subscribe(self._heard_of_values)

    def of(self, registry: Key) -> list[Tenant]:
        return self.tenants.by_index(OF_REGISTRY, registry_value(*registry))

    def version(self, registry: Key) -> int:
        return self._versions[registry_value(*registry)]

    def sizes(self, registry: Key) -> Sizes:
        """Counted once for each version."""
        value, version = registry_value(*registry), self.version(registry)
        known = self._sizes.get(value)
        if known is None or known[0] != version:
            fleet = self.of(registry)
            known = self._sizes[value] = (version, Sizes(counted(fleet), template_sizes(fleet)))
        return known[1]

    def tenant_with(self, secret: Metadata) -> Tenant | None:
        """The Tenant whose values the Secret holds."""
        meta = secret.metadata
        name = meta.labels.get(TENANT, "")
        is_values = meta.name == values_secret(name)
        return self.tenants.get(Key(meta.namespace, name)) if is_values else None

    def _heard(self, change: Change[Tenant]) -> None:
        for side in (change.old, change.new):
            if side is not None:
                self._versions.update(registry_of(side))

    def _heard_of_values(self, change: Change[Metadata]) -> None:
        for side in (change.old, change.new):
            tenant = None if side is None else self.tenant_with(side)
            if tenant is not None:
                self._versions.update(registry_of(tenant))
