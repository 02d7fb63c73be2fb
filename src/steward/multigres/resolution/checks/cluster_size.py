"""Counts the components of a cluster and limits their number. Pure.

Lists multiply: 30 KB of a spec can ask for 1,600 shards with a server in each of 50 cells, and a template with a long
affinity is repeated in each shard that uses it. Each component costs time and memory in the operator, the API server
and etcd, so one limit holds for all of them together. Limits on single lists were rejected: the product of lists that
are all reasonable on their own is not.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from steward.multigres.api.cluster import DatabaseEntry, MultigresClusterSpec
from steward.multigres.api.scalars import ApiStruct
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.checks.per_shard import ShardValue, shard_values
from steward.multigres.resolution.resolved import LocatedShard, ResolvedCell, ResolvedCluster, SpecProblem

MAX_COMPONENTS = 20_000
TEXT_BYTES = 512
"""Definitions count as one component for each full TEXT_BYTES of their text."""
MAX_OBJECT_BYTES = 1_572_864
"""etcd's default limit of a request. The API server rejects a larger object with an error that names neither."""
LARGE_OBJECT_BYTES = 2 * MAX_OBJECT_BYTES // 3
LARGE_PLACEMENTS = 250
CELL_LABEL_BYTES = 100
"""Each TableGroup and Shard contains the node labels of all cells."""


class ClusterSize(NamedTuple):
    cells: int
    shards: int
    orchestrators: int
    servers: int
    texts: int = 0

    @property
    def components(self) -> int:
        return sum(self)

    def __str__(self) -> str:
        return (
            f"{self.components:,} components ({self.cells:,} cells, {self.shards:,} shards, "
            f"{self.orchestrators:,} orchestrators, {self.servers:,} Postgres servers, "
            f"{self.texts:,} for the text of their definitions)"
        )


def least_size(spec: MultigresClusterSpec) -> ClusterSize:
    """The size that the spec has at least, whatever its templates define: counted without resolving anything."""
    shards = _shard_count(or_default(spec.databases, []))
    return ClusterSize(len(or_default(spec.cells, [])), shards, shards, shards)


def is_large(spec: MultigresClusterSpec) -> bool:
    """Whether resolving and validating takes so long that the event loop must not wait for it."""
    shards = _shard_count(or_default(spec.databases, []))
    return shards * len(or_default(spec.cells, [])) > LARGE_PLACEMENTS


def _shard_count(databases: Iterable[DatabaseEntry]) -> int:
    groups = (group for database in databases for group in or_default(database.tablegroups, []))
    return sum(max(1, len(or_default(group.shards, []))) for group in groups)


class ShardSize(NamedTuple):
    orchestrators: int
    servers: int
    text_bytes: int


ShardSizes = Sequence[ShardValue[ShardSize]]


def shard_sizes(resolved: ResolvedCluster, known: ShardSizes = ()) -> list[ShardValue[ShardSize]]:
    """`known` are those of an earlier resolution."""
    texts = _TextSizes()
    return shard_values(resolved, lambda located: _shard_size(located, texts), known)


def _shard_size(located: LocatedShard, texts: "_TextSizes") -> ShardSize:
    return ShardSize(_orchestrators(located), _servers(located), texts.measure_shard(located))


def cluster_size(resolved: ResolvedCluster, known: ShardSizes | None = None) -> ClusterSize:
    """`known` are the sizes of its shards, if they were measured already."""
    sizes = [each.value for each in (shard_sizes(resolved) if known is None else known)]
    return ClusterSize(
        len(resolved.cells),
        len(sizes),
        sum(size.orchestrators for size in sizes),
        sum(size.servers for size in sizes),
        _text_components(resolved, sizes),
    )


def _orchestrators(located: LocatedShard) -> int:
    orchestrator = located.shard.multiorch
    return 1 if orchestrator is UNSET else max(1, len(or_default(orchestrator.cells, [])))


def _servers(located: LocatedShard) -> int:
    """A pool without replicas still has a StatefulSet in each of its cells."""
    pools = located.pools.values()
    return max(
        1,
        sum(
            len(or_default(pool.cells, [])) * max(1, or_default(pool.replicas_per_cell, 1)) for pool in pools
        ),
    )


def _text_components(resolved: ResolvedCluster, sizes: list[ShardSize]) -> int:
    texts = _TextSizes()
    shared = texts.measure(resolved.images) + texts.measure(resolved.topo.reference)
    placed = shared + CELL_LABEL_BYTES * len(resolved.cells)
    cells = sum((shared + texts.measure_cell(cell)) // TEXT_BYTES for cell in resolved.cells)
    return cells + sum((placed + size.text_bytes) // TEXT_BYTES for size in sizes)


class _TextSizes:
    """Lengths of definitions as JSON. Shards share the parts that they take from a template: each is encoded once.

    The memory holds the parts themselves, so that no other object gets the identity of one.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, int]] = {}

    def measure_cell(self, cell: ResolvedCell) -> int:
        server = cell.local_topo
        return self.measure(cell.gateway) + (0 if server is None else self.measure(server))

    def measure_shard(self, located: LocatedShard) -> int:
        orchestrator = located.shard.multiorch
        pools = sum(map(self.measure, located.pools.values()))
        return pools if orchestrator is UNSET else pools + self.measure(orchestrator)

    def measure(self, part: ApiStruct) -> int:
        values = (getattr(part, name) for name in part.__struct_fields__)
        return sum(self._length(value) for value in values if value is not UNSET)

    def _length(self, value: object) -> int:
        if id(value) not in self._known:
            self._known[id(value)] = value, len(msgspec.json.encode(value))
        return self._known[id(value)][1]


def size_problem(size: ClusterSize, accepted: int) -> SpecProblem | None:
    """`accepted` is the size before a change: a cluster that is larger than the limit may change but not grow."""
    if size.components <= max(MAX_COMPONENTS, accepted):
        return None
    message = (
        f"{size}; a cluster has at most {MAX_COMPONENTS:,}: "
        "use fewer shards, cells, pools or replicas, or several clusters"
    )
    return SpecProblem("spec.databases", message)


def object_size_warnings(size: int) -> tuple[str, ...]:
    """`size`: of the whole MultigresCluster in bytes, with its status and managedFields, which etcd stores as well."""
    if size < LARGE_OBJECT_BYTES:
        return ()
    message = (
        f"the object has {size // 1024:,} KiB, and etcd stores at most {MAX_OBJECT_BYTES // 1024:,}: move what shards"
        " have in common to a ShardTemplate, use several clusters, and apply with --server-side, which keeps no copy of"
        " the manifest in an annotation"
    )
    return (message,)
