"""CoreTemplate: global topology server and multiadmin of the clusters that use it."""

from typing import ClassVar

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.compute import Stateless
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.scalars import UNSET, ApiStruct, Unset, Verbatim, reject_sections
from steward.multigres.api.topo import TemplatedTopoServer


class TemplatedAdmin(ApiStruct):
    """A singleton of the cluster."""

    spec: Stateless | Unset = UNSET
    """Replicas, resources and scheduling."""


class CoreTemplateSpec(ApiStruct):
    """Cluster-wide components."""

    global_topo_server: TemplatedTopoServer | Unset = UNSET
    """The topology server of the whole cluster."""
    multiadmin: TemplatedAdmin | Unset = UNSET
    """The admin service."""
    multiadmin_web: TemplatedAdmin | Unset = UNSET
    """The admin service's web page."""
    multi_gateway: Verbatim | Unset = UNSET
    """Rejected: belongs in a CellTemplate."""
    local_topo_server: Verbatim | Unset = UNSET
    """Rejected: belongs in a CellTemplate."""
    multiorch: Verbatim | Unset = UNSET
    """Rejected: belongs in a ShardTemplate."""
    pools: Verbatim | Unset = UNSET
    """Rejected: belongs in a ShardTemplate."""
    rules: ClassVar[tuple[Cel, ...]] = (
        *reject_sections("multiGateway", "localTopoServer", home="CellTemplate"),
        *reject_sections("multiorch", "pools", home="ShardTemplate"),
    )


class CoreTemplate(ApiStruct):
    """A template for cluster-wide components, referenced in `templateRef` or `templateDefaults.coreTemplate`. A
    template named `default` applies to every cluster of the namespace that references none."""

    metadata: Metadata
    spec: CoreTemplateSpec


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "CoreTemplate",
    "coretemplates",
    CoreTemplate,
    short_names=("cot",),
    columns=(Column("Age", ".metadata.creationTimestamp", "date"),),
)
