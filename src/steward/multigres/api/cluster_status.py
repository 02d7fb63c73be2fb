"""The status of a MultigresCluster."""

from typing import Annotated

from msgspec import Meta

from steward.multigres.api.images import UsedImages
from steward.multigres.api.multigres_backup import Time
from steward.multigres.api.scalars import ATOMIC, UNSET, ApiStruct, Phase, Unset
from steward.multigres.api.status import Conditions


class CellSummary(ApiStruct, omit_defaults=False):
    """Summary of a cell."""

    ready: bool = False
    """Whether all gateways of the cell are ready."""
    gateway_replicas: int = 0
    """How many gateways are ready."""


class DatabaseSummary(ApiStruct, omit_defaults=False):
    """Summary of a database."""

    ready_shards: int = 0
    """How many shards are ready."""
    total_shards: int = 0
    """How many shards there are."""


TemplateNames = Annotated[list[str], Meta(extra_json_schema=ATOMIC)]


class ResolvedTemplates(ApiStruct):
    """Templates in use."""

    core_templates: TemplateNames | Unset = UNSET
    """CoreTemplates in use."""
    cell_templates: TemplateNames | Unset = UNSET
    """CellTemplates in use."""
    shard_templates: TemplateNames | Unset = UNSET
    """ShardTemplates in use."""


class ClusterBackupStatus(ApiStruct):
    """The backups of all shards."""

    last_backup_at: Time | Unset = UNSET
    """When the newest backup was complete, of the shard whose newest one is the oldest. Left out while a shard has
    none."""
    next_backup_at: Time | Unset = UNSET
    """When a schedule makes the next backup of a shard."""
    last_backup_bytes: int | Unset = UNSET
    """The size of the data that the newest backups of all shards restore."""
    repository_bytes: int | Unset = UNSET
    """What all backups of all shards take in their repositories. Left out while that of a shard is unknown."""


class MultigresClusterStatus(ApiStruct):
    """Observed state."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status describes."""
    conditions: Conditions | Unset = UNSET
    """Ready, Available, Reconciling, Degraded, Stalled and more."""
    phase: Phase | Unset = UNSET
    """Summary in one word."""
    message: str | Unset = UNSET
    """Summary in one sentence: what the cluster waits for, and since when."""
    cells: dict[str, CellSummary] | Unset = UNSET
    """Cells by name."""
    databases: dict[str, DatabaseSummary] | Unset = UNSET
    """Databases by name."""
    resolved_templates: ResolvedTemplates | Unset = UNSET
    """Templates in use."""
    applied_template_generations: dict[str, int] | Unset = UNSET
    """The active generation of each template, by `Kind/name`."""
    available_template_revision: str | Unset = UNSET
    """The revision that updatePolicy.acceptedRevision would accept."""
    next_update_window: str | Unset = UNSET
    """When the next window opens."""
    gateway_service_name: str | Unset = UNSET
    """The Service through which applications reach Postgres."""
    endpoint: str | Unset = UNSET
    """Host and port of that Service."""
    external_endpoint: str | Unset = UNSET
    """Host and port at which the gateways are reached from outside, with externalGateway."""
    connection_secret: str | Unset = UNSET
    """The Secret that an application mounts: host, port, user, password, dbname, uri and more."""
    gateway_certificate_expiry: str | Unset = UNSET
    """When the certificate of the gateways ends, with gatewayTls. The operator renews its own ones in time."""
    role_secrets: dict[str, str] | Unset = UNSET
    """The Secrets with the accounts of roles, by `database/role`."""
    client_service: str | Unset = UNSET
    """The client Service of the global topology server."""
    peer_service: str | Unset = UNSET
    """The peer Service of the global topology server."""
    retained_claims: Annotated[list[str], Meta(max_length=200, extra_json_schema=ATOMIC)] | Unset = UNSET
    """Volume claims that are kept and not used: of deleted shards, pools and topology servers; the first 200."""
    images: UsedImages | Unset = UNSET
    """The image of each component. Those that spec.images does not name change when the cluster moves to newer pods."""
    backup: ClusterBackupStatus | Unset = UNSET
    """The backups of its shards."""
    components: int | Unset = UNSET
    """The size of the cluster: cells, shards, orchestrators and Postgres servers together. It has a limit."""
