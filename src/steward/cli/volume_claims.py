"""The volume claims of clusters: which server uses each, its sizes, and what is kept without a server. Pure, but for
the reads.

A claim is kept if no pod uses it and no StatefulSet asks for it. The StatefulSets decide, not `status.retainedClaims`:
a cluster that is gone has no status, and its claims are the ones that are forgotten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from steward.cli.inspect.fetch import read_kind
from steward.kube.client.client import Client
from steward.kube.objects.kinds import (
    PERSISTENT_VOLUME_CLAIM,
    POD,
    STATEFUL_SET,
    Key,
    Kind,
    Manifest,
    key_of_manifest,
)
from steward.kube.objects.options import ListQuery
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.objects.metadata import (
    CELL_LABEL,
    CLUSTER_LABEL,
    DATABASE_LABEL,
    POOL_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
    TOPO_SERVER_LABEL,
)
from steward.multigres.rollout.claim_retention import GRACE, UNUSED_SINCE
from steward.multigres.rollout.volumes import desired_claim_sizes

_PART_LABELS = {
    "database": DATABASE_LABEL,
    "table group": TABLE_GROUP_LABEL,
    "shard": SHARD_LABEL,
    "pool": POOL_LABEL,
    "cell": CELL_LABEL,
    "topology server": TOPO_SERVER_LABEL,
}


class ClaimState(Enum):
    USED = "used"
    WAITING = "waits for its pod"
    KEPT = "kept"
    TERMINATING = "being deleted"


class VolumeClaim(NamedTuple):
    key: Key
    cluster: str
    server: str
    """The pod that uses it; "" if there is none."""
    asked: str
    had: str
    state: ClaimState
    parts: Mapping[str, str]
    """What it belongs to: database, table group, shard, pool and cell."""
    storage_class: str
    unused_since: str
    has_cluster: bool

    @property
    def taken_again_by(self) -> str:
        """What uses a kept claim again, with all that is on it; "" if it is not kept."""
        if self.state is not ClaimState.KEPT:
            return ""
        parts = ", ".join(f"{name} {value}" for name, value in self.parts.items())
        again = "its" if self.has_cluster else "a new"
        return f"the same server of {again} cluster {self.cluster}" + (f" ({parts})" if parts else "")

    @property
    def deleted_by(self) -> str:
        """What deletes a kept claim; "" if it is not kept."""
        if self.state is not ClaimState.KEPT:
            return ""
        return f"kubectl delete pvc {self.key.name} -n {self.key.namespace}"


class ClusterObjects(NamedTuple):
    """What decides about the claims of some clusters, as the API server has it."""

    claims: Sequence[Manifest]
    pods: Sequence[Manifest]
    sets: Sequence[Manifest]
    clusters: Sequence[Manifest]


def volume_claims(found: ClusterObjects) -> list[VolumeClaim]:
    """By namespace and cluster; kept claims last."""
    users = dict(_claim_users(found.pods))
    desired = set(_desired_claims(found.sets))
    clusters = set(map(key_of_manifest, found.clusters))
    claims = [_volume_claim(claim, users, desired, clusters) for claim in found.claims]
    return sorted(
        claims, key=lambda claim: (claim.key.namespace, claim.cluster, _is_kept(claim), claim.key.name)
    )


def _is_kept(claim: VolumeClaim) -> bool:
    return claim.state is ClaimState.KEPT


def _claim_users(pods: Iterable[Manifest]) -> Iterator[tuple[Key, str]]:
    for pod in pods:
        key = key_of_manifest(pod)
        for volume in pod["spec"].get("volumes") or ():
            if source := volume.get("persistentVolumeClaim"):
                yield Key(key.namespace, source["claimName"]), key.name


def _desired_claims(sets: Iterable[Manifest]) -> Iterator[Key]:
    for each in (found for found in sets if "volumeClaimTemplates" in found["spec"]):
        namespace = key_of_manifest(each).namespace
        yield from (Key(namespace, name) for name in desired_claim_sizes(each))


def _volume_claim(
    claim: Manifest, users: Mapping[Key, str], desired: set[Key], clusters: set[Key]
) -> VolumeClaim:
    key, meta = key_of_manifest(claim), claim["metadata"]
    labels, spec, status = meta.get("labels") or {}, claim["spec"], claim.get("status") or {}
    cluster = labels.get(CLUSTER_LABEL, "")
    return VolumeClaim(
        key,
        cluster,
        users.get(key, ""),
        _storage((spec.get("resources") or {}).get("requests")),
        _storage(status.get("capacity")),
        _claim_state(claim, is_used=key in users, is_desired=key in desired),
        {name: labels[label] for name, label in _PART_LABELS.items() if label in labels},
        spec.get("storageClassName") or "",
        (meta.get("annotations") or {}).get(UNUSED_SINCE, ""),
        Key(key.namespace, cluster) in clusters,
    )


def _claim_state(claim: Manifest, *, is_used: bool, is_desired: bool) -> ClaimState:
    meta = claim["metadata"]
    if meta.get("deletionTimestamp"):
        return ClaimState.TERMINATING
    if is_used:
        return ClaimState.USED
    # The claim of a backup repository belongs to its Shard, and no pod uses it between two backups.
    is_owned = any(owner.get("controller") for owner in meta.get("ownerReferences") or ())
    return ClaimState.WAITING if is_desired or is_owned else ClaimState.KEPT


def _storage(resources: Mapping[str, str] | None) -> str:
    return (resources or {}).get("storage", "")


async def read_cluster_objects(client: Client, namespace: str, cluster: str) -> ClusterObjects:
    """Of one cluster, or of all if `cluster` is empty."""
    selector = f"{CLUSTER_LABEL}={cluster}" if cluster else CLUSTER_LABEL

    async def listed(kind: Kind) -> list[Manifest]:
        return list((await client.list(kind, ListQuery(namespace=namespace, label_selector=selector))).items)

    claims, pods, sets, clusters = await asyncio.gather(
        *map(listed, (PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET)), read_kind(client, CLUSTER, namespace)
    )
    return ClusterObjects(claims, pods, sets, clusters)


def claim_dict(claim: VolumeClaim) -> dict[str, Any]:
    return {
        "namespace": claim.key.namespace,
        "cluster": claim.cluster,
        "claim": claim.key.name,
        "state": claim.state.name.capitalize(),
        "server": claim.server,
        "asked": claim.asked,
        "had": claim.had,
        "storageClass": claim.storage_class,
        "parts": dict(claim.parts),
        "hasCluster": claim.has_cluster,
        "unusedSince": claim.unused_since,
        "takenAgainBy": claim.taken_again_by,
        "deletedBy": claim.deleted_by,
    }


def kept_lines(claims: Iterable[VolumeClaim]) -> list[str]:
    """What happens to each kept claim, and the command that deletes it."""
    return [line for claim in claims if _is_kept(claim) for line in _kept_claim_lines(claim)]


def _kept_claim_lines(claim: VolumeClaim) -> Iterator[str]:
    yield f"{claim.key} is kept; {claim.taken_again_by} takes it again."
    if claim.unused_since:
        yield f"  Unused since {claim.unused_since}: the operator deletes it when {GRACE} is over."
    yield f"  To delete it and its data for good: {claim.deleted_by}"
