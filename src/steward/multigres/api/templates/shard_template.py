"""ShardTemplate: orchestrators and pools of the shards that use it."""

from typing import Annotated, ClassVar

from msgspec import Meta

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.compute import MultiOrch, Pools, PvcDeletionPolicy
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.postgres import PostgresConfig, PostgresOptions
from steward.multigres.api.scalars import UNSET, ApiStruct, Unset, Verbatim, reject_sections


class ShardTemplateSpec(ApiStruct):
    """A shard."""

    multiorch: MultiOrch | Unset = UNSET
    """The orchestrators."""
    pools: Pools | Unset = UNSET
    """Pools by name; overrides refer to these names."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether the shards' volumes are kept or deleted."""
    postgres_config_ref: PostgresConfig | Unset = UNSET
    """Postgres settings. A change restarts the servers one at a time."""
    postgres: PostgresOptions | Unset = UNSET
    """Options of the Postgres servers."""
    initdb_args: Annotated[str, Meta(max_length=512)] | Unset = UNSET
    """Additional arguments for initdb; only used when a shard is created."""
    global_topo_server: Verbatim | Unset = UNSET
    """Rejected: belongs in a CoreTemplate."""
    multiadmin: Verbatim | Unset = UNSET
    """Rejected: belongs in a CoreTemplate."""
    multiadmin_web: Verbatim | Unset = UNSET
    """Rejected: belongs in a CoreTemplate."""
    multi_gateway: Verbatim | Unset = UNSET
    """Rejected: belongs in a CellTemplate."""
    local_topo_server: Verbatim | Unset = UNSET
    """Rejected: belongs in a CellTemplate."""
    rules: ClassVar[tuple[Cel, ...]] = (
        *reject_sections("globalTopoServer", "multiadmin", "multiadminWeb", home="CoreTemplate"),
        *reject_sections("multiGateway", "localTopoServer", home="CellTemplate"),
    )


class ShardTemplate(ApiStruct):
    """A template for shards, referenced in `shardTemplate` or `templateDefaults.shardTemplate`. A template named
    `default` applies to every shard of the namespace that references none."""

    metadata: Metadata
    spec: ShardTemplateSpec


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "ShardTemplate",
    "shardtemplates",
    ShardTemplate,
    short_names=("sht",),
    columns=(Column("Age", ".metadata.creationTimestamp", "date"),),
)
