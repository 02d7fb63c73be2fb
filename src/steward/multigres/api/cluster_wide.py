"""Fields of a cluster that its children inherit, declared once.

The builders in `multigres.objects` copy every field that is declared here from a parent to its children: a new field
needs no further copying code. `property_order` only keeps the order of the properties in the CRDs; fields that it
does not name come last.
"""

from typing import Annotated, ClassVar

from msgspec import Meta

from steward.multigres.api.images import Images
from steward.multigres.api.observability import LogLevels, Observability
from steward.multigres.api.postgres import PasswordSecret
from steward.multigres.api.scalars import (
    UNSET,
    ApiStruct,
    CellName,
    DurabilityPolicy,
    ObjectName,
    PodVersion,
    Unset,
)
from steward.multigres.api.topo import TopologyReconciliation, TopoReference

CellNodeLabels = Annotated[dict[CellName, Annotated[dict[str, str], Meta(max_length=4)]], Meta(max_length=50)]


class TopoServerRef(ApiStruct):
    """A TopoServer in the same namespace. It is not deleted while it is referenced."""

    name: ObjectName
    """Its name."""


class ClusterWide(ApiStruct, kw_only=True):
    """Fields of the cluster that Cells, TableGroups and Shards all have."""

    images: Images | Unset = UNSET
    """Images of the containers."""
    global_topo_server: TopoReference | Unset = UNSET
    """The topology server of the whole cluster."""
    topo_server_ref: TopoServerRef | Unset = UNSET
    """The TopoServer behind `globalTopoServer`, if the operator runs it."""
    topology_reconciliation: TopologyReconciliation | Unset = UNSET
    """What the operator does in the topology server."""
    observability: Observability | Unset = UNSET
    """Telemetry of the containers."""
    log_levels: LogLevels | Unset = UNSET
    """Log levels of the containers."""
    objects_version: PodVersion | Unset = UNSET
    """The version of the pods that the operator builds; 1 when left out."""
    property_order: ClassVar[tuple[str, ...]] = ()


class TableGroupWide(ClusterWide, kw_only=True):
    """Fields of a TableGroup that its Shards have as well."""

    durability_policy: DurabilityPolicy | Unset = UNSET
    """How many servers must hold a commit."""
    cell_topology_labels: CellNodeLabels | Unset = UNSET
    """Node labels of each cell."""
    postgres_password_secret_ref: PasswordSecret | Unset = UNSET
    """The Secret with the superuser's password."""
