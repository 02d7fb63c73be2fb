"""Shard: orchestrators and pools of one slice of a table group. Made by Steward, never by hand."""

from typing import Annotated

from msgspec import Meta

from steward.kube.crd.schema import Column, CustomKind
from steward.multigres.api.backup import Backup
from steward.multigres.api.cell import TopologyReconciliation, TopoServerRef
from steward.multigres.api.cluster import InitdbArgs, PasswordSecret, PostgresConfig
from steward.multigres.api.compute import MultiOrch, Pools, PvcDeletionPolicy
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.images import Images
from steward.multigres.api.observability import LogLevels, Observability
from steward.multigres.api.scalars import (
    ATOMIC,
    UNSET,
    CellName,
    DatabaseName,
    DurabilityPolicy,
    Part,
    Phase,
    ShardName,
    TableGroupName,
    Unset,
)
from steward.multigres.api.status import Conditions
from steward.multigres.api.topo import TopoReference

CellPlaces = Annotated[dict[CellName, Annotated[dict[str, str], Meta(max_length=4)]], Meta(max_length=50)]


class ShardSpec(Part):
    """Resolved: nothing is inherited any more."""

    shard_name: ShardName
    """The shard's name in its table group."""
    database_name: DatabaseName | Unset = UNSET
    """The database that the shard belongs to."""
    table_group_name: TableGroupName | Unset = UNSET
    """The table group that the shard belongs to."""
    images: Images | Unset = UNSET
    """What runs."""
    global_topo_server: TopoReference | Unset = UNSET
    """The topology server of the whole cluster."""
    topo_server_ref: TopoServerRef | Unset = UNSET
    """The managed topology server that the shard uses."""
    multiorch: MultiOrch | Unset = UNSET
    """The orchestrators."""
    pools: Pools | Unset = UNSET
    """Pools by name."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """What becomes of volumes."""
    backup: Backup | Unset = UNSET
    """Where backups go."""
    durability_policy: DurabilityPolicy | Unset = UNSET
    """How many servers must hold a commit."""
    cell_topology_labels: CellPlaces | Unset = UNSET
    """Node labels of each cell."""
    postgres_config_ref: PostgresConfig | Unset = UNSET
    """Postgres settings."""
    initdb_args: InitdbArgs | Unset = UNSET
    """More arguments for initdb."""
    postgres_password_secret_ref: PasswordSecret | Unset = UNSET
    """The Secret with the superuser's password."""
    topology_reconciliation: TopologyReconciliation | Unset = UNSET
    """What Steward does in the topology server."""
    observability: Observability | Unset = UNSET
    """Telemetry of the shard's containers."""
    log_levels: LogLevels | Unset = UNSET
    """How much the shard's containers say."""


class ShardStatus(Part):
    """What is."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status speaks of."""
    conditions: Conditions | Unset = UNSET
    """Ready, Available, Draining, ConnectionDraining and more."""
    phase: Phase | Unset = UNSET
    """All in one word."""
    message: str | Unset = UNSET
    """All in one sentence."""
    cells: Annotated[list[str], Meta(extra_json_schema=ATOMIC)] | Unset = UNSET
    """Cells in which the shard runs."""
    primary_cell: str | Unset = UNSET
    """The cell that holds the primary."""
    orch_ready: bool | Unset = UNSET
    """Whether all orchestrators are ready."""
    pools_ready: bool | Unset = UNSET
    """Whether all pools are ready."""
    replicas: int | Unset = UNSET
    """How many Postgres servers there are."""
    ready_replicas: int | Unset = UNSET
    """How many Postgres servers are ready."""
    retained_claims: Annotated[list[str], Meta(max_length=200, extra_json_schema=ATOMIC)] | Unset = UNSET
    """Volume claims kept from pools that are gone."""
    backup_certificate: str | Unset = UNSET
    """A digest of the backup service's certificate."""
    backup_certificate_renewals: int | Unset = UNSET
    """How often that changed. Each time the servers are replaced one by one: only a start reads it."""


class Shard(Part):
    """Orchestrators and pools of one slice of a table group. Read-only: change the MultigresCluster instead."""

    metadata: Metadata
    spec: ShardSpec
    status: ShardStatus | Unset = UNSET


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "Shard",
    "shards",
    Shard,
    short_names=("srd",),
    columns=(
        Column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
        Column("Primary", ".status.primaryCell"),
        Column("Phase", ".status.phase"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
