"""Whether the servers of a shard suffice for its durability policy. Pure.

Counts what the spec asks for; `servers/durability.py` counts what runs.
"""

from collections.abc import Iterator

from steward.multigres.api.unset import or_default
from steward.multigres.resolution.resolved import LocatedShard, ResolvedCluster, SpecProblem

REQUIRED = 2
"""Servers, or cells with a server, that every policy of today requires."""


def server_count(located: LocatedShard) -> int:
    return sum(
        or_default(pool.replicas_per_cell, 0) * len(or_default(pool.cells, []))
        for pool in located.pools.values()
    )


def server_cells(located: LocatedShard) -> set[str]:
    """The cells in which the shard has a server."""
    pools = (pool for pool in located.pools.values() if or_default(pool.replicas_per_cell, 0))
    return {cell for pool in pools for cell in or_default(pool.cells, [])}


def counts_cells(policy: str) -> bool:
    return policy.startswith("MULTI_CELL")


def lost_durability(old: ResolvedCluster, new: ResolvedCluster) -> Iterator[SpecProblem]:
    """Shards whose remaining servers could not acknowledge a write any more. A shard without servers is stopped, and
    one that never had enough of them is a warning."""
    before = {str(located): located for located in old.shards()}
    for located in new.shards():
        policy, previous = located.database.durability_policy, before.get(str(located))
        if previous is None or not _meets(previous, policy) or _meets(located, policy):
            continue
        if count := server_count(located):
            yield SpecProblem(located.field, _message(located, policy, count))


def _meets(located: LocatedShard, policy: str) -> bool:
    found = len(server_cells(located)) if counts_cells(policy) else server_count(located)
    return found >= REQUIRED


def _message(located: LocatedShard, policy: str, count: int) -> str:
    found = f"{count} server{'s' if count > 1 else ''} in {len(server_cells(located))} cell"
    needed = f"{REQUIRED} cells" if counts_cells(policy) else f"{REQUIRED} servers"
    return (
        f"{found} would be left, and {policy} needs {needed}: no write would be acknowledged;"
        " keep more servers, or set replicasPerCell of all pools to 0 to stop the shard"
    )
