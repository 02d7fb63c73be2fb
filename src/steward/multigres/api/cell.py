"""Cell: the gateways of one failure domain. Created by the operator, not by users."""

from typing import ClassVar

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.cluster_wide import ClusterWide
from steward.multigres.api.compute import MultiGateway
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.scalars import (
    UNSET,
    ApiStruct,
    CellName,
    CellNames,
    LocationName,
    ObjectName,
    Phase,
    Unset,
)
from steward.multigres.api.status import Conditions
from steward.multigres.api.topo import Etcd, TopoReference


class CellTopoServer(ApiStruct):
    """The topology server with the cell's records; the global one when empty."""

    etcd: Etcd | Unset = UNSET
    """The cell's own, run by the operator."""
    external: TopoReference | Unset = UNSET
    """The cell's own, run outside of the operator."""
    rules: ClassVar = (
        Cel("!(has(self.etcd) && has(self.external))", "give at most one of etcd and external"),
    )


class CellGatewayTls(ApiStruct):
    """TLS between clients and gateways."""

    secret_name: ObjectName
    """The Secret with the certificate."""
    required: bool | Unset = UNSET
    """Whether gateways reject clients without TLS."""


class CellSpec(ClusterWide):
    """Resolved spec: every value is final, nothing is inherited."""

    name: CellName
    """The cell's name in the cluster."""
    zone: LocationName | Unset = UNSET
    """Pods run on nodes of this zone."""
    region: LocationName | Unset = UNSET
    """Pods run on nodes of this region."""
    multi_gateway: MultiGateway | Unset = UNSET
    """The gateways."""
    gateway_tls: CellGatewayTls | Unset = UNSET
    """TLS of the gateways; they offer none when left out."""
    topo_server: CellTopoServer | Unset = UNSET
    """The cell's own topology server."""
    all_cells: CellNames | Unset = UNSET
    """All cells of the cluster, for discovery."""
    property_order = (
        "name",
        "zone",
        "region",
        "images",
        "multi_gateway",
        "gateway_tls",
        "global_topo_server",
        "topo_server",
        "topo_server_ref",
        "all_cells",
        "topology_reconciliation",
        "observability",
        "log_levels",
    )


class CellStatus(ApiStruct):
    """Observed state."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status describes."""
    conditions: Conditions | Unset = UNSET
    """Ready, Available, TopologyRegistered, Draining and more."""
    phase: Phase | Unset = UNSET
    """Summary in one word."""
    message: str | Unset = UNSET
    """Summary in one sentence."""
    gateway_replicas: int | Unset = UNSET
    """How many gateways there are."""
    gateway_ready_replicas: int | Unset = UNSET
    """How many gateways are ready."""
    gateway_service_name: str | Unset = UNSET
    """The Service of this cell's gateways."""


class Cell(ApiStruct):
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
