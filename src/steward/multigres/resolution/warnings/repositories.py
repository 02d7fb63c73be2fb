"""Warnings about backup repositories of clusters that exist. Pure."""

from collections.abc import Iterator

from steward.multigres.resolution.checks.repositories import describe_repository
from steward.multigres.resolution.resolved import ResolvedCluster


def repository_warnings(previous: ResolvedCluster | None, resolved: ResolvedCluster) -> Iterator[str]:
    """Servers prepare their repository once, before the first backup of their shard."""
    before = {} if previous is None else {each.name: each.backup for each in previous.databases}
    for database in resolved.databases:
        if database.name not in before:
            continue
        old, new = describe_repository(before[database.name]), describe_repository(database.backup)
        if old != new:
            yield (
                f"database {database.name}: servers that exist prepare no other repository: in {new} neither WAL nor"
                f" backups are stored; keep {old}, or create another cluster and copy the data"
            )
