"""MultigresCluster: the object that users write. The operator creates all others from it."""

from typing import Annotated, ClassVar

from msgspec import Meta

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster_status import MultigresClusterStatus
from steward.multigres.api.compute import (
    ExternalGateway,
    GatewayTls,
    MultiGateway,
    MultiOrch,
    Pools,
    PvcDeletionPolicy,
    Stateless,
)
from steward.multigres.api.group import GROUP, VERSION
from steward.multigres.api.images import Images
from steward.multigres.api.observability import LogLevels, Observability
from steward.multigres.api.postgres import (
    ApplicationRole,
    InitdbArgs,
    OwnRoleName,
    PasswordSecret,
    PostgresConfig,
    PostgresOptions,
    RemovedRoles,
    RoleEntries,
)
from steward.multigres.api.restore import Restore
from steward.multigres.api.scalars import (
    ATOMIC,
    BY_NAME,
    UNSET,
    ApiStruct,
    CellName,
    ClusterName,
    DatabaseName,
    DurabilityPolicy,
    LocationName,
    ShardName,
    TableGroupName,
    TemplateName,
    Unset,
)
from steward.multigres.api.topo import GlobalTopoServer, LocalTopoServer, TopologyReconciliation
from steward.multigres.api.updates import UpdatePolicy

ONE_SOURCE = Cel("!(has(self.spec) && has(self.templateRef))", "give either spec or templateRef, not both")


class TemplateDefaults(ApiStruct):
    """Templates for every component that names none itself. Templates named `default` apply when left out."""

    core_template: TemplateName | Unset = UNSET
    """A CoreTemplate: the global topology server and multiadmin."""
    cell_template: TemplateName | Unset = UNSET
    """A CellTemplate: the gateways."""
    shard_template: TemplateName | Unset = UNSET
    """A ShardTemplate: orchestrators and pools."""


class Admin(ApiStruct):
    """A singleton of the cluster, defined inline or by a CoreTemplate."""

    spec: Stateless | Unset = UNSET
    """Inline definition. Omitted fields come from built-in defaults, not from a template."""
    template_ref: TemplateName | Unset = UNSET
    """A CoreTemplate whose section defines it."""
    rules: ClassVar = (ONE_SOURCE,)


class CellOverrides(ApiStruct):
    """Merged over the cell's template, field by field."""

    multi_gateway: MultiGateway | Unset = UNSET
    """The gateways."""


class InlineCell(ApiStruct):
    """Inline definition of a cell."""

    multi_gateway: MultiGateway | Unset = UNSET
    """The gateways, through which applications reach Postgres."""
    local_topo_server: LocalTopoServer | Unset = UNSET
    """The cell's own topology server. The global one serves the cell when left out."""


class CellEntry(ApiStruct):
    """A failure domain: one zone or one region with its own gateways."""

    name: CellName | Unset = UNSET
    """The cell's name. The name of its zone or region when left out."""
    zone: LocationName | Unset = UNSET
    """Pods run on nodes whose topology.kubernetes.io/zone is this."""
    region: LocationName | Unset = UNSET
    """Pods run on nodes whose topology.kubernetes.io/region is this."""
    cell_template: TemplateName | Unset = UNSET
    """A CellTemplate that defines the cell."""
    overrides: CellOverrides | Unset = UNSET
    """Merged over the template."""
    spec: InlineCell | Unset = UNSET
    """Inline definition. Excludes cellTemplate and overrides."""
    rules: ClassVar = (
        Cel("!(has(self.zone) && has(self.region))", "give either zone or region, not both"),
        Cel("has(self.name) || has(self.zone) || has(self.region)", "give a name, a zone or a region"),
        Cel(
            "!(has(self.spec) && (has(self.cellTemplate) || has(self.overrides)))",
            "spec describes the whole cell: take away cellTemplate and overrides, or spec",
        ),
    )


class ShardOverrides(ApiStruct):
    """Merged over the shard's template: pools by name, then field by field."""

    multiorch: MultiOrch | Unset = UNSET
    """The orchestrators."""
    pools: Pools | Unset = UNSET
    """Pools by name. A name that the template lacks adds a pool."""
    postgres_config_ref: PostgresConfig | Unset = UNSET
    """Postgres settings in a ConfigMap. A change that needs a restart restarts the servers one at a time."""
    postgres: PostgresOptions | Unset = UNSET
    """Options of the Postgres servers."""
    initdb_args: InitdbArgs | Unset = UNSET
    """Additional arguments for initdb; only used when the shard is created."""


class InlineShard(ApiStruct):
    """Inline definition of a shard."""

    multiorch: MultiOrch | Unset = UNSET
    """The orchestrators."""
    pools: Pools | Unset = UNSET
    """Pools by name."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether the shard's volumes are kept or deleted. Inherits from the table group."""
    postgres_config_ref: PostgresConfig | Unset = UNSET
    """Postgres settings in a ConfigMap. A change that needs a restart restarts the servers one at a time."""
    postgres: PostgresOptions | Unset = UNSET
    """Options of the Postgres servers."""
    initdb_args: InitdbArgs | Unset = UNSET
    """Additional arguments for initdb; only used when the shard is created."""


class ShardEntry(ApiStruct):
    """A part of a table group's rows with its own Postgres servers."""

    name: ShardName
    """The shard's name, unique in its table group."""
    shard_template: TemplateName | Unset = UNSET
    """A ShardTemplate that defines the shard."""
    overrides: ShardOverrides | Unset = UNSET
    """Merged over the template."""
    spec: InlineShard | Unset = UNSET
    """Inline definition. Excludes shardTemplate and overrides."""
    backup: Backup | Unset = UNSET
    """Where this shard's backups go. Inherits from the table group."""
    rules: ClassVar = (
        Cel(
            "!(has(self.spec) && (has(self.shardTemplate) || has(self.overrides)))",
            "spec describes the whole shard: take away shardTemplate and overrides, or spec",
        ),
    )


class TableGroupEntry(ApiStruct):
    """Tables that are sharded together."""

    name: TableGroupName
    """The group's name, unique in its database."""
    default: bool | Unset = UNSET
    """Whether tables that belong to no other group are stored here. One group per database, with one shard."""
    shards: Annotated[list[ShardEntry], Meta(max_length=32, extra_json_schema=BY_NAME)] | Unset = UNSET
    """The shards."""
    backup: Backup | Unset = UNSET
    """Where this group's backups go. Inherits from the database."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether this group's volumes are kept or deleted. Inherits from the cluster."""
    rules: ClassVar = (
        Cel(
            "!has(self.default) || !self.default || !has(self.shards) || size(self.shards) <= 1",
            "the default table group has one shard",
            ".shards",
        ),
    )


class DatabaseEntry(ApiStruct):
    """A logical database."""

    name: DatabaseName
    """The database's name."""
    default: bool | Unset = UNSET
    """Marks the system database, which contains the catalogue. At most one."""
    tablegroups: Annotated[list[TableGroupEntry], Meta(max_length=20, extra_json_schema=BY_NAME)] | Unset = (
        UNSET
    )
    """The table groups. A default one is added when none is marked."""
    backup: Backup | Unset = UNSET
    """Where this database's backups go. Inherits from the cluster."""
    durability_policy: DurabilityPolicy | Unset = UNSET
    """How many servers must hold a commit. Inherits from the cluster."""
    owner_role: OwnRoleName | Unset = UNSET
    """The role that owns the database, with applicationRole Owner. The database's name, or `app`, when left out."""
    roles: RoleEntries | Unset = UNSET
    """Roles that the operator creates in Postgres and keeps as declared. Roles that others create are left alone."""
    removed_roles: RemovedRoles | Unset = UNSET
    """What happens with a role that is no longer declared: Keep, when left out, leaves it; Drop deletes it."""
    rules: ClassVar = (
        Cel(
            "!has(self.tablegroups) || self.tablegroups.filter(g, has(g.default) && g.default).size() <= 1",
            "at most one table group is the default one",
            ".tablegroups",
        ),
    )


class MultigresClusterSpec(ApiStruct):
    """Desired state."""

    images: Images | Unset = UNSET
    """Images of every component."""
    template_defaults: TemplateDefaults | Unset = UNSET
    """Templates for components that name none."""
    global_topo_server: GlobalTopoServer | Unset = UNSET
    """The topology server of the whole cluster."""
    topology_reconciliation: TopologyReconciliation | Unset = UNSET
    """What the operator does in the topology server. For records that another program manages."""
    multiadmin: Admin | Unset = UNSET
    """The admin service."""
    multiadmin_web: Admin | Unset = UNSET
    """The admin service's web page."""
    cells: Annotated[list[CellEntry], Meta(max_length=50, extra_json_schema=ATOMIC)] | Unset = UNSET
    """The failure domains. At least one."""
    databases: Annotated[list[DatabaseEntry], Meta(max_length=50, extra_json_schema=BY_NAME)] | Unset = UNSET
    """The databases. The system database `postgres` is added when none is marked default."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether volumes are kept or deleted; Retain when left out."""
    backup: Backup | Unset = UNSET
    """Where backups go."""
    restore: Restore | Unset = UNSET
    """Makes a new cluster from the backups of a lost one of the same name. Only used when the cluster is created."""
    durability_policy: DurabilityPolicy | Unset = UNSET
    """How many servers must hold a commit; AT_LEAST_2 when left out."""
    observability: Observability | Unset = UNSET
    """Telemetry of the data plane."""
    log_levels: LogLevels | Unset = UNSET
    """Log level of each component; info when left out."""
    external_gateway: ExternalGateway | Unset = UNSET
    """Access to the gateways from outside."""
    gateway_tls: GatewayTls | Unset = UNSET
    """TLS between clients and gateways; gateways offer none when left out."""
    postgres_password_secret_ref: PasswordSecret | Unset = UNSET
    """Your own password Secret. The operator creates one when left out."""
    application_role: ApplicationRole | Unset = UNSET
    """The account in the Secret `{cluster}-app`: Owner, the owner of the default database, or Superuser when left out.
    With Owner the superuser's account is in `{cluster}-superuser`."""
    update_policy: UpdatePolicy | Unset = UNSET
    """When changes of templates, and of pods by a new version of the operator, are applied to this cluster."""
    paused: bool | Unset = UNSET
    """Whether the operator changes nothing of the cluster. Its state is still reported, and it can be deleted."""
    hibernation: bool | Unset = UNSET
    """Whether gateways, orchestrators and servers are stopped. Volumes, Secrets, Services and etcd are kept."""
    deletion_protection: bool | Unset = UNSET
    """Whether deletion of the cluster is denied until this is false. A flag of the operator decides when left out."""
    rules: ClassVar = (
        Cel("has(self.cells) && size(self.cells) > 0", "give at least one cell", ".cells"),
        Cel(
            "!has(self.databases) || self.databases.filter(d, has(d.default) && d.default).size() <= 1",
            "at most one database is the default one",
            ".databases",
        ),
        Cel(
            "!has(self.restore) || has(oldSelf.restore)",
            "an existing cluster cannot be restored in place: delete it, and create one with restore",
        ),
        Cel(
            "has(self.restore) || !has(oldSelf.restore) || has(self.backup)",
            "restore names the repository of the cluster: write it into backup before you remove restore",
        ),
    )


# Both summaries are written whole: a status that is carried over must not lose the zeros of an unready cell.
class ClusterMeta(ApiStruct):
    """Metadata that the schema restricts."""

    name: ClusterName = ""


class MultigresCluster(ApiStruct):
    """A sharded Postgres cluster. The operator creates topology servers, gateways, orchestrators and Postgres servers
    from this object. The smallest spec names one cell with a zone."""

    metadata: ClusterMeta
    spec: MultigresClusterSpec
    status: MultigresClusterStatus | Unset = UNSET


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "MultigresCluster",
    "multigresclusters",
    MultigresCluster,
    short_names=("mgc",),
    columns=(
        Column("Available", ".status.conditions[?(@.type=='Available')].status"),
        Column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
        Column("Phase", ".status.phase"),
        Column("Message", ".status.message", priority=1),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
