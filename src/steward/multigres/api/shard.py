"""Shard: orchestrators and pools of one part of a table group. Created by the operator, not by users."""

from typing import Annotated, Literal

from msgspec import Meta

from steward.kube.crd.schema import Column, CustomKind
from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster_wide import TableGroupWide
from steward.multigres.api.compute import MultiOrch, Pools, PvcDeletionPolicy
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.multigres_backup import BackupType, Time
from steward.multigres.api.postgres import InitdbArgs, PostgresConfig, PostgresOptions
from steward.multigres.api.scalars import (
    ATOMIC,
    UNSET,
    ApiStruct,
    DatabaseName,
    Phase,
    ShardName,
    TableGroupName,
    Unset,
)
from steward.multigres.api.status import Conditions


class ShardSpec(TableGroupWide):
    """Resolved spec: every value is final, nothing is inherited."""

    shard_name: ShardName
    """The shard's name in its table group."""
    database_name: DatabaseName | Unset = UNSET
    """The database that the shard belongs to."""
    table_group_name: TableGroupName | Unset = UNSET
    """The table group that the shard belongs to."""
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
    property_order = (
        "shard_name",
        "database_name",
        "table_group_name",
        "images",
        "global_topo_server",
        "topo_server_ref",
        "multiorch",
        "pools",
        "pvc_deletion_policy",
        "backup",
        "durability_policy",
        "cell_topology_labels",
        "postgres_config_ref",
        "postgres",
        "initdb_args",
        "postgres_password_secret_ref",
        "topology_reconciliation",
        "observability",
        "log_levels",
    )


class ServerStatus(ApiStruct):
    """One Postgres server."""

    pod: str
    """Its pod."""
    state: str
    """Ready, Starting, NotStreaming, Down, Quarantined, Unregistered, Terminating, Missing or Unknown."""
    since: Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
    """Since when it has been in this state."""
    role: Literal["Primary", "Standby"] | Unset = UNSET
    """Primary or Standby; left out while it is neither."""
    cell: str | Unset = UNSET
    """Its cell."""
    pool: str | Unset = UNSET
    """Its pool."""
    lag: str | Unset = UNSET
    """How far a standby is behind the primary, at least; in steps. As WAL, from 64Mi on, or as time, from 30s on."""


class ShardBackupStatus(ApiStruct):
    """The backups of a shard: times, not ages, so that nothing is written while nothing happens."""

    last_backup: str | Unset = UNSET
    """The newest complete backup in the repository."""
    last_backup_type: BackupType | Unset = UNSET
    """Its type."""
    last_backup_at: Time | Unset = UNSET
    """When it was complete."""
    last_backup_bytes: int | Unset = UNSET
    """The size of the data that it restores, whatever its type. What it takes in the repository is less."""
    repository_bytes: int | Unset = UNSET
    """What all backups take in the repository, as pgBackRest reports it: compressed, each file once, without WAL. Left
    out while it is unknown."""
    next_backup_at: Time | Unset = UNSET
    """When the schedule makes the next one."""
    backups: int | Unset = UNSET
    """How many complete backups the repository has."""
    restored_from: str | Unset = UNSET
    """With spec.restore of the cluster: the newest backup that the repository had when the shard was created. Empty if
    it had none."""
    verified_at: Time | Unset = UNSET
    """When all files of the repository were read last."""
    verification_error: str | Unset = UNSET
    """What that found; left out if nothing."""


class ShardStatus(ApiStruct):
    """Observed state."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status describes."""
    conditions: Conditions | Unset = UNSET
    """Ready, Available, Draining, ConnectionDraining and more."""
    phase: Phase | Unset = UNSET
    """Summary in one word."""
    message: str | Unset = UNSET
    """Summary in one sentence."""
    cells: Annotated[list[str], Meta(extra_json_schema=ATOMIC)] | Unset = UNSET
    """Cells in which the shard runs."""
    primary: str | Unset = UNSET
    """The pod of the primary; left out if there is none or it is unknown."""
    primary_cell: str | Unset = UNSET
    """The cell of the primary."""
    servers: Annotated[list[ServerStatus], Meta(max_length=64, extra_json_schema=ATOMIC)] | Unset = UNSET
    """The Postgres servers, by name. Of more than 64, those that are not ready are preferred."""
    orch_ready: bool | Unset = UNSET
    """Whether all orchestrators are ready."""
    pools_ready: bool | Unset = UNSET
    """Whether all pools are ready."""
    replicas: int | Unset = UNSET
    """How many Postgres servers there are."""
    ready_replicas: int | Unset = UNSET
    """How many Postgres servers are ready."""
    retained_claims: Annotated[list[str], Meta(max_length=200, extra_json_schema=ATOMIC)] | Unset = UNSET
    """Volume claims kept from deleted pools."""
    backup: ShardBackupStatus | Unset = UNSET
    """Its backups."""
    backup_certificate: str | Unset = UNSET
    """A digest of the backup service's certificate."""
    backup_certificate_renewals: int | Unset = UNSET
    """How often the certificate changed. Each change restarts the servers, one by one: they only read it at start."""
    backup_certificate_expiry: str | Unset = UNSET
    """When the backup service's certificate ends. The operator renews its own ones in time."""


class Shard(ApiStruct):
    """Orchestrators and pools of one part of a table group. Read-only: change the MultigresCluster instead."""

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
        Column("Primary", ".status.primary"),
        Column("Phase", ".status.phase"),
        Column("Last Backup", ".status.backup.lastBackupAt", "date"),
        Column("Repository Bytes", ".status.backup.repositoryBytes", "integer", priority=1),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
