"""Which objects Steward keeps in memory: its own three kinds, and of Secrets only those that belong to a Tenant.

With `--shard=N/M` the Tenant controller watches its own buckets alone, so that memory splits with the work. Registries
and templates are looked after by part 0, which therefore sees every Tenant.
"""

from collections.abc import Mapping

from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import Metadata
from steward.runtime.manager.settings import Shard
from steward.tenants.api.group import API_VERSION
from steward.tenants.labels import BUCKET, FIELD_MANAGER, TENANT
from steward.tenants.labels import TEMPLATE as TEMPLATE_LABEL
from steward.tenants.names import BUCKETS
from steward.tenants.views import Registry, Revision, Template, Tenant

REGISTRY = Kind(API_VERSION, "TenantRegistry")
TEMPLATE = Kind(API_VERSION, "TenantTemplate")
TENANT_KIND = Kind(API_VERSION, "Tenant")


class Rules:
    """The cache rules of the operator, for the namespaces and the part of the fleet that it looks after."""

    def __init__(self, namespaces: tuple[str, ...] = (), shard: Shard | None = None) -> None:
        self.everywhere = namespaces or (EVERY_NAMESPACE,)
        whole = self._selected("")
        part = self._selected(bucket_selector(shard or Shard()))
        self.registry = CacheRule(REGISTRY, Registry, whole, owned_by=FIELD_MANAGER)
        self.template = CacheRule(TEMPLATE, Template, whole, owned_by=FIELD_MANAGER)
        self.tenant = CacheRule(TENANT_KIND, Tenant, part, owned_by=FIELD_MANAGER)
        """Those of this part of the fleet: what the Tenant controller is about."""
        self.every_tenant = CacheRule(TENANT_KIND, Tenant, whole, owned_by=FIELD_MANAGER)
        """What registries and templates count. The same rule, and so the same store, where there is only one part."""
        self.revision = CacheRule(
            kinds.CONTROLLER_REVISION, Revision, self._selected(TEMPLATE_LABEL), owned_by=FIELD_MANAGER
        )
        """The content of templates that is in force."""
        self.secret = CacheRule(kinds.SECRET, Metadata, self._selected(TENANT), owned_by=FIELD_MANAGER)
        """Secrets that a Tenant applies, and `{tenant}-values`: all carry the label with the Tenant's name."""

    def _selected(self, selector: str) -> Mapping[str, str]:
        return dict.fromkeys(self.everywhere, selector)


def bucket_selector(shard: Shard) -> str:
    if shard.of == 1:
        return ""
    buckets = ",".join(str(number) for number in range(BUCKETS) if number % shard.of == shard.number)
    return f"{BUCKET} in ({buckets})"
