"""MultigresBackup: one backup of one shard. Users create it, or the schedule of a cluster does."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.scalars import (
    UNSET,
    ApiStruct,
    ClusterName,
    DatabaseName,
    ShardName,
    TableGroupName,
    Unset,
)
from steward.multigres.api.status import Conditions

BackupType = Literal["full", "differential", "incremental"]
BackupPhase = Literal["Pending", "Requested", "Running", "Completed", "Failed"]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


class MultigresBackupSpec(ApiStruct):
    """Which shard is backed up, and how. Cannot be changed: create another object for another backup."""

    cluster: ClusterName
    """The MultigresCluster, in the same namespace."""
    database: DatabaseName | Unset = UNSET
    """The database; postgres when left out."""
    table_group: TableGroupName | Unset = UNSET
    """The table group; default when left out."""
    shard: ShardName | Unset = UNSET
    """The shard; 0-inf when left out."""
    type: BackupType | Unset = UNSET
    """full (when left out), differential: changes since the last full backup, or incremental: since the last backup."""
    rules: ClassVar = (
        Cel("self == oldSelf", "the spec cannot be changed: create another MultigresBackup instead"),
    )


class MultigresBackupStatus(ApiStruct):
    """Observed state."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status describes."""
    conditions: Conditions | Unset = UNSET
    """Ready: the backup is in the repository. Stalled: it has failed."""
    phase: BackupPhase | Unset = UNSET
    """Pending, Requested, Running, Completed or Failed."""
    message: str | Unset = UNSET
    """Summary in one sentence."""
    requested_at: Time | Unset = UNSET
    """When the data plane was asked for the backup; written before it is asked."""
    previous_backup: str | Unset = UNSET
    """The newest backup in the repository before that: a later one is this one."""
    attempts: int | Unset = UNSET
    """How often the data plane was asked."""
    job: str | Unset = UNSET
    """The job of multiadmin."""
    backup_id: str | Unset = UNSET
    """The backup in the repository."""
    repository: str | Unset = UNSET
    """Where the repository is."""
    type: BackupType | Unset = UNSET
    """What was made: a differential or incremental backup becomes a full one if there is none to build on."""
    size_bytes: Annotated[int, Meta(ge=0)] | Unset = UNSET
    """Size of the database at that time."""
    start_lsn: str | Unset = UNSET
    """Position in the WAL at which the backup begins."""
    stop_lsn: str | Unset = UNSET
    """Position in the WAL that a restore must reach."""
    started_at: Time | Unset = UNSET
    """When the backup began."""
    stopped_at: Time | Unset = UNSET
    """When the backup was complete."""
    server: str | Unset = UNSET
    """The Postgres server that it was taken from."""
    error: str | Unset = UNSET
    """Why it failed."""


class MultigresBackup(ApiStruct):
    """One backup of one shard. Deleting the object leaves the backup in its repository."""

    metadata: Metadata
    spec: MultigresBackupSpec
    status: MultigresBackupStatus | Unset = UNSET


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "MultigresBackup",
    "multigresbackups",
    MultigresBackup,
    short_names=("mgb",),
    columns=(
        Column("Cluster", ".spec.cluster"),
        Column("Phase", ".status.phase"),
        Column("Type", ".status.type"),
        Column("Backup", ".status.backupId"),
        Column("Bytes", ".status.sizeBytes", "integer"),
        Column("Database", ".spec.database", priority=1),
        Column("Shard", ".spec.shard", priority=1),
        Column("Server", ".status.server", priority=1),
        Column("Message", ".status.message", priority=1),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
