"""ShardTemplate: how orchestrators and pools look in shards that use it."""

from typing import Annotated, ClassVar

from msgspec import Meta

from steward.kube.crd.schema import Cel, Column, CustomKind
from steward.multigres.api.cluster import PostgresConfig
from steward.multigres.api.compute import MultiOrch, Pools, PvcDeletionPolicy
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.scalars import UNSET, Part, Unset, Verbatim
from steward.multigres.api.templates import refuse


class ShardTemplateSpec(Part):
    """A shard."""

    multiorch: MultiOrch | Unset = UNSET
    """The orchestrators."""
    pools: Pools | Unset = UNSET
    """Pools by name, so that overrides find them."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """What becomes of the shards' volumes."""
    postgres_config_ref: PostgresConfig | Unset = UNSET
    """Postgres settings. A change restarts the servers one at a time."""
    initdb_args: Annotated[str, Meta(max_length=512)] | Unset = UNSET
    """More arguments for initdb; read once, when a shard is made."""
    global_topo_server: Verbatim | Unset = UNSET
    """Refused: belongs into a CoreTemplate."""
    multiadmin: Verbatim | Unset = UNSET
    """Refused: belongs into a CoreTemplate."""
    multiadmin_web: Verbatim | Unset = UNSET
    """Refused: belongs into a CoreTemplate."""
    multi_gateway: Verbatim | Unset = UNSET
    """Refused: belongs into a CellTemplate."""
    local_topo_server: Verbatim | Unset = UNSET
    """Refused: belongs into a CellTemplate."""
    rules: ClassVar[tuple[Cel, ...]] = (
        *refuse("globalTopoServer", "multiadmin", "multiadminWeb", home="CoreTemplate"),
        *refuse("multiGateway", "localTopoServer", home="CellTemplate"),
    )


class ShardTemplate(Part):
    """A shard, to be named in `shardTemplate` or `templateDefaults.shardTemplate`. Named `default`, it serves every
    shard of the namespace that names none."""

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
