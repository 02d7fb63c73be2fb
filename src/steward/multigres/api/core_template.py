"""CoreTemplate: how global topology servers and multiadmin look in clusters that use it."""

from typing import ClassVar

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.compute import Stateless
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.scalars import UNSET, Part, Unset, Verbatim
from steward.multigres.api.templates import refuse
from steward.multigres.api.topo import TemplatedTopoServer


class TemplatedAdmin(Part):
    """A singleton of the cluster."""

    spec: Stateless | Unset = UNSET
    """Its shape."""


class CoreTemplateSpec(Part):
    """The core of a cluster."""

    global_topo_server: TemplatedTopoServer | Unset = UNSET
    """The topology server of the whole cluster."""
    multiadmin: TemplatedAdmin | Unset = UNSET
    """The admin service."""
    multiadmin_web: TemplatedAdmin | Unset = UNSET
    """The admin service's web page."""
    multi_gateway: Verbatim | Unset = UNSET
    """Refused: belongs into a CellTemplate."""
    local_topo_server: Verbatim | Unset = UNSET
    """Refused: belongs into a CellTemplate."""
    multiorch: Verbatim | Unset = UNSET
    """Refused: belongs into a ShardTemplate."""
    pools: Verbatim | Unset = UNSET
    """Refused: belongs into a ShardTemplate."""
    rules: ClassVar[tuple[Cel, ...]] = (
        *refuse("multiGateway", "localTopoServer", home="CellTemplate"),
        *refuse("multiorch", "pools", home="ShardTemplate"),
    )


class CoreTemplate(Part):
    """The core of clusters, to be named in `templateRef` or `templateDefaults.coreTemplate`. Named `default`, it serves
    every cluster of the namespace that names none."""

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
