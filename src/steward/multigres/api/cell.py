"""Cell: the gateways of one failure domain. Made by Steward, never by hand."""

from typing import ClassVar

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.compute import Stateless
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.images import Images
from steward.multigres.api.observability import LogLevels, Observability
from steward.multigres.api.scalars import (
    UNSET,
    CellName,
    CellNames,
    ObjectName,
    Part,
    Phase,
    Place,
    Unset,
)
from steward.multigres.api.status import Conditions
from steward.multigres.api.topo import Etcd, TopoReference


class CellTopoServer(Part):
    """Which topology server keeps the cell's records: the global one when empty."""

    etcd: Etcd | Unset = UNSET
    """One of its own, run by Steward."""
    external: TopoReference | Unset = UNSET
    """One of its own, run by somebody else."""
    rules: ClassVar = (
        Cel("!(has(self.etcd) && has(self.external))", "give at most one of etcd and external"),
    )


class TopologyReconciliation(Part):
    """What Steward does in the topology server for this cell."""

    register_cell: bool | Unset = UNSET
    """Write the cell's record."""
    prune_tablets: bool | Unset = UNSET
    """Take away records of poolers whose pods are gone."""


class TopoServerRef(Part):
    """A TopoServer of the same namespace, which is not deleted while it is named here."""

    name: ObjectName
    """Its name."""


class CellSpec(Part):
    """Resolved: nothing is inherited any more."""

    name: CellName
    """The cell's name in the cluster."""
    zone: Place | Unset = UNSET
    """Pods run on nodes of this zone."""
    region: Place | Unset = UNSET
    """Pods run on nodes of this region."""
    images: Images | Unset = UNSET
    """What runs."""
    multi_gateway: Stateless | Unset = UNSET
    """The gateways."""
    global_topo_server: TopoReference | Unset = UNSET
    """The topology server of the whole cluster."""
    topo_server: CellTopoServer | Unset = UNSET
    """The cell's own topology server."""
    topo_server_ref: TopoServerRef | Unset = UNSET
    """The managed topology server that the cell uses."""
    all_cells: CellNames | Unset = UNSET
    """All cells of the cluster, for discovery."""
    topology_reconciliation: TopologyReconciliation | Unset = UNSET
    """What Steward does in the topology server."""
    observability: Observability | Unset = UNSET
    """Telemetry of the gateways."""
    log_levels: LogLevels | Unset = UNSET
    """How much the gateways say."""


class CellStatus(Part):
    """What is."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status speaks of."""
    conditions: Conditions | Unset = UNSET
    """Ready, Available, TopologyRegistered, Draining and more."""
    phase: Phase | Unset = UNSET
    """All in one word."""
    message: str | Unset = UNSET
    """All in one sentence."""
    gateway_replicas: int | Unset = UNSET
    """How many gateways there are."""
    gateway_ready_replicas: int | Unset = UNSET
    """How many gateways are ready."""
    gateway_service_name: str | Unset = UNSET
    """The Service of this cell's gateways."""


class Cell(Part):
    """The gateways of one failure domain. Read-only: change the MultigresCluster instead."""

    metadata: Metadata
    spec: CellSpec
    status: CellStatus | Unset = UNSET


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "Cell",
    "cells",
    Cell,
    short_names=("cel",),
    columns=(
        Column("Gateway", ".status.gatewayReadyReplicas", "integer"),
        Column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
        Column("Phase", ".status.phase"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
