"""How a StatefulSet and its volumes get where the spec wants them although the server lets nobody change them. Pure.

A volume only grows. A set whose immutable fields must change is taken away around its running pods and made again:
first it lets go of its claims (policy Retain/Retain, until no claim names it as owner), because a claim that still does
would be collected with it; then it is deleted alone, by uid; then it is made again, with the policy that is asked for,
and finds its pods and claims by their names. Each look decides from what is there, so that any of the steps may be the
last one of a life.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET, Manifest, Ref, kind_of
from steward.kube.objects.meta import key_of
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.quantity import canonical_quantity, parse_quantity
from steward.multigres.views import ClaimRetention, ClaimTemplateView, ClaimView, PodView, StatefulSetView
from steward.runtime.plan.steps import Delete, Patch, Plan

KEEP_ALL = {"whenDeleted": "Retain", "whenScaled": "Retain"}
REBUILD = "fields that cannot change do change: it is made again around its running pods"
BOUND = "Bound"
RESIZE_PENDING = "FileSystemResizePending"


class Shape(NamedTuple):
    """A claim template as far as the server compares it."""

    name: str
    labels: tuple[tuple[str, str], ...]
    access_modes: tuple[str, ...]
    size: str | None
    storage_class: str
    volume_mode: str


class Settled(NamedTuple):
    """What becomes of one set in this round: what to apply, if anything, what to do before, and what is waited for."""

    manifest: Manifest | None
    before: Plan = ()
    waiting: str = ""


def settle(
    wanted: Manifest, seen: StatefulSetView | None, claims: Sequence[ClaimView], pods: Iterable[PodView]
) -> Settled:
    """One step towards `wanted`. `claims` must be fresh where `must_be_rebuilt`: a delete stands on them."""
    if seen is None:
        return Settled(wanted, relabelled(wanted, pods))
    if seen.metadata.deletion_timestamp is not None:
        return Settled(None, (), "the old one is going")
    if not must_be_rebuilt(wanted, seen):
        return Settled(wanted)
    return _taken_away(seen, claims)


def _taken_away(seen: StatefulSetView, claims: Sequence[ClaimView]) -> Settled:
    ref, uid = Ref(STATEFUL_SET, key_of(seen)), seen.metadata.uid
    if seen.spec.persistent_volume_claim_retention_policy != ClaimRetention():
        change = {"metadata": {"uid": uid}, "spec": {"persistentVolumeClaimRetentionPolicy": KEEP_ALL}}
        return Settled(None, (Patch(ref, MergePatch(change)),), "it lets go of its volumes")
    if seen.status.observed_generation < seen.metadata.generation or _is_owner(uid, claims):
        return Settled(None, (), "it lets go of its volumes")
    return Settled(
        None, (Delete(ref, uid, REBUILD, propagation="Orphan"),), "it is made again around its pods"
    )


def _is_owner(uid: str, claims: Sequence[ClaimView]) -> bool:
    return any(owner.uid == uid for claim in claims for owner in claim.metadata.owner_references)


def must_be_rebuilt(wanted: Manifest, seen: StatefulSetView) -> list[str]:
    """The fields that differ and that the server lets nobody change."""
    spec = wanted["spec"]
    now, then = seen.spec, spec.get("podManagementPolicy", "OrderedReady")
    differs = {
        "serviceName": spec["serviceName"] != now.service_name,
        "podManagementPolicy": then != now.pod_management_policy,
        "selector": spec["selector"]["matchLabels"] != dict(now.selector.match_labels),
        "volumeClaimTemplates": _shapes(spec) != tuple(map(_shape_of, now.volume_claim_templates)),
    }
    return [field for field, is_so in differs.items() if is_so]


def _shapes(spec: Mapping[str, Any]) -> tuple[Shape, ...]:
    return tuple(_shape(template) for template in spec["volumeClaimTemplates"])


def _shape(template: Manifest) -> Shape:
    metadata, spec = template["metadata"], template["spec"]
    return Shape(
        metadata["name"],
        tuple(sorted(metadata.get("labels", {}).items())),
        tuple(spec["accessModes"]),
        canonical_quantity(template_size(template)),
        spec.get("storageClassName", ""),
        spec.get("volumeMode", "Filesystem"),
    )


def _shape_of(seen: ClaimTemplateView) -> Shape:
    return Shape(
        seen.metadata.name,
        tuple(sorted(seen.metadata.labels.items())),
        seen.spec.access_modes,
        canonical_quantity(_requested(seen.spec.resources)),
        seen.spec.storage_class_name,
        seen.spec.volume_mode,
    )


def relabelled(wanted: Manifest, pods: Iterable[PodView]) -> Plan:
    """Pods that a new set could not find by its selector: it would try to make them again under the same names."""
    chosen = wanted["spec"]["selector"]["matchLabels"]
    return tuple(
        Patch(
            Ref(POD, key_of(pod)),
            MergePatch({"metadata": {"uid": pod.metadata.uid, "labels": dict(chosen)}}),
        )
        for pod in sorted(pods, key=lambda known: known.metadata.name)
        if ordinal_of(pod.metadata.name, wanted["metadata"]["name"]) is not None
        and pod.metadata.deletion_timestamp is None
        and any(pod.metadata.labels.get(label) != value for label, value in chosen.items())
    )


def ordinal_of(name: str, stem: str) -> int | None:
    """The number in `<stem>-<number>`; None for any other name."""
    head, _, tail = name.rpartition("-")
    is_number = tail.isascii() and tail.isdigit() and (tail == "0" or not tail.startswith("0"))
    return int(tail) if head == stem and is_number else None


def template_size(template: Manifest) -> str | int:
    size: str | int = template["spec"]["resources"]["requests"]["storage"]
    return size


def _requested(resources: Mapping[str, Any]) -> str:
    return str((resources.get("requests") or {}).get("storage", "0"))


def requested(claim: ClaimView) -> str:
    return _requested(claim.spec.resources)


class Kept(NamedTuple):
    """A set that is applied with the volume sizes that it has, and why."""

    manifest: Manifest
    problem: str = ""


def without_shrinking(wanted: Manifest, seen: StatefulSetView | None) -> Kept:
    """A template that asks for less than the set has keeps the size of the set."""
    if seen is None:
        return Kept(wanted)
    sizes = {each.metadata.name: _requested(each.spec.resources) for each in seen.spec.volume_claim_templates}
    shrinking = {
        template["metadata"]["name"]: sizes[template["metadata"]["name"]]
        for template in wanted["spec"]["volumeClaimTemplates"]
        if parse_quantity(sizes.get(template["metadata"]["name"], "0"))
        > parse_quantity(template_size(template))
    }
    if not shrinking:
        return Kept(wanted)
    told = "; ".join(
        f"storage of {wanted['metadata']['name']} cannot shrink from {sizes[template['metadata']['name']]} to"
        f" {template_size(template)}: a volume only grows, ask for the former size again"
        for template in wanted["spec"]["volumeClaimTemplates"]
        if template["metadata"]["name"] in shrinking
    )
    return Kept(with_sizes(wanted, shrinking), told)


def as_it_is(wanted: Manifest, seen: StatefulSetView | None) -> Manifest:
    """With the volume sizes that the set has now, for as long as its volumes cannot grow."""
    if seen is None:
        return wanted
    found = {each.metadata.name: _requested(each.spec.resources) for each in seen.spec.volume_claim_templates}
    return with_sizes(wanted, found)


def with_sizes(manifest: Manifest, sizes: Mapping[str, str]) -> Manifest:
    templates = [
        {**template, "spec": {**template["spec"], "resources": {"requests": {"storage": sizes[name]}}}}
        if (name := template["metadata"]["name"]) in sizes
        else template
        for template in manifest["spec"]["volumeClaimTemplates"]
    ]
    return {**manifest, "spec": {**manifest["spec"], "volumeClaimTemplates": templates}}


class Growth(NamedTuple):
    """A claim that must become larger."""

    claim: ClaimView
    size: str

    def told(self) -> str:
        return f"volume claim {self.claim.metadata.name} grows from {requested(self.claim)} to {self.size}"

    def step(self) -> Patch:
        meta = self.claim.metadata
        change = {
            "metadata": {"uid": meta.uid},
            "spec": {"resources": {"requests": {"storage": self.size}}},
        }
        return Patch(Ref(PERSISTENT_VOLUME_CLAIM, key_of(self.claim)), MergePatch(change))


def growths(wanted: Manifest, claims: Sequence[ClaimView]) -> list[Growth]:
    """Claims in use that are bound and smaller than asked for; the server grows no others."""
    sizes = wanted_claims(wanted)
    found = [
        Growth(claim, str(sizes[claim.metadata.name])) for claim in claims if claim.metadata.name in sizes
    ]
    return [
        growth
        for growth in sorted(found, key=lambda each: each.claim.metadata.name)
        if growth.claim.metadata.deletion_timestamp is None
        and growth.claim.status.phase == BOUND
        and parse_quantity(requested(growth.claim)) < parse_quantity(growth.size)
    ]


def wanted_claims(wanted: Manifest) -> dict[str, str | int]:
    """The names of all claims of a set's pods, with the size that each should have."""
    name, replicas = wanted["metadata"]["name"], wanted["spec"]["replicas"]
    return {
        f"{template['metadata']['name']}-{name}-{ordinal}": template_size(template)
        for template in wanted["spec"]["volumeClaimTemplates"]
        for ordinal in range(replicas)
    }


def refusal(growing: Sequence[Growth], allows: Mapping[str, bool | None]) -> str:
    """Why volumes cannot grow, by StorageClass: `allows` has None for a class that does not exist."""
    by_class: dict[str, list[Growth]] = {}
    for growth in growing:
        if not allows.get(growth.claim.spec.storage_class_name):
            by_class.setdefault(growth.claim.spec.storage_class_name, []).append(growth)
    return "; ".join(_refused(name, found, allows.get(name)) for name, found in sorted(by_class.items()))


def _refused(name: str, found: list[Growth], allows: bool | None) -> str:
    first = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    what = f"volume claim {first.claim.metadata.name}{more} cannot grow from {requested(first.claim)} to {first.size}"
    if not name:
        return f"{what}: it has no StorageClass"
    if allows is None:
        return f"{what}: StorageClass {name} does not exist"
    return f"{what}: StorageClass {name} does not allow it, set its allowVolumeExpansion to true"


def resizing(wanted: Iterable[str], claims: Sequence[ClaimView]) -> str:
    """What is still to come after a claim has been asked to grow."""
    names = set(wanted)
    for claim in sorted(claims, key=lambda each: each.metadata.name):
        told = _resizing(claim) if claim.metadata.name in names else ""
        if told:
            return told
    return ""


def _resizing(claim: ClaimView) -> str:
    has, asked = str(claim.status.capacity.get("storage", "0")), requested(claim)
    if claim.status.phase != BOUND or parse_quantity(has) >= parse_quantity(asked):
        return ""
    pending = any(each.type == RESIZE_PENDING and each.status == "True" for each in claim.status.conditions)
    cure = ": its driver resizes the file system when the pod starts again, delete the pod" if pending else ""
    return f"volume claim {claim.metadata.name} grows from {has} to {asked}{cure}"


def settled_claim(wanted: Manifest, seen: ClaimView | None, allows: Mapping[str, bool | None]) -> Kept:
    """A claim that Steward makes itself: what cannot change stays as it is."""
    if seen is None:
        return Kept(wanted)
    name, asked = wanted["metadata"]["name"], str(template_size(wanted))
    kept: Manifest = {**wanted["spec"], "accessModes": list(seen.spec.access_modes)}
    if kept.get("storageClassName", seen.spec.storage_class_name) != seen.spec.storage_class_name:
        kept["storageClassName"] = seen.spec.storage_class_name
    told = refusal([Growth(seen, asked)], allows) if is_larger(wanted, seen) else ""
    if parse_quantity(asked) < parse_quantity(requested(seen)):
        told = f"volume claim {name} cannot shrink from {requested(seen)} to {asked}: a volume only grows"
    if told or seen.status.phase != BOUND:
        kept["resources"] = {"requests": {"storage": requested(seen)}}
    return Kept({**wanted, "spec": kept}, told)


def is_larger(wanted: Manifest, seen: ClaimView) -> bool:
    """Whether a claim that Steward makes itself must grow, and can be asked to."""
    size, has = parse_quantity(template_size(wanted)), parse_quantity(requested(seen))
    return size > has and seen.status.phase == BOUND


def claims_of(claims: Iterable[ClaimView], manifest: Manifest) -> list[ClaimView]:
    """The claims that pods of a set use or have used, by name."""
    name = manifest["metadata"]["name"]
    stems = [
        f"{template['metadata']['name']}-{name}" for template in manifest["spec"]["volumeClaimTemplates"]
    ]
    return [
        claim for claim in claims if any(ordinal_of(claim.metadata.name, stem) is not None for stem in stems)
    ]


def sets_in(desired: Iterable[Manifest]) -> list[Manifest]:
    return [manifest for manifest in desired if kind_of(manifest) == STATEFUL_SET]
