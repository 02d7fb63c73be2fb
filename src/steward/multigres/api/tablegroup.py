"""TableGroup: holds the resolved shards of one group and makes a Shard of each. Made by Steward, never by hand."""

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
    BY_NAME,
    UNSET,
    DatabaseName,
    DurabilityPolicy,
    Part,
    Phase,
    ShardName,
    TableGroupName,
    Unset,
)
from steward.multigres.api.shard import CellPlaces
from steward.multigres.api.status import Conditions
from steward.multigres.api.topo import TopoReference


class ResolvedShard(Part):
    """One shard, resolved."""

    name: ShardName
    """The shard's name."""
    multiorch: MultiOrch | Unset = UNSET
    """The orchestrators."""
    pools: Pools | Unset = UNSET
    """Pools by name."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """What becomes of volumes."""
    backup: Backup | Unset = UNSET
    """Where backups go."""
    postgres_config_ref: PostgresConfig | Unset = UNSET
    """Postgres settings."""
    initdb_args: InitdbArgs | Unset = UNSET
    """More arguments for initdb."""


class TableGroupSpec(Part):
    """Resolved: nothing is inherited any more."""

    database_name: DatabaseName
    """The database that the group belongs to."""
    table_group_name: TableGroupName
    """The group's name in its database."""
    default: bool | Unset = UNSET
    """Whether tables of no other group land here."""
    images: Images | Unset = UNSET
    """What runs."""
    global_topo_server: TopoReference | Unset = UNSET
    """The topology server of the whole cluster."""
    topo_server_ref: TopoServerRef | Unset = UNSET
    """The managed topology server that the group uses."""
    shards: Annotated[list[ResolvedShard], Meta(max_length=32, extra_json_schema=BY_NAME)] | Unset = UNSET
    """The shards, resolved."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """What becomes of volumes."""
    backup: Backup | Unset = UNSET
    """Where backups go."""
    durability_policy: DurabilityPolicy | Unset = UNSET
    """How many servers must hold a commit."""
    cell_topology_labels: CellPlaces | Unset = UNSET
    """Node labels of each cell."""
    postgres_password_secret_ref: PasswordSecret | Unset = UNSET
    """The Secret with the superuser's password."""
    topology_reconciliation: TopologyReconciliation | Unset = UNSET
    """What Steward does in the topology server."""
    observability: Observability | Unset = UNSET
    """Telemetry of the shards' containers."""
    log_levels: LogLevels | Unset = UNSET
    """How much the shards' containers say."""


class TableGroupStatus(Part):
    """What is."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status speaks of."""
    conditions: Conditions | Unset = UNSET
    """Ready, Available and more."""
    phase: Phase | Unset = UNSET
    """All in one word."""
    message: str | Unset = UNSET
    """All in one sentence."""
    ready_shards: int | Unset = UNSET
    """How many shards are ready."""
    total_shards: int | Unset = UNSET
    """How many shards there are."""


class TableGroup(Part):
    """The shards of one table group. Read-only: change the MultigresCluster instead."""

    metadata: Metadata
    spec: TableGroupSpec
    status: TableGroupStatus | Unset = UNSET


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "TableGroup",
    "tablegroups",
    TableGroup,
    short_names=("tbg",),
    columns=(
        Column("Shards", ".status.readyShards", "integer"),
        Column("Phase", ".status.phase"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
