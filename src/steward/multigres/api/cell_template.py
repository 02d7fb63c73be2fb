"""CellTemplate: how gateways and local topology servers look in cells that use it."""

from typing import ClassVar

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.compute import Stateless
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.scalars import UNSET, Part, Unset, Verbatim
from steward.multigres.api.templates import refuse
from steward.multigres.api.topo import LocalTopoServer


class CellTemplateSpec(Part):
    """A cell."""

    multi_gateway: Stateless | Unset = UNSET
    """The gateways, through which applications reach Postgres."""
    local_topo_server: LocalTopoServer | Unset = UNSET
    """The cell's own topology server. The global one serves the cell when left out."""
    global_topo_server: Verbatim | Unset = UNSET
    """Refused: belongs into a CoreTemplate."""
    multiadmin: Verbatim | Unset = UNSET
    """Refused: belongs into a CoreTemplate."""
    multi_admin: Verbatim | Unset = UNSET
    """Refused: belongs into a CoreTemplate."""
    multiadmin_web: Verbatim | Unset = UNSET
    """Refused: belongs into a CoreTemplate."""
    multiorch: Verbatim | Unset = UNSET
    """Refused: belongs into a ShardTemplate."""
    pools: Verbatim | Unset = UNSET
    """Refused: belongs into a ShardTemplate."""
    rules: ClassVar[tuple[Cel, ...]] = (
        *refuse("globalTopoServer", "multiadmin", "multiAdmin", "multiadminWeb", home="CoreTemplate"),
        *refuse("multiorch", "pools", home="ShardTemplate"),
    )


class CellTemplate(Part):
    """A cell, to be named in `cellTemplate` or `templateDefaults.cellTemplate`. Named `default`, it serves every
    cell of the namespace that names none."""

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
