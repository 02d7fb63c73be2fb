"""Result of `resolve`: a cluster with all values final, and the origin of each value."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import UNSET

from steward.multigres.api.backup import Backup
from steward.multigres.api.cluster import ShardEntry
from steward.multigres.api.compute import MultiGateway, Pool, PvcDeletionPolicy, Stateless
from steward.multigres.api.images import Images
from steward.multigres.api.scalars import DurabilityPolicy, Unset
from steward.multigres.api.tablegroup import ResolvedShard
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.api.topo import (
    Etcd,
    ExternalTopoServer,
    LocalTopoServer,
    TopologyReconciliation,
    TopoReference,
)
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.defaults import TOPOLOGY
from steward.multigres.resolution.layers import Origins, Path


class ClusterIdentity(NamedTuple):
    """Namespace and name of a cluster; names and addresses of its objects are derived from them."""

    namespace: str
    name: str


class Templates(NamedTuple):
    """Contents of the templates of one namespace, live or active, by name."""

    core: Mapping[str, CoreTemplateSpec]
    cell: Mapping[str, CellTemplateSpec]
    shard: Mapping[str, ShardTemplateSpec]
    unusable: Mapping[tuple[str, str], str] = {}
    """Templates that exist and cannot be used, by kind and name, with the reason as the end of a sentence."""


class SpecProblem(NamedTuple):
    """An error in the spec or a template. `field` is the path as users write it."""

    field: str
    message: str


class SkippedPlacement(NamedTuple):
    """A placement that a template requests in a cell that this cluster does not have."""

    field: str
    cell: str


class AddedPool(NamedTuple):
    """A pool of an override that the shard's template lacks although it has others."""

    field: str
    pool: str
    template: str
    template_pools: tuple[str, ...]


class KnownTemplates(NamedTuple):
    """The templates of one kind in a namespace. `unusable` are those that exist and cannot be used, of all kinds, with
    the reason; `default` is the name in `spec.templateDefaults`, or ""."""

    kind: str
    existing: Mapping[str, Any]
    unusable: Mapping[tuple[str, str], str]
    default: str
    namespace: str


GroupPath = tuple[str, str]
"""Database and table group."""


class ShardContext(NamedTuple):
    """What a shard is resolved from beside its own entry. `policies` and `backups` begin with the nearest level."""

    cluster: str
    database: str
    group: str
    policies: tuple[PvcDeletionPolicy | Unset, ...]
    backups: tuple[Backup | Unset, ...]
    templates: KnownTemplates
    cells: list[str]

    def field(self, entry: ShardEntry) -> str:
        return f"spec.databases[{self.database}].tablegroups[{self.group}].shards[{entry.name}]"


class ShardResolution(NamedTuple):
    """A resolved shard, the entry that it was resolved from, and what was found on the way."""

    entry: ShardEntry
    shard: ResolvedShard
    origins: Origins
    template: str
    problems: tuple[SpecProblem, ...]
    skipped: tuple[SkippedPlacement, ...]
    added_pools: tuple[AddedPool, ...]


class GroupResolution(NamedTuple):
    """The shards of a table group, in the order of their entries."""

    context: ShardContext
    shards: list[ShardResolution]


class ResolvedTopo(NamedTuple):
    """The global topology server: run by the operator (`etcd`) or outside of it (`external`)."""

    reference: TopoReference
    etcd: Etcd | None
    external: ExternalTopoServer | None


class ResolvedCell(NamedTuple):
    name: str
    zone: str
    region: str
    gateway: MultiGateway
    local_topo: LocalTopoServer | None


class ResolvedGroup(NamedTuple):
    database: str
    name: str
    default: bool
    shards: tuple[ResolvedShard, ...]
    pvc_deletion_policy: PvcDeletionPolicy
    backup: Backup


class ResolvedDatabase(NamedTuple):
    name: str
    default: bool
    durability_policy: DurabilityPolicy
    backup: Backup
    groups: tuple[ResolvedGroup, ...]


class LocatedShard(NamedTuple):
    """A shard with its table group and database."""

    database: ResolvedDatabase
    group: ResolvedGroup
    shard: ResolvedShard

    @property
    def field(self) -> str:
        """The path of the shard's entry in the spec."""
        return (
            f"spec.databases[{self.database.name}].tablegroups[{self.group.name}].shards[{self.shard.name}]"
        )

    @property
    def pools(self) -> dict[str, Pool]:
        return or_default(self.shard.pools, {})

    def __str__(self) -> str:
        return f"shard {self.database.name}/{self.group.name}/{self.shard.name}"


class ResolvedCluster(NamedTuple):
    identity: ClusterIdentity
    images: Images
    topo: ResolvedTopo
    multiadmin: Stateless
    multiadmin_web: Stateless
    cells: tuple[ResolvedCell, ...]
    databases: tuple[ResolvedDatabase, ...]
    templates: Mapping[str, tuple[str, ...]]
    origins: Mapping[Path, str]
    problems: tuple[SpecProblem, ...]
    skipped: tuple[SkippedPlacement, ...]
    added_pools: tuple[AddedPool, ...] = ()
    topology: TopologyReconciliation = TOPOLOGY
    groups: Mapping[GroupPath, GroupResolution] = {}
    """How the shards were resolved, for the next resolution."""

    def shards(self) -> Iterator[LocatedShard]:
        for database in self.databases:
            for group in database.groups:
                for shard in group.shards:
                    yield LocatedShard(database, group, shard)


def managed_etcds(resolved: ResolvedCluster) -> Iterator[tuple[str, Etcd]]:
    """All topology servers that the operator runs, global and of cells, each with its field."""
    if resolved.topo.etcd is not None:
        yield "spec.globalTopoServer.etcd", resolved.topo.etcd
    for index, cell in enumerate(resolved.cells):
        if cell.local_topo is not None and cell.local_topo.etcd is not UNSET:
            yield f"spec.cells[{index}].spec.localTopoServer.etcd", cell.local_topo.etcd
