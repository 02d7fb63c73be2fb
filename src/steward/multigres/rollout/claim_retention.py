"""Decides how long unused volume claims are retained, and lists the retained ones. Pure.

Kubernetes deletes the claims of a set that is scaled down as soon as their pods are gone. With a grace period the set
itself retains them, and the operator deletes them when the period is over. An annotation on the claim holds the time
since which it has been unused, so a restart or a new leader does not start the period again; if its pod comes back, the
annotation is removed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.durations import parse_duration
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Manifest, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multigres.rollout.volumes import claims_of_set, desired_claim_sizes
from steward.multigres.views import ClaimView, PodView
from steward.runtime.plan.steps import Delete, Patch, Plan, Requeue

GRACE = "multigres.com/pvc-deletion-grace"
UNUSED_SINCE = "multigres.com/unused-since"
EXPIRED = "it has been unused for longer than the grace period, and whenScaled is Delete"
DELETE = "Delete"
MAX_LISTED = 200


class ClaimGrace(NamedTuple):
    """How long unused claims are retained. None: for ever, because an unreadable annotation must not delete data."""

    seconds: float | None = 0.0
    problem: str = ""

    @property
    def deletes_claims(self) -> bool:
        """Whether the operator deletes the claims, and not the StatefulSet controller."""
        return self.seconds is None or self.seconds > 0


def read_claim_grace(*annotations: Mapping[str, str]) -> ClaimGrace:
    """From the first mapping that has the annotation; `90s`, `15m`, `24h`, `1h30m`."""
    text = next((found[GRACE] for found in annotations if GRACE in found), "")
    if not text.strip():
        return ClaimGrace()
    try:
        return ClaimGrace(parse_duration(text))
    except ValueError as error:
        problem = f"annotation {GRACE}: {error} such as 90s or 24h; until it is, no unused claim is deleted"
        return ClaimGrace(None, problem)


def with_grace_policy(manifest: Manifest, grace: ClaimGrace) -> Manifest:
    """The set with the policy that a grace period needs: it retains the claims that the operator will delete."""
    policy = manifest["spec"]["persistentVolumeClaimRetentionPolicy"]
    if not grace.deletes_claims or policy["whenScaled"] != DELETE:
        return manifest
    retain = {**policy, "whenScaled": "Retain"}
    return {**manifest, "spec": {**manifest["spec"], "persistentVolumeClaimRetentionPolicy": retain}}


class RetentionInputs(NamedTuple):
    """The live claims and pods of a shard, the grace period and the time."""

    claims: Sequence[ClaimView]
    pods: Iterable[PodView]
    grace: ClaimGrace
    now: float


def expiry_steps(sets: Iterable[Manifest], inputs: RetentionInputs) -> Plan:
    """Annotates newly unused claims, deletes those whose grace period is over, clears those that are used again."""
    running = {pod.metadata.name for pod in inputs.pods}
    return tuple(step for manifest in sets for step in _set_steps(manifest, inputs, running))


def _set_steps(manifest: Manifest, inputs: RetentionInputs, running: set[str]) -> Plan:
    desired = desired_claim_sizes(manifest)
    deletes = manifest["spec"]["persistentVolumeClaimRetentionPolicy"]["whenScaled"] == DELETE
    steps: list[Patch | Delete | Requeue] = []
    for claim in sorted(claims_of_set(inputs.claims, manifest), key=lambda claim: claim.metadata.name):
        if claim.metadata.deletion_timestamp is not None:
            continue
        is_used = claim.metadata.name in desired or _pod_of(claim, manifest) in running
        steps += _clear_steps(claim) if is_used or not deletes else _claim_steps(claim, inputs)
    return tuple(steps)


def _pod_of(claim: ClaimView, manifest: Manifest) -> str:
    return f"{manifest['metadata']['name']}-{claim.metadata.name.rpartition('-')[2]}"


def _clear_steps(claim: ClaimView) -> list[Patch | Delete | Requeue]:
    return [_annotate_step(claim, None)] if UNUSED_SINCE in claim.metadata.annotations else []


def _claim_steps(claim: ClaimView, inputs: RetentionInputs) -> list[Patch | Delete | Requeue]:
    since = _unused_since(claim)
    if since is None:
        # Without a grace period the set deletes its claims; one that is left was retained by an earlier policy.
        return [_annotate_step(claim, to_timestamp(inputs.now))] if inputs.grace.deletes_claims else []
    if inputs.grace.seconds is None:
        return []
    left = since + inputs.grace.seconds - inputs.now
    if left > 0:
        return [Requeue(left)]
    return [Delete(Ref(PERSISTENT_VOLUME_CLAIM, key_of(claim)), claim.metadata.uid, EXPIRED)]


def _unused_since(claim: ClaimView) -> float | None:
    try:
        return from_timestamp(claim.metadata.annotations[UNUSED_SINCE])
    except (KeyError, ValueError):
        return None


def _annotate_step(claim: ClaimView, since: str | None) -> Patch:
    change = {"metadata": {"uid": claim.metadata.uid, "annotations": {UNUSED_SINCE: since}}}
    return Patch(Ref(PERSISTENT_VOLUME_CLAIM, key_of(claim)), MergePatch(change))


def retained_claim_names(
    claims: Iterable[ClaimView], sets: Iterable[Manifest], backup_claims: Iterable[str]
) -> list[str]:
    """Claims that no desired object uses: retained from pods, pools and cells that are gone."""
    used = {name for manifest in sets for name in desired_claim_sizes(manifest)} | set(backup_claims)
    left = {
        claim.metadata.name
        for claim in claims
        if claim.metadata.name not in used and claim.metadata.deletion_timestamp is None
    }
    return sorted(left)[:MAX_LISTED]
