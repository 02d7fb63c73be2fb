"""Volume claims that nobody uses at the moment: how long they stay, and which they are. Pure.

Kubernetes deletes the claims of a set that is scaled down the moment their pods are gone. With a grace the set itself
keeps them, and Steward deletes them when it is over: the claim carries the time since which it has been unused, so that
neither a restart nor a new leader starts the grace anew, and a pod that comes back takes the mark away.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Manifest, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multigres.durations import parse_duration
from steward.multigres.rollout.volumes import claims_of, wanted_claims
from steward.multigres.views import ClaimView, PodView
from steward.runtime.plan.steps import Delete, Patch, Plan, Requeue

GRACE = "multigres.com/pvc-deletion-grace"
UNUSED_SINCE = "multigres.com/unused-since"
EXPIRED = "it has been unused for longer than the grace period, and whenScaled is Delete"
DELETE = "Delete"
MOST_LISTED = 200


class Grace(NamedTuple):
    """How long unused claims stay; None is for ever, for what cannot be read must not delete anything."""

    seconds: float | None = 0.0
    problem: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether Steward deletes the claims, and not the set itself."""
        return self.seconds is None or self.seconds > 0


def read_grace(*annotations: Mapping[str, str]) -> Grace:
    """From the nearest object that has the annotation; `90s`, `15m`, `24h`, `1h30m`."""
    text = next((found[GRACE] for found in annotations if GRACE in found), "")
    if not text.strip():
        return Grace()
    try:
        return Grace(parse_duration(text))
    except ValueError as error:
        return Grace(
            None, f"annotation {GRACE}: {error} such as 90s or 24h; until it is, no unused claim goes"
        )


def kept_by_set(manifest: Manifest, grace: Grace) -> Manifest:
    """The set as it must be for the grace to hold: it keeps what Steward will delete."""
    policy = manifest["spec"]["persistentVolumeClaimRetentionPolicy"]
    if not grace.is_ours or policy["whenScaled"] != DELETE:
        return manifest
    kept = {**policy, "whenScaled": "Retain"}
    return {**manifest, "spec": {**manifest["spec"], "persistentVolumeClaimRetentionPolicy": kept}}


class Unused(NamedTuple):
    """What decides over the unused claims of a shard: `pods` and `claims` are those that there are."""

    claims: Sequence[ClaimView]
    pods: Iterable[PodView]
    grace: Grace
    now: float


def expiry(sets: Iterable[Manifest], unused: Unused) -> Plan:
    """Marks claims that have just come out of use, deletes those whose grace is over, spares those back in use."""
    running = {pod.metadata.name for pod in unused.pods}
    return tuple(step for manifest in sets for step in _of_set(manifest, unused, running))


def _of_set(manifest: Manifest, unused: Unused, running: set[str]) -> Plan:
    wanted = wanted_claims(manifest)
    goes = manifest["spec"]["persistentVolumeClaimRetentionPolicy"]["whenScaled"] == DELETE
    steps: list[Patch | Delete | Requeue] = []
    for claim in sorted(claims_of(unused.claims, manifest), key=lambda each: each.metadata.name):
        if claim.metadata.deletion_timestamp is not None:
            continue
        is_used = claim.metadata.name in wanted or _pod_of(claim, manifest) in running
        steps += _spared(claim) if is_used or not goes else _of_claim(claim, unused)
    return tuple(steps)


def _pod_of(claim: ClaimView, manifest: Manifest) -> str:
    return f"{manifest['metadata']['name']}-{claim.metadata.name.rpartition('-')[2]}"


def _spared(claim: ClaimView) -> list[Patch | Delete | Requeue]:
    return [_marked(claim, None)] if UNUSED_SINCE in claim.metadata.annotations else []


def _of_claim(claim: ClaimView, unused: Unused) -> list[Patch | Delete | Requeue]:
    since = _since(claim)
    if since is None:
        # Without a grace the set deletes its claims itself; what it left was left before, by another policy.
        return [_marked(claim, to_timestamp(unused.now))] if unused.grace.is_ours else []
    if unused.grace.seconds is None:
        return []
    left = since + unused.grace.seconds - unused.now
    if left > 0:
        return [Requeue(left)]
    return [Delete(Ref(PERSISTENT_VOLUME_CLAIM, key_of(claim)), claim.metadata.uid, EXPIRED)]


def _since(claim: ClaimView) -> float | None:
    try:
        return from_timestamp(claim.metadata.annotations[UNUSED_SINCE])
    except (KeyError, ValueError):
        return None


def _marked(claim: ClaimView, since: str | None) -> Patch:
    change = {"metadata": {"uid": claim.metadata.uid, "annotations": {UNUSED_SINCE: since}}}
    return Patch(Ref(PERSISTENT_VOLUME_CLAIM, key_of(claim)), MergePatch(change))


def retained(claims: Iterable[ClaimView], sets: Iterable[Manifest], own: Iterable[str]) -> list[str]:
    """The names of claims that nothing wanted uses: kept from pods, pools and cells that are gone."""
    used = {name for manifest in sets for name in wanted_claims(manifest)} | set(own)
    left = {
        claim.metadata.name
        for claim in claims
        if claim.metadata.name not in used and claim.metadata.deletion_timestamp is None
    }
    return sorted(left)[:MOST_LISTED]
