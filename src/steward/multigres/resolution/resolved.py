"""What `resolve` gives back: a tree in which nothing is inherited any more, and an account of how it came about."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from steward.multigres.api.backup import Backup
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.compute import Pool, PvcDeletionPolicy, Stateless
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.images import Images
from steward.multigres.api.scalars import DurabilityPolicy
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.api.tablegroup import ResolvedShard
from steward.multigres.api.topo import Etcd, ExternalTopoServer, LocalTopoServer, TopoReference
from steward.multigres.resolution.layers import Path, given


class Identity(NamedTuple):
    """Which cluster: names and addresses are built from it."""

    namespace: str
    name: str


class Templates(NamedTuple):
    """The contents of the templates of one namespace, or the ones in force, by name."""

    core: Mapping[str, CoreTemplateSpec]
    cell: Mapping[str, CellTemplateSpec]
    shard: Mapping[str, ShardTemplateSpec]
    unusable: Mapping[tuple[str, str], str] = {}
    """Templates that stand there and cannot be used, by kind and name: why not, as the end of a sentence."""


class Problem(NamedTuple):
    """What keeps a cluster from being resolved. `field` is a path as users write it."""

    field: str
    message: str


class Skipped(NamedTuple):
    """A placement that only a template asks for, in a cell that this cluster does not have."""

    field: str
    cell: str


class ResolvedTopo(NamedTuple):
    """The global topology server: run by Steward (`etcd`), or by somebody else (`external`)."""

    reference: TopoReference
    etcd: Etcd | None
    external: ExternalTopoServer | None


class ResolvedCell(NamedTuple):
    name: str
    zone: str
    region: str
    gateway: Stateless
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


class ShardInPlace(NamedTuple):
    """A shard with the levels above it."""

    database: ResolvedDatabase
    group: ResolvedGroup
    shard: ResolvedShard

    @property
    def field(self) -> str:
        """The path of its entry, as users write it."""
        return (
            f"spec.databases[{self.database.name}].tablegroups[{self.group.name}].shards[{self.shard.name}]"
        )

    @property
    def pools(self) -> dict[str, Pool]:
        return given(self.shard.pools, {})

    def __str__(self) -> str:
        return f"shard {self.database.name}/{self.group.name}/{self.shard.name}"


class ResolvedCluster(NamedTuple):
    identity: Identity
    images: Images
    topo: ResolvedTopo
    multiadmin: Stateless
    multiadmin_web: Stateless
    cells: tuple[ResolvedCell, ...]
    databases: tuple[ResolvedDatabase, ...]
    templates: Mapping[str, tuple[str, ...]]
    origins: Mapping[Path, str]
    problems: tuple[Problem, ...]
    skipped: tuple[Skipped, ...]

    def shards(self) -> Iterator[ShardInPlace]:
        for database in self.databases:
            for group in database.groups:
                for shard in group.shards:
                    yield ShardInPlace(database, group, shard)
