"""Indexes Tenants by registry, counts them, and counts the changes of each fleet.

An unchanged table is read every few seconds, and iterating over thousands of Tenants each time would be most of the
work of an idle operator. So every change of a Tenant, or of its values Secret, increments a version of its fleet:
whatever was computed at one version is valid until the next. Changes of statuses alone are counted apart: after an edit
of a template thousands of Tenants become ready one after the other, and a sync of the registry reads no status unless a
rollout is limited.
"""

from collections import Counter

from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import Key
from steward.tenants.fleet.fleet import (
    TenantCounts,
    is_status_change,
    owned_index_values,
    registry_index_value,
    registry_index_values,
    template_index_value,
    template_index_values,
)
from steward.tenants.fleet.sizes import FleetSizes, SizesByValue
from steward.tenants.labels import TENANT
from steward.tenants.views import Tenant, TenantSecret, is_named_as_values

BY_REGISTRY = "tenants of a registry"
BY_REGISTRY_AND_OWNED = "tenants of a registry with an owner reference"


class FleetIndex:
    def __init__(self, tenants: Store[Tenant], secrets: Store[TenantSecret]) -> None:
        self.tenants = tenants
        self._versions: Counter[str] = Counter()
        self._status_versions: Counter[str] = Counter()
        self._registries = SizesByValue(registry_index_values)
        self._templates = SizesByValue(template_index_values)
        tenants.add_index(BY_REGISTRY, registry_index_values)
        tenants.add_index(BY_REGISTRY_AND_OWNED, owned_index_values)
        tenants.subscribe(self._on_tenant_change)
        secrets.subscribe(self._on_secret_change)

    def tenants_of(self, registry: Key) -> list[Tenant]:
        return self.tenants.by_index(BY_REGISTRY, registry_index_value(*registry))

    def owned_tenants_of(self, registry: Key) -> list[Tenant]:
        """Those with an owner reference: none that this operator has made."""
        return self.tenants.by_index(BY_REGISTRY_AND_OWNED, registry_index_value(*registry))

    def version(self, registry: Key) -> int:
        """Increases with every change of a Tenant, unless only its status changes, and of its values."""
        return self._versions[registry_index_value(*registry)]

    def status_version(self, registry: Key) -> int:
        """Increases with every change of a status alone."""
        return self._status_versions[registry_index_value(*registry)]

    def sizes(self, registry: Key) -> FleetSizes:
        return self._registries[registry_index_value(*registry)]

    def template_counts(self, template: Key) -> TenantCounts:
        return self._templates[template_index_value(*template)].counts

    def tenant_of_values(self, secret: TenantSecret) -> Tenant | None:
        """The Tenant that a values Secret belongs to; None for any other Secret."""
        meta = secret.metadata
        if not is_named_as_values(meta):
            return None
        return self.tenants.get(Key(meta.namespace, meta.labels.get(TENANT, "")))

    def _on_tenant_change(self, change: ObjectChange[Tenant]) -> None:
        old, new = change.old, change.new
        self._registries.observe(old, new)
        self._templates.observe(old, new)
        if old is not None and new is not None and is_status_change(old, new):
            self._status_versions.update(registry_index_values(new))
            return
        for side in (old, new):
            if side is not None:
                self._versions.update(registry_index_values(side))

    def _on_secret_change(self, change: ObjectChange[TenantSecret]) -> None:
        for side in (change.old, change.new):
            tenant = None if side is None else self.tenant_of_values(side)
            if tenant is not None:
                self._versions.update(registry_index_values(tenant))
