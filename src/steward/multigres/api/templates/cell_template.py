"""CellTemplate: gateways and local topology servers of the cells that use it."""

from typing import ClassVar

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.compute import MultiGateway
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.scalars import UNSET, ApiStruct, Unset, Verbatim, reject_sections
from steward.multigres.api.topo import LocalTopoServer


class CellTemplateSpec(ApiStruct):
    """A cell."""

    multi_gateway: MultiGateway | Unset = UNSET
    """The gateways, through which applications reach Postgres."""
    local_topo_server: LocalTopoServer | Unset = UNSET
    """The cell's own topology server. The global one serves the cell when left out."""
    global_topo_server: Verbatim | Unset = UNSET
    """Rejected: belongs in a CoreTemplate."""
    multiadmin: Verbatim | Unset = UNSET
    """Rejected: belongs in a CoreTemplate."""
    multi_admin: Verbatim | Unset = UNSET
    """Rejected: belongs in a CoreTemplate."""
    multiadmin_web: Verbatim | Unset = UNSET
    """Rejected: belongs in a CoreTemplate."""
    multiorch: Verbatim | Unset = UNSET
    """Rejected: belongs in a ShardTemplate."""
    pools: Verbatim | Unset = UNSET
    """Rejected: belongs in a ShardTemplate."""
    rules: ClassVar[tuple[Cel, ...]] = (
        *reject_sections(
            "globalTopoServer", "multiadmin", "multiAdmin", "multiadminWeb", home="CoreTemplate"
        ),
        *reject_sections("multiorch", "pools", home="ShardTemplate"),
    )


class CellTemplate(ApiStruct):
    """A template for cells, referenced in `cellTemplate` or `templateDefaults.cellTemplate`. A template named `default`
    applies to every cell of the namespace that references none."""

    metadata: Metadata
    spec: CellTemplateSpec


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "CellTemplate",
    "celltemplates",
    CellTemplate,
    short_names=("cet",),
    columns=(Column("Age", ".metadata.creationTimestamp", "date"),),
)
