"""TableGroup: the resolved shards of one group. Created by the operator, not by users."""

from typing import Annotated

from msgspec import Meta

from steward.kube.crd.schema import Column, CustomKind
from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster_wide import TableGroupWide
from steward.multigres.api.compute import MultiOrch, Pools, PvcDeletionPolicy
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.postgres import InitdbArgs, PostgresConfig, PostgresOptions
from steward.multigres.api.scalars import (
    BY_NAME,
    UNSET,
    ApiStruct,
    DatabaseName,
    Phase,
    ShardName,
    TableGroupName,
    Unset,
)
from steward.multigres.api.status import Conditions


class ResolvedShard(ApiStruct):
    """One shard, resolved."""

    name: ShardName
    """The shard's name."""
    multiorch: MultiOrch | Unset = UNSET
    """The orchestrators."""
    pools: Pools | Unset = UNSET
    """Pools by name."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether volumes are kept or deleted."""
    backup: Backup | Unset = UNSET
    """Where backups go."""
    postgres_config_ref: PostgresConfig | Unset = UNSET
    """Postgres settings."""
    postgres: PostgresOptions | Unset = UNSET
    """Options of the Postgres servers."""
    initdb_args: InitdbArgs | Unset = UNSET
    """Additional arguments for initdb."""


class TableGroupSpec(TableGroupWide):
    """Resolved spec: every value is final, nothing is inherited."""

    database_name: DatabaseName
    """The database that the group belongs to."""
    table_group_name: TableGroupName
    """The group's name in its database."""
    default: bool | Unset = UNSET
    """Whether tables that belong to no other group are stored here."""
    shards: Annotated[list[ResolvedShard], Meta(max_length=32, extra_json_schema=BY_NAME)] | Unset = UNSET
    """The shards, resolved."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether volumes are kept or deleted."""
    backup: Backup | Unset = UNSET
    """Where backups go."""
    property_order = (
        "database_name",
        "table_group_name",
        "default",
        "images",
        "global_topo_server",
        "topo_server_ref",
        "shards",
        "pvc_deletion_policy",
        "backup",
        "durability_policy",
        "cell_topology_labels",
        "postgres_password_secret_ref",
        "topology_reconciliation",
        "observability",
        "log_levels",
    )


class TableGroupStatus(ApiStruct):
    """Observed state."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status describes."""
    conditions: Conditions | Unset = UNSET
    """Ready, Available and more."""
    phase: Phase | Unset = UNSET
    """Summary in one word."""
    message: str | Unset = UNSET
    """Summary in one sentence."""
    ready_shards: int | Unset = UNSET
    """How many shards are ready."""
    total_shards: int | Unset = UNSET
    """How many shards there are."""


class TableGroup(ApiStruct):
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
