"""The objects that the operator caches: its own three kinds, of Secrets only those that belong to a Tenant, and of
Namespaces only those that are open to templates of others.

With `--shard=N/M` the Tenant controller watches only its own buckets, so that memory is divided like the work.
Registries and templates are reconciled by part 0, which therefore watches every Tenant.
"""

from collections.abc import Mapping

from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import Metadata
from steward.runtime.partition import Partition
from steward.tenants.api.group import API_VERSION
from steward.tenants.labels import ALLOW_TEMPLATES_FROM, BUCKET, FIELD_MANAGER, TENANT
from steward.tenants.labels import TEMPLATE as TEMPLATE_LABEL
from steward.tenants.names import BUCKETS
from steward.tenants.views import Registry, Revision, Template, Tenant

REGISTRY = Kind(API_VERSION, "TenantRegistry")
TEMPLATE = Kind(API_VERSION, "TenantTemplate")
TENANT_KIND = Kind(API_VERSION, "Tenant")


class TenantsCacheRules:
    """The cache rules for the namespaces and the part of the fleet that this process reconciles."""

    def __init__(self, namespaces: tuple[str, ...] = (), partition: Partition | None = None) -> None:
        self.namespaces = namespaces or (EVERY_NAMESPACE,)
        whole = self._selected("")
        part = self._selected(bucket_selector(partition or Partition()))
        self.registry = CacheRule(REGISTRY, Registry, whole, owned_by=FIELD_MANAGER)
        self.template = CacheRule(TEMPLATE, Template, whole, owned_by=FIELD_MANAGER)
        self.tenant = CacheRule(TENANT_KIND, Tenant, part, owned_by=FIELD_MANAGER)
        """The Tenants of this part of the fleet, for the Tenant controller."""
        self.every_tenant = CacheRule(TENANT_KIND, Tenant, whole, owned_by=FIELD_MANAGER)
        """All Tenants, for registries and templates. The same rule, and so the same store, without `--shard`."""
        self.revision = CacheRule(
            kinds.CONTROLLER_REVISION, Revision, self._selected(TEMPLATE_LABEL), owned_by=FIELD_MANAGER
        )
        """The active revisions of templates."""
        self.secret = CacheRule(
            kinds.SECRET, Metadata, self._selected(TENANT), owned_by=FIELD_MANAGER, fills_last=True
        )
        """Secrets that a Tenant applies, and values Secrets: all have the label with the name of the Tenant."""
        self.open_namespace = CacheRule(kinds.NAMESPACE, Metadata, {EVERY_NAMESPACE: ALLOW_TEMPLATES_FROM})
        """Namespaces whose owners let templates of other namespaces in."""

    def _selected(self, selector: str) -> Mapping[str, str]:
        return dict.fromkeys(self.namespaces, selector)


def bucket_selector(partition: Partition) -> str:
    if partition.total == 1:
        return ""
    buckets = ",".join(
        str(number) for number in range(BUCKETS) if number % partition.total == partition.number
    )
    return f"{BUCKET} in ({buckets})"
