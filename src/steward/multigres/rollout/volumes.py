"""Plans StatefulSet and volume changes that the API server rejects as updates of immutable fields. Pure.

A volume only grows. A set whose immutable fields must change is deleted without its pods and created again:

1. Its claim retention policy becomes Retain/Retain, until no claim names the set as its owner: the garbage collector
   would delete such a claim together with the set.
2. The set alone is deleted, by uid, with orphaned dependents.
3. The set is created again with the desired policy, and finds its pods and claims by their names.

Each reconcile derives the next step from the live objects, so the operator may stop after any of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET, Manifest, Ref, kind_of
from steward.kube.objects.meta import key_of
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.quantity import canonical_quantity, parse_quantity
from steward.multigres.views import ClaimRetention, ClaimTemplateView, ClaimView, PodView, StatefulSetView
from steward.runtime.plan.steps import Delete, Patch, Plan

RETAIN_ALL = {"whenDeleted": "Retain", "whenScaled": "Retain"}
RECREATE = "immutable fields change: it is recreated around its running pods"
RELEASING = "it gives up the ownership of its volumes"
BOUND = "Bound"
RESIZE_PENDING = "FileSystemResizePending"


class ClaimTemplateFields(NamedTuple):
    """The fields of a claim template that the API server compares."""

    name: str
    labels: tuple[tuple[str, str], ...]
    access_modes: tuple[str, ...]
    size: str | None
    storage_class: str
    volume_mode: str


class StatefulSetPlan(NamedTuple):
    """The next step for one set: the manifest to apply, if any, the steps before it, and what is waited for."""

    manifest: Manifest | None
    steps: Plan = ()
    waiting: str = ""


def plan_stateful_set(
    desired: Manifest, live: StatefulSetView | None, claims: Sequence[ClaimView], pods: Iterable[PodView]
) -> StatefulSetPlan:
    """One step towards `desired`. With `changed_immutable_fields`, `claims` must be live: a delete relies on them."""
    if live is None:
        return StatefulSetPlan(desired, relabel_steps(desired, pods))
    if live.metadata.deletion_timestamp is not None:
        return StatefulSetPlan(None, (), "the old one is being deleted")
    if not changed_immutable_fields(desired, live):
        return StatefulSetPlan(desired)
    return _plan_recreation(live, claims)


def _plan_recreation(live: StatefulSetView, claims: Sequence[ClaimView]) -> StatefulSetPlan:
    ref, uid = Ref(STATEFUL_SET, key_of(live)), live.metadata.uid
    if live.spec.persistent_volume_claim_retention_policy != ClaimRetention():
        change = {"metadata": {"uid": uid}, "spec": {"persistentVolumeClaimRetentionPolicy": RETAIN_ALL}}
        return StatefulSetPlan(None, (Patch(ref, MergePatch(change)),), RELEASING)
    if live.status.observed_generation < live.metadata.generation or _is_owner(uid, claims):
        return StatefulSetPlan(None, (), RELEASING)
    return StatefulSetPlan(
        None, (Delete(ref, uid, RECREATE, propagation="Orphan"),), "it is recreated around its pods"
    )


def _is_owner(uid: str, claims: Sequence[ClaimView]) -> bool:
    return any(owner.uid == uid for claim in claims for owner in claim.metadata.owner_references)


def changed_immutable_fields(desired: Manifest, live: StatefulSetView) -> list[str]:
    """The fields that differ and that the API server does not let change."""
    spec, current = desired["spec"], live.spec
    policy = spec.get("podManagementPolicy", "OrderedReady")
    differs = {
        "serviceName": spec["serviceName"] != current.service_name,
        "podManagementPolicy": policy != current.pod_management_policy,
        "selector": spec["selector"]["matchLabels"] != dict(current.selector.match_labels),
        "volumeClaimTemplates": _desired_fields(spec)
        != tuple(map(_live_fields, current.volume_claim_templates)),
    }
    return [field for field, is_different in differs.items() if is_different]


def _desired_fields(spec: Mapping[str, Any]) -> tuple[ClaimTemplateFields, ...]:
    return tuple(_template_fields(template) for template in spec["volumeClaimTemplates"])


def _template_fields(template: Manifest) -> ClaimTemplateFields:
    metadata, spec = template["metadata"], template["spec"]
    return ClaimTemplateFields(
        metadata["name"],
        tuple(sorted(metadata.get("labels", {}).items())),
        tuple(spec["accessModes"]),
        canonical_quantity(template_size(template)),
        spec.get("storageClassName", ""),
        spec.get("volumeMode", "Filesystem"),
    )


def _live_fields(template: ClaimTemplateView) -> ClaimTemplateFields:
    return ClaimTemplateFields(
        template.metadata.name,
        tuple(sorted(template.metadata.labels.items())),
        template.spec.access_modes,
        canonical_quantity(_requested(template.spec.resources)),
        template.spec.storage_class_name,
        template.spec.volume_mode,
    )


def relabel_steps(desired: Manifest, pods: Iterable[PodView]) -> Plan:
    """Labels pods that a new set would not select: it would try to create them again under the same names."""
    selected = desired["spec"]["selector"]["matchLabels"]
    return tuple(
        Patch(
            Ref(POD, key_of(pod)),
            MergePatch({"metadata": {"uid": pod.metadata.uid, "labels": dict(selected)}}),
        )
        for pod in sorted(pods, key=lambda pod: pod.metadata.name)
        if ordinal_of(pod.metadata.name, desired["metadata"]["name"]) is not None
        and pod.metadata.deletion_timestamp is None
        and any(pod.metadata.labels.get(label) != value for label, value in selected.items())
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


class SizedManifest(NamedTuple):
    """A manifest whose volume sizes the API server accepts; `problem` says why they are not the desired ones."""

    manifest: Manifest
    problem: str = ""


def without_shrinking(desired: Manifest, live: StatefulSetView | None) -> SizedManifest:
    """A claim template that asks for less than the live one keeps the live size."""
    if live is None:
        return SizedManifest(desired)
    sizes = _live_sizes(live)
    shrinking = [
        template
        for template in desired["spec"]["volumeClaimTemplates"]
        if parse_quantity(sizes.get(template["metadata"]["name"], "0"))
        > parse_quantity(template_size(template))
    ]
    if not shrinking:
        return SizedManifest(desired)
    kept = {template["metadata"]["name"]: sizes[template["metadata"]["name"]] for template in shrinking}
    problem = "; ".join(
        f"storage of {desired['metadata']['name']} cannot shrink from {sizes[template['metadata']['name']]} to"
        f" {template_size(template)}: a volume only grows, ask for the former size again"
        for template in shrinking
    )
    return SizedManifest(with_sizes(desired, kept), problem)


def with_live_sizes(desired: Manifest, live: StatefulSetView | None) -> Manifest:
    """The manifest with the volume sizes of the live set, for as long as its volumes cannot grow."""
    return desired if live is None else with_sizes(desired, _live_sizes(live))


def _live_sizes(live: StatefulSetView) -> dict[str, str]:
    return {
        template.metadata.name: _requested(template.spec.resources)
        for template in live.spec.volume_claim_templates
    }


def with_sizes(manifest: Manifest, sizes: Mapping[str, str]) -> Manifest:
    templates = [
        {**template, "spec": {**template["spec"], "resources": {"requests": {"storage": sizes[name]}}}}
        if (name := template["metadata"]["name"]) in sizes
        else template
        for template in manifest["spec"]["volumeClaimTemplates"]
    ]
    return {**manifest, "spec": {**manifest["spec"], "volumeClaimTemplates": templates}}


class VolumeExpansion(NamedTuple):
    """A claim that must grow to `size`."""

    claim: ClaimView
    size: str

    def message(self) -> str:
        return f"volume claim {self.claim.metadata.name} grows from {requested(self.claim)} to {self.size}"

    def patch_step(self) -> Patch:
        meta = self.claim.metadata
        change = {
            "metadata": {"uid": meta.uid},
            "spec": {"resources": {"requests": {"storage": self.size}}},
        }
        return Patch(Ref(PERSISTENT_VOLUME_CLAIM, key_of(self.claim)), MergePatch(change))


def volume_expansions(desired: Manifest, claims: Sequence[ClaimView]) -> list[VolumeExpansion]:
    """Claims of the set that are bound and smaller than desired; the API server expands no others."""
    sizes = desired_claim_sizes(desired)
    found = [
        VolumeExpansion(claim, str(sizes[claim.metadata.name]))
        for claim in claims
        if claim.metadata.name in sizes
    ]
    return [
        expansion
        for expansion in sorted(found, key=lambda expansion: expansion.claim.metadata.name)
        if expansion.claim.metadata.deletion_timestamp is None
        and expansion.claim.status.phase == BOUND
        and parse_quantity(requested(expansion.claim)) < parse_quantity(expansion.size)
    ]


def desired_claim_sizes(desired: Manifest) -> dict[str, str | int]:
    """The claim names of all pods of a set, with the desired size of each."""
    name, replicas = desired["metadata"]["name"], desired["spec"]["replicas"]
    return {
        f"{template['metadata']['name']}-{name}-{ordinal}": template_size(template)
        for template in desired["spec"]["volumeClaimTemplates"]
        for ordinal in range(replicas)
    }


def expansion_problem(expansions: Sequence[VolumeExpansion], allows: Mapping[str, bool | None]) -> str:
    """Why volumes cannot grow, by StorageClass: `allows` has None for a class that does not exist."""
    by_class: dict[str, list[VolumeExpansion]] = {}
    for expansion in expansions:
        name = expansion.claim.spec.storage_class_name
        if not allows.get(name):
            by_class.setdefault(name, []).append(expansion)
    return "; ".join(
        _class_problem(name, found, allows.get(name)) for name, found in sorted(by_class.items())
    )


def _class_problem(name: str, expansions: list[VolumeExpansion], allows: bool | None) -> str:
    first = expansions[0]
    more = f" and {len(expansions) - 1} more" if len(expansions) > 1 else ""
    what = f"volume claim {first.claim.metadata.name}{more} cannot grow from {requested(first.claim)} to {first.size}"
    if not name:
        return f"{what}: it has no StorageClass"
    if allows is None:
        return f"{what}: StorageClass {name} does not exist"
    return f"{what}: StorageClass {name} does not allow it, set its allowVolumeExpansion to true"


def resize_message(desired: Iterable[str], claims: Sequence[ClaimView]) -> str:
    """What the first claim among `desired` that is being resized still waits for; "" if none is."""
    names = set(desired)
    for claim in sorted(claims, key=lambda claim: claim.metadata.name):
        message = _claim_resize_message(claim) if claim.metadata.name in names else ""
        if message:
            return message
    return ""


def _claim_resize_message(claim: ClaimView) -> str:
    capacity, asked = str(claim.status.capacity.get("storage", "0")), requested(claim)
    if claim.status.phase != BOUND or parse_quantity(capacity) >= parse_quantity(asked):
        return ""
    pending = any(each.type == RESIZE_PENDING and each.status == "True" for each in claim.status.conditions)
    cure = ": its driver resizes the file system when the pod starts again, delete the pod" if pending else ""
    return f"volume claim {claim.metadata.name} grows from {capacity} to {asked}{cure}"


def plan_claim(desired: Manifest, live: ClaimView | None, allows: Mapping[str, bool | None]) -> SizedManifest:
    """A claim that the operator creates itself: immutable fields keep their live values."""
    if live is None:
        return SizedManifest(desired)
    name, asked = desired["metadata"]["name"], str(template_size(desired))
    spec: Manifest = {**desired["spec"], "accessModes": list(live.spec.access_modes)}
    if spec.get("storageClassName", live.spec.storage_class_name) != live.spec.storage_class_name:
        spec["storageClassName"] = live.spec.storage_class_name
    problem = ""
    if must_expand(desired, live):
        problem = expansion_problem([VolumeExpansion(live, asked)], allows)
    if parse_quantity(asked) < parse_quantity(requested(live)):
        problem = f"volume claim {name} cannot shrink from {requested(live)} to {asked}: a volume only grows"
    if problem or live.status.phase != BOUND:
        spec["resources"] = {"requests": {"storage": requested(live)}}
    return SizedManifest({**desired, "spec": spec}, problem)


def must_expand(desired: Manifest, live: ClaimView) -> bool:
    """Whether a claim that the operator creates itself must grow and is bound."""
    size, current = parse_quantity(template_size(desired)), parse_quantity(requested(live))
    return size > current and live.status.phase == BOUND


def claims_of_set(claims: Iterable[ClaimView], manifest: Manifest) -> list[ClaimView]:
    """The claims that pods of a set use or have used, by name."""
    name = manifest["metadata"]["name"]
    stems = [
        f"{template['metadata']['name']}-{name}" for template in manifest["spec"]["volumeClaimTemplates"]
    ]
    return [
        claim for claim in claims if any(ordinal_of(claim.metadata.name, stem) is not None for stem in stems)
    ]


def stateful_sets_in(desired: Iterable[Manifest]) -> list[Manifest]:
    return [manifest for manifest in desired if kind_of(manifest) == STATEFUL_SET]
