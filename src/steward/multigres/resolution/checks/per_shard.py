"""Values that depend on one shard and its names only, computed once for each resolved shard. Pure."""

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from steward.multigres.api.tablegroup import ResolvedShard
from steward.multigres.resolution.resolved import LocatedShard, ResolvedCluster

V = TypeVar("V")


class ShardValue(NamedTuple, Generic[V]):
    """`path`: names of cluster, database, table group and shard."""

    path: tuple[str, str, str, str]
    shard: ResolvedShard
    value: V


def shard_values(
    resolved: ResolvedCluster,
    compute: Callable[[LocatedShard], V],
    known: Iterable[ShardValue[V]] = (),
) -> list[ShardValue[V]]:
    """The value of each shard, in order; from `known` for a shard that was there before.

    It must be the same object, which `resolve` returns again for an unchanged shard: comparing would cost as much as
    computing.
    """
    by_path = {each.path: each for each in known}
    values = []
    for located in resolved.shards():
        path = (resolved.identity.name, located.database.name, located.group.name, located.shard.name)
        found = by_path.get(path)
        if found is None or found.shard is not located.shard:
            found = ShardValue(path, located.shard, compute(located))
        values.append(found)
    return values
