"""Decides which volume claims without an owner are deleted with their StatefulSet. Pure.

Kubernetes deletes the claims of a set whose policy says `whenDeleted: Delete` through owner references. While the
operator recreates a set, its claims have none: if the owner of the set is deleted in this moment, nothing else carries
out the policy. Only claims that the set would have owned are deleted: those of its desired replicas. All others, and
claims of a pod that stays, are retained. A pod without a controller does not stay: it ends with the same owner.
"""

from collections.abc import Iterable
from typing import NamedTuple

from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Ref
from steward.kube.objects.meta import controller_of, key_of
from steward.multigres.views import ClaimView, PodView
from steward.runtime.plan.steps import Delete, Plan

POLICY = "its StatefulSet is gone, and whenDeleted is Delete"


class SetVolumes(NamedTuple):
    """A StatefulSet whose claims are deleted with it: its name, its claim template and its desired replicas."""

    name: str
    template: str
    replicas: int


def claim_deletions(sets: Iterable[SetVolumes], claims: Iterable[ClaimView], pods: Iterable[PodView]) -> Plan:
    """`sets` are those that no longer exist, `pods` all that do."""
    staying = {pod.metadata.name for pod in pods if _stays(pod)}
    deleted = {
        f"{each.template}-{each.name}-{ordinal}"
        for each in sets
        for ordinal in range(each.replicas)
        if f"{each.name}-{ordinal}" not in staying
    }
    return tuple(
        _delete_step(claim)
        for claim in sorted(claims, key=lambda claim: claim.metadata.name)
        if claim.metadata.name in deleted and _is_left(claim)
    )


def _stays(pod: PodView) -> bool:
    return pod.metadata.deletion_timestamp is None and controller_of(pod.metadata) is not None


def _is_left(claim: ClaimView) -> bool:
    return not claim.metadata.owner_references and claim.metadata.deletion_timestamp is None


def _delete_step(claim: ClaimView) -> Delete:
    """Only in the version that was read: a set that is created meanwhile becomes the owner."""
    meta, ref = claim.metadata, Ref(PERSISTENT_VOLUME_CLAIM, key_of(claim))
    return Delete(ref, meta.uid, POLICY, resource_version=meta.resource_version)
