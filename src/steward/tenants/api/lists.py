"""The sixteen lists of resources: their names, the kinds that they are meant for, and their order. Pure.

Both specs declare the lists as fields, because the schema takes descriptions from fields; code that handles all of
them uses this table.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from steward.kube.objects import kinds
from steward.kube.objects.kinds import Kind
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET, Unset

if TYPE_CHECKING:
    from steward.tenants.api.template import TenantTemplateSpec
    from steward.tenants.api.tenant import TenantSpec


class ResourceList(NamedTuple):
    attribute: str
    kind: Kind | None
    """The kind that the list is meant for; None for any kind."""

    @property
    def field(self) -> str:
        """Its name in manifests."""
        return field_name(self.attribute)


def field_name(attribute: str) -> str:
    """The name in manifests: `configMaps` for `config_maps`."""
    first, *rest = attribute.split("_")
    return first + "".join(word.capitalize() for word in rest)


LISTS: Final = (
    ResourceList("service_accounts", kinds.SERVICE_ACCOUNT),
    ResourceList("deployments", kinds.DEPLOYMENT),
    ResourceList("stateful_sets", kinds.STATEFUL_SET),
    ResourceList("daemon_sets", kinds.DAEMON_SET),
    ResourceList("services", kinds.SERVICE),
    ResourceList("ingresses", kinds.INGRESS),
    ResourceList("config_maps", kinds.CONFIG_MAP),
    ResourceList("secrets", kinds.SECRET),
    ResourceList("persistent_volume_claims", kinds.PERSISTENT_VOLUME_CLAIM),
    ResourceList("jobs", kinds.JOB),
    ResourceList("cron_jobs", kinds.CRON_JOB),
    ResourceList("pod_disruption_budgets", kinds.POD_DISRUPTION_BUDGET),
    ResourceList("network_policies", kinds.NETWORK_POLICY),
    ResourceList("horizontal_pod_autoscalers", kinds.HORIZONTAL_POD_AUTOSCALER),
    ResourceList("namespaces", kinds.NAMESPACE),
    ResourceList("manifests", None),
)
KINDS: Final = tuple(each.kind for each in LISTS if each.kind is not None)


class ListedResource(NamedTuple):
    """A resource, and the list that contains it."""

    list: ResourceList
    resource: TResource


def list_resources(spec: "TenantTemplateSpec | TenantSpec") -> Iterator[ListedResource]:
    """All resources of a spec, in the order of the lists."""
    for each in LISTS:
        found: list[TResource] | Unset = getattr(spec, each.attribute)
        for resource in () if found is UNSET else found:
            yield ListedResource(each, resource)
