"""Volume claims that a cluster keeps without using them. Pure."""

from collections.abc import Collection, Iterable, Mapping

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


def cluster_claims(
    claims: Iterable[ObjectMeta], shards: Mapping[str, Collection[str]], servers: Collection[str]
) -> list[str]:
    """Claims of Shards and topology servers that are gone, and those that the existing Shards list themselves.

    `claims` are all claims of the cluster, `shards` the claims that each Shard lists, `servers` the topology servers.
    """
    kept = [claim.name for claim in claims if not is_collected(claim) and _is_unused(claim, shards, servers)]
    return sorted(kept)[:MAX_LISTED]


def _is_unused(claim: ObjectMeta, shards: Mapping[str, Collection[str]], servers: Collection[str]) -> bool:
    if TOPO_SERVER_LABEL in claim.labels:
        return claim.labels[TOPO_SERVER_LABEL] not in servers
    shard = _shard_of(claim)
    return bool(shard) and (shard not in shards or claim.name in shards[shard])


def _shard_of(claim: ObjectMeta) -> str:
    labels = claim.labels
    path = [
        labels.get(label, "") for label in (CLUSTER_LABEL, DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL)
    ]
    return names.shard(names.ShardPath(*path)) if all(path) else ""


def is_collected(claim: ObjectMeta) -> bool:
    """Whether the claim is terminating, or the garbage collector deletes it with its owner."""
    return claim.deletion_timestamp is not None or bool(claim.owner_references)
