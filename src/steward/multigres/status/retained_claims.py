"""Volume claims that a cluster keeps without using them. Pure."""

from collections.abc import Callable, Collection, Iterable

from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    DATABASE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
    TOPO_SERVER_LABEL,
)

MAX_LISTED = 200


ListedClaims = Callable[[str], Collection[str] | None]
"""The claims that a Shard lists, by its name; None if it does not exist."""


def cluster_claims(claims: Iterable[ObjectMeta], listed: ListedClaims, servers: Collection[str]) -> list[str]:
    """Claims of Shards and topology servers that are gone, and those that the existing Shards list themselves.

    `claims` are all claims of the cluster, `servers` the topology servers.
    """
    kept = [claim.name for claim in claims if not is_collected(claim) and _is_unused(claim, listed, servers)]
    return sorted(kept)[:MAX_LISTED]


def _is_unused(claim: ObjectMeta, listed: ListedClaims, servers: Collection[str]) -> bool:
    if TOPO_SERVER_LABEL in claim.labels:
        return claim.labels[TOPO_SERVER_LABEL] not in servers
    shard = _shard_of(claim)
    if not shard:
        return False
    in_shard = listed(shard)
    return in_shard is None or claim.name in in_shard


def _shard_of(claim: ObjectMeta) -> str:
    labels = claim.labels
    path = [
        labels.get(label, "") for label in (CLUSTER_LABEL, DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL)
    ]
    return names.shard(names.ShardPath(*path)) if all(path) else ""


def is_collected(claim: ObjectMeta) -> bool:
    """Whether the claim is terminating, or the garbage collector deletes it with its owner."""
    return claim.deletion_timestamp is not None or bool(claim.owner_references)
