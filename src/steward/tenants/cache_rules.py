"""The objects that the operator caches: its own three kinds, of Secrets only those that belong to a Tenant, and of
Namespaces only those that are open to templates of others.

With `--shard=N/M` the Tenant controller watches only its own buckets, so that memory is divided like the work.
Registries and templates are reconciled by part 0, which therefore watches every Tenant.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeVar

from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import HasMetadata, Metadata, ObjectMeta
from steward.runtime.partition import Partition
from steward.tenants.api.group import API_VERSION
from steward.tenants.labels import ALLOW_TEMPLATES_FROM, BUCKET, FIELD_MANAGER, TENANT, TENANT_NAMESPACE
from steward.tenants.labels import TEMPLATE as TEMPLATE_LABEL
from steward.tenants.names import BUCKETS, values_secret
from steward.tenants.views import Registry, Revision, Template, Tenant

REGISTRY = Kind(API_VERSION, "TenantRegistry")
TEMPLATE = Kind(API_VERSION, "TenantTemplate")
TENANT_KIND = Kind(API_VERSION, "Tenant")

LISTED_FIRST: Final = kinds.NAMESPACE
"""What a Tenant may write depends on Namespaces. All other objects of Tenants are listed last."""

T = TypeVar("T", bound=HasMetadata)


class FleetScope(NamedTuple):
    """The namespaces and the part of the fleet that a process reconciles."""

    namespaces: tuple[str, ...] = ()
    partition: Partition = Partition()
    no_cross_namespace: bool = False
    """Whether Tenants have objects in their own namespace only."""


class TenantsCacheRules:
    """The cache rules for the namespaces and the part of the fleet that this process reconciles."""

    def __init__(self, scope: FleetScope) -> None:
        self.namespaces = scope.namespaces or (EVERY_NAMESPACE,)
        whole = self._selected("")
        part = self._selected(bucket_selector(scope.partition))
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
        self.secret = self._secret_rule(scope)
        """Values Secrets, for registries. Without `--shard` the rule, and so the store, of all Secrets of Tenants."""
        self.open_namespace = CacheRule(kinds.NAMESPACE, Metadata, {EVERY_NAMESPACE: ALLOW_TEMPLATES_FROM})
        """Namespaces whose owners let templates of other namespaces in."""

    def _selected(self, selector: str) -> Mapping[str, str]:
        return dict.fromkeys(self.namespaces, selector)

    def _secret_rule(self, scope: FleetScope) -> CacheRule[Metadata]:
        if scope.partition.total == 1:
            return object_rule(kinds.SECRET, Metadata, scope)
        # Of the Secrets of other parts only the values: those that Tenants apply would be as much memory again.
        return CacheRule(
            kinds.SECRET,
            Metadata,
            self._selected(TENANT),
            owned_by=FIELD_MANAGER,
            accepts=is_named_as_values,
            fills_last=True,
        )


def object_rule(kind: Kind, view: type[T], scope: FleetScope) -> CacheRule[T]:
    """The objects of this part's Tenants."""
    is_last = kind != LISTED_FIRST
    return CacheRule(kind, view, _object_selectors(scope), owned_by=FIELD_MANAGER, fills_last=is_last)


def _object_selectors(scope: FleetScope) -> dict[str, str]:
    """Tenants of the watched namespaces may have objects in any other namespace, unless `no_cross_namespace` is set."""
    part = bucket_selector(scope.partition)
    of_this_part = f",{part}" if part else ""
    if not scope.namespaces:
        return {EVERY_NAMESPACE: TENANT + of_this_part}
    if scope.no_cross_namespace:
        return dict.fromkeys(scope.namespaces, TENANT + of_this_part)
    return {EVERY_NAMESPACE: f"{TENANT_NAMESPACE} in ({','.join(scope.namespaces)}){of_this_part}"}


def is_named_as_values(secret: ObjectMeta) -> bool:
    """Whether its name is that of the values Secret of its Tenant."""
    return secret.name == values_secret(secret.labels.get(TENANT, ""))


def bucket_selector(partition: Partition) -> str:
    if partition.total == 1:
        return ""
    buckets = ",".join(
        str(number) for number in range(BUCKETS) if number % partition.total == partition.number
    )
    return f"{BUCKET} in ({buckets})"
