"""The objects that the operator caches: its own three kinds, of Secrets only those that belong to a Tenant, and of
Namespaces only those that are open to templates of others.

With `--shard=N/M` the Tenant controller watches only its own buckets, so that memory is divided like the work.
Registries and templates are reconciled by part 0, which therefore watches every Tenant and every values Secret. Its
Tenant controller reads its own part from the same stores: with stores of its own this process would receive, decode
and keep these objects twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule, Selector, parse_selector
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import HasMetadata, Metadata, ObjectMeta
from steward.runtime.partition import Partition
from steward.tenants.api.group import API_VERSION
from steward.tenants.labels import ALLOW_TEMPLATES_FROM, BUCKET, FIELD_MANAGER, TENANT, TENANT_NAMESPACE
from steward.tenants.labels import TEMPLATE as TEMPLATE_LABEL
from steward.tenants.names import BUCKETS, bucket
from steward.tenants.views import Registry, Revision, Template, Tenant, TenantSecret, is_named_as_values

REGISTRY = Kind(API_VERSION, "TenantRegistry")
TEMPLATE = Kind(API_VERSION, "TenantTemplate")
TENANT_KIND = Kind(API_VERSION, "Tenant")

LISTED_FIRST: Final = kinds.NAMESPACE
"""What a Tenant may write depends on Namespaces. All other objects of Tenants are listed last."""

T = TypeVar("T", bound=HasMetadata)


@dataclass(frozen=True)
class FleetPart:
    """The Tenants that one process applies, by the bucket label that they and their objects have. A value and not a
    function, because equal rules share one store."""

    selector: Selector

    def has(self, meta: ObjectMeta) -> bool:
        """Whether a Tenant or an object of a Tenant belongs to this part. The label decides, as in the watches of the
        other parts, so that a Tenant whose label was edited is not applied by two processes."""
        return self.selector.matches(meta.labels)

    __call__ = has

    def has_named(self, tenant: str) -> bool:
        """Whether the Tenant of this name belongs to this part once it is written."""
        return self.selector.matches({BUCKET: bucket(tenant)})


WHOLE_FLEET: Final = FleetPart(parse_selector(""))


class FleetScope(NamedTuple):
    """The namespaces and the part of the fleet that a process reconciles."""

    namespaces: tuple[str, ...] = ()
    partition: Partition = Partition()
    no_cross_namespace: bool = False
    """Whether Tenants have objects in their own namespace only."""

    @property
    def part(self) -> FleetPart:
        return FleetPart(parse_selector(bucket_selector(self.partition)))

    @property
    def has_whole_fleet(self) -> bool:
        """Whether this process reconciles the registries and templates."""
        return self.partition.number == 0

    @property
    def has_others(self) -> bool:
        """Whether this process caches Tenants that another one applies."""
        return self.has_whole_fleet and self.partition.total > 1


@dataclass(frozen=True)
class PartAndValues:
    """Accepts the Secrets of a part, and of the other parts the values: those that their Tenants apply would be as much
    memory again."""

    part: FleetPart

    def __call__(self, secret: ObjectMeta) -> bool:
        return is_named_as_values(secret) or self.part.has(secret)


class TenantsCacheRules:
    """The cache rules for the namespaces and the part of the fleet that this process reconciles."""

    def __init__(self, scope: FleetScope) -> None:
        self.namespaces = scope.namespaces or (EVERY_NAMESPACE,)
        whole = self._selected("")
        part = whole if scope.has_whole_fleet else self._selected(bucket_selector(scope.partition))
        self.registry = CacheRule(REGISTRY, Registry, whole, owned_by=FIELD_MANAGER)
        self.template = CacheRule(TEMPLATE, Template, whole, owned_by=FIELD_MANAGER)
        reports = scope.part if scope.has_others else None
        self.tenant = CacheRule(TENANT_KIND, Tenant, part, owned_by=FIELD_MANAGER, reports=reports)
        """For the Tenant controller: the Tenants of its part, in part 0 all."""
        self.every_tenant = CacheRule(TENANT_KIND, Tenant, whole, owned_by=FIELD_MANAGER, reports=reports)
        """For registries and templates: all Tenants."""
        self.revision = CacheRule(
            kinds.CONTROLLER_REVISION, Revision, self._selected(TEMPLATE_LABEL), owned_by=FIELD_MANAGER
        )
        """The active revisions of templates."""
        self.secret = object_rule(kinds.SECRET, TenantSecret, scope)
        """All Secrets of this part's Tenants; in part 0 also the values Secrets of all others, for registries."""
        self.open_namespace = CacheRule(kinds.NAMESPACE, Metadata, {EVERY_NAMESPACE: ALLOW_TEMPLATES_FROM})
        """Namespaces whose owners let templates of other namespaces in."""

    def _selected(self, selector: str) -> Mapping[str, str]:
        return dict.fromkeys(self.namespaces, selector)


def object_rule(kind: Kind, view: type[T], scope: FleetScope) -> CacheRule[T]:
    """The objects of this part's Tenants. Part 0 also needs the values Secrets of all others, which no selector can
    tell from other Secrets."""
    is_last = kind != LISTED_FIRST
    has_others = kind == kinds.SECRET and scope.has_others
    return CacheRule(
        kind,
        view,
        _object_selectors(scope, "" if has_others else bucket_selector(scope.partition)),
        owned_by=FIELD_MANAGER,
        accepts=PartAndValues(scope.part) if has_others else None,
        fills_last=is_last,
    )


def _object_selectors(scope: FleetScope, part: str) -> dict[str, str]:
    """Tenants of the watched namespaces may have objects in any other namespace, unless `no_cross_namespace` is set."""
    of_this_part = f",{part}" if part else ""
    if not scope.namespaces:
        return {EVERY_NAMESPACE: TENANT + of_this_part}
    if scope.no_cross_namespace:
        return dict.fromkeys(scope.namespaces, TENANT + of_this_part)
    return {EVERY_NAMESPACE: f"{TENANT_NAMESPACE} in ({','.join(scope.namespaces)}){of_this_part}"}


def bucket_selector(partition: Partition) -> str:
    if partition.total == 1:
        return ""
    buckets = ",".join(
        str(number) for number in range(BUCKETS) if number % partition.total == partition.number
    )
    return f"{BUCKET} in ({buckets})"
