"""What becomes of sets and claims: rebuilt around their pods, grown, kept, or deleted when their grace is over."""

from collections.abc import Mapping
from typing import Any

import pytest

from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET, Key, Ref
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres.objects.metadata import Manifest
from steward.multigres.rollout.claim_retention import (
    GRACE,
    UNUSED_SINCE,
    ClaimGrace,
    RetentionInputs,
    expiry_steps,
    read_claim_grace,
    retained_claim_names,
    with_grace_policy,
)
from steward.multigres.rollout.volumes import (
    changed_immutable_fields,
    expansion_problem,
    must_expand,
    ordinal_of,
    plan_claim,
    plan_stateful_set,
    resize_message,
    stateful_sets_in,
    volume_expansions,
    with_live_sizes,
    without_shrinking,
)
from steward.multigres.views import (
    ClaimCondition,
    ClaimRetention,
    ClaimSpec,
    ClaimStatus,
    ClaimTemplateSpec,
    ClaimTemplateView,
    ClaimView,
    PodView,
    SelectorView,
    StatefulSetSpec,
    StatefulSetView,
    WorkloadStatus,
)
from steward.runtime.plan.steps import Delete, Patch, Requeue

NOW = 1_000_000.0
LABELS = {"app": "a"}


def desired_set(size: str = "1Gi", policy: str = "Retain", **spec: Any) -> Manifest:
    template = {
        "metadata": {"name": "data", "labels": LABELS},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {
            "serviceName": "a",
            "replicas": 2,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": LABELS},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": policy, "whenScaled": policy},
            "volumeClaimTemplates": [template],
            **spec,
        },
    }


def live_set(
    size: str = "1Gi", *, policy: str = "Retain", observed: int = 2, **metadata: Any
) -> StatefulSetView:
    resources = {"requests": {"storage": size}}
    template = ClaimTemplateView(
        ObjectMeta(name="data", labels=LABELS), ClaimTemplateSpec(("ReadWriteOnce",), resources)
    )
    spec = StatefulSetSpec(
        2, "a", "Parallel", SelectorView(LABELS), (template,), ClaimRetention(policy, policy)
    )
    meta = ObjectMeta(name="a", namespace="n", uid="set", generation=2, **metadata)
    return StatefulSetView(meta, spec, WorkloadStatus(observed_generation=observed))


def claim(
    name: str = "data-a-0",
    size: str = "1Gi",
    *,
    owner: str = "",
    phase: str = "Bound",
    annotations: Mapping[str, str] | None = None,
    **status: Any,
) -> ClaimView:
    owners = (OwnerReference(kind="StatefulSet", uid=owner),) if owner else ()
    meta = ObjectMeta(
        name=name, namespace="n", uid=f"uid of {name}", owner_references=owners, annotations=annotations or {}
    )
    spec = ClaimSpec("standard", ("ReadWriteOnce",), {"requests": {"storage": size}})
    return ClaimView(meta, spec, ClaimStatus(phase, **status))


SET = Ref(STATEFUL_SET, Key("n", "a"))


def test_an_unchanged_set_is_applied() -> None:
    assert plan_stateful_set(desired_set(), live_set(), [], []) == (desired_set(), (), "")


@pytest.mark.parametrize("size", ["1Gi", "1024Mi", "1073741824"])
def test_the_same_size_in_another_format_is_no_difference(size: str) -> None:
    assert changed_immutable_fields(desired_set(size), live_set()) == []


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        (desired_set("2Gi"), "volumeClaimTemplates"),
        (desired_set(serviceName="b"), "serviceName"),
        (desired_set(podManagementPolicy="OrderedReady"), "podManagementPolicy"),
        (desired_set(selector={"matchLabels": {"app": "b"}}), "selector"),
    ],
)
def test_a_changed_immutable_field_recreates_the_set(changed: Manifest, field: str) -> None:
    assert changed_immutable_fields(changed, live_set()) == [field]
    settled = plan_stateful_set(changed, live_set(), [], [])
    assert settled.manifest is None
    [step] = settled.steps
    assert isinstance(step, Delete)
    assert (step.ref, step.uid, step.propagation) == (SET, "set", "Orphan")


def test_replicas_template_and_policy_change_without_recreation() -> None:
    assert changed_immutable_fields(desired_set(policy="Delete", replicas=7), live_set()) == []


def test_a_set_gives_up_the_ownership_of_its_claims_first() -> None:
    settled = plan_stateful_set(
        desired_set("2Gi", "Delete"), live_set(policy="Delete"), [claim(owner="set")], []
    )
    assert settled.manifest is None
    [step] = settled.steps
    assert isinstance(step, Patch)
    assert step.patch.changes == {  # type: ignore[union-attr]
        "metadata": {"uid": "set"},
        "spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"}},
    }


@pytest.mark.parametrize(
    ("there", "claims"),
    [
        (live_set(), [claim(owner="set")]),
        (live_set(observed=1), []),
        (live_set(deletion_timestamp="now"), []),
    ],
)
def test_a_set_is_not_deleted_while_it_may_own_a_claim_nor_twice(
    there: StatefulSetView, claims: list[ClaimView]
) -> None:
    settled = plan_stateful_set(desired_set("2Gi"), there, claims, [])
    assert (settled.manifest, settled.steps) == (None, ())
    assert settled.waiting


def test_a_claim_of_another_owner_does_not_matter() -> None:
    assert len(plan_stateful_set(desired_set("2Gi"), live_set(), [claim(owner="another")], []).steps) == 1


def test_a_missing_set_is_created_with_the_desired_policy() -> None:
    assert plan_stateful_set(desired_set("2Gi", "Delete"), None, [], []) == (
        desired_set("2Gi", "Delete"),
        (),
        "",
    )


def test_pods_that_a_new_selector_does_not_match_are_labelled_first() -> None:
    pods = [
        PodView(ObjectMeta(name="a-0", namespace="n", uid="p", labels={"app": "old"})),
        PodView(ObjectMeta(name="a-1", namespace="n", uid="q", labels=LABELS)),
        PodView(ObjectMeta(name="a-b-0", namespace="n", uid="r")),
    ]
    [step] = plan_stateful_set(desired_set(), None, [], pods).steps
    assert isinstance(step, Patch)
    assert step.ref == Ref(POD, Key("n", "a-0"))
    assert step.patch.changes == {"metadata": {"uid": "p", "labels": LABELS}}  # type: ignore[union-attr]


def test_a_smaller_size_keeps_the_live_size_and_is_reported() -> None:
    kept = without_shrinking(desired_set("1Gi"), live_set("2Gi"))
    assert changed_immutable_fields(kept.manifest, live_set("2Gi")) == []
    assert "storage of a cannot shrink from 2Gi to 1Gi" in kept.problem


def test_used_claims_that_are_too_small_are_expanded() -> None:
    claims = [
        claim("data-a-0"),
        claim("data-a-1", "2Gi"),
        claim("data-a-2"),
        claim("data-b-0"),
    ]
    [growth] = volume_expansions(desired_set("2Gi"), claims)
    step = growth.patch_step()
    assert step.ref == Ref(PERSISTENT_VOLUME_CLAIM, Key("n", "data-a-0"))
    assert step.patch.changes == {  # type: ignore[union-attr]
        "metadata": {"uid": "uid of data-a-0"},
        "spec": {"resources": {"requests": {"storage": "2Gi"}}},
    }


def test_an_unbound_claim_is_not_expanded() -> None:
    assert volume_expansions(desired_set("2Gi"), [claim(phase="Pending")]) == []


@pytest.mark.parametrize(
    ("allows", "message"),
    [
        ({"standard": True}, ""),
        ({"standard": False}, "StorageClass standard does not allow it"),
        ({"standard": None}, "StorageClass standard does not exist"),
    ],
)
def test_a_class_that_forbids_expansion_is_named(allows: dict[str, bool | None], message: str) -> None:
    found = expansion_problem(volume_expansions(desired_set("2Gi"), [claim(), claim("data-a-1")]), allows)
    assert message in found
    assert bool(found) == bool(message)


@pytest.mark.parametrize(
    ("claims", "names"),
    [(["data-a-0"], "data-a-0 cannot grow"), (["data-a-0", "data-a-1"], "data-a-0 and 1 more cannot grow")],
)
def test_claims_that_cannot_grow_are_counted(claims: list[str], names: str) -> None:
    found = expansion_problem(volume_expansions(desired_set("2Gi"), [*map(claim, claims)]), {})
    assert found.startswith(f"volume claim {names} from 1Gi to 2Gi")


def test_a_set_whose_volumes_cannot_grow_keeps_its_sizes() -> None:
    assert changed_immutable_fields(with_live_sizes(desired_set("2Gi"), live_set()), live_set()) == []


def test_a_resize_in_progress_is_reported_with_a_needed_restart() -> None:
    growing = claim(size="2Gi", capacity={"storage": "1Gi"})
    assert resize_message(["data-a-0"], [growing]) == "volume claim data-a-0 grows from 1Gi to 2Gi"
    pending = (ClaimCondition("FileSystemResizePending", "True"),)
    stuck = claim(size="2Gi", capacity={"storage": "1Gi"}, conditions=pending)
    assert "delete the pod" in resize_message(["data-a-0"], [stuck])
    done = (ClaimCondition("FileSystemResizePending", "False"), ClaimCondition("Resizing", "True"))
    moving = claim(size="2Gi", capacity={"storage": "1Gi"}, conditions=done)
    assert "delete the pod" not in resize_message(["data-a-0"], [moving])
    assert resize_message(["data-a-0"], [claim(capacity={"storage": "1Gi"})]) == ""


def own_claim(size: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-a-0", "namespace": "n"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": size}}},
    }


@pytest.mark.parametrize(
    ("size", "allows", "kept", "message"),
    [
        ("1Gi", {}, "1Gi", ""),
        ("2Gi", {"standard": True}, "2Gi", ""),
        ("2Gi", {"standard": False}, "1Gi", "does not allow it"),
        ("512Mi", {}, "1Gi", "cannot shrink from 1Gi to 512Mi"),
    ],
)
def test_a_claim_of_the_operator_keeps_its_immutable_fields(
    size: str, allows: dict[str, bool | None], kept: str, message: str
) -> None:
    found = plan_claim(own_claim(size), claim(), allows)
    assert found.manifest["spec"]["resources"] == {"requests": {"storage": kept}}
    assert found.manifest["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert message in found.problem
    assert bool(found.problem) == bool(message)


@pytest.mark.parametrize(
    ("desired", "kept"),
    [({}, {}), ({"storageClassName": "standard"}, "standard"), ({"storageClassName": "fast"}, "standard")],
)
def test_a_claim_of_the_operator_keeps_its_storage_class(desired: dict[str, str], kept: Any) -> None:
    asked = own_claim("1Gi")
    asked["spec"] |= desired
    assert plan_claim(asked, claim(), {}).manifest["spec"].get("storageClassName", {}) == kept


@pytest.mark.parametrize(
    ("size", "phase", "grows"),
    [("1Gi", "Bound", False), ("2Gi", "Bound", True), ("2Gi", "Pending", False)],
)
def test_a_claim_of_the_operator_grows_when_it_is_bound(size: str, phase: str, grows: bool) -> None:
    assert must_expand(own_claim(size), claim(phase=phase)) is grows


def test_stateful_sets_are_found_among_other_objects() -> None:
    assert stateful_sets_in([own_claim("1Gi"), desired_set()]) == [desired_set()]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("", 0.0), ("0", 0.0), ("90s", 90.0), ("1h30m", 5400.0), ("a day", None), ("-1s", None)],
)
def test_an_invalid_grace_period_deletes_nothing(text: str, seconds: float | None) -> None:
    grace = read_claim_grace({GRACE: text})
    assert grace.seconds == seconds
    assert bool(grace.problem) == (seconds is None)


def test_the_nearest_annotation_counts() -> None:
    assert read_claim_grace({GRACE: "1m"}, {GRACE: "1h"}).seconds == 60
    assert read_claim_grace({}, {GRACE: "1h"}).seconds == 3600


def test_with_a_grace_period_the_set_retains_its_claims() -> None:
    policy = with_grace_policy(desired_set(policy="Delete"), ClaimGrace(60))["spec"][
        "persistentVolumeClaimRetentionPolicy"
    ]
    assert policy == {"whenDeleted": "Delete", "whenScaled": "Retain"}
    assert with_grace_policy(desired_set(policy="Delete"), ClaimGrace(0)) == desired_set(policy="Delete")


def unused(found: ClaimView, grace: ClaimGrace, *pods: str) -> RetentionInputs:
    return RetentionInputs([found], [PodView(ObjectMeta(name=name)) for name in pods], grace, NOW)


def marked(ago: float, name: str = "data-a-2") -> ClaimView:
    return claim(name, annotations={UNUSED_SINCE: to_timestamp(NOW - ago)})


def test_an_unused_claim_is_annotated_when_its_pod_is_gone() -> None:
    sets = [desired_set(policy="Delete")]
    assert expiry_steps(sets, unused(claim("data-a-2"), ClaimGrace(60), "a-2")) == ()
    [step] = expiry_steps(sets, unused(claim("data-a-2"), ClaimGrace(60)))
    assert isinstance(step, Patch)
    annotations = {UNUSED_SINCE: to_timestamp(NOW)}
    assert step.patch.changes == {  # type: ignore[union-attr]
        "metadata": {"uid": "uid of data-a-2", "annotations": annotations}
    }


def test_a_claim_is_deleted_when_its_grace_period_is_over_and_not_before() -> None:
    sets = [desired_set(policy="Delete")]
    assert expiry_steps(sets, unused(marked(20), ClaimGrace(60))) == (Requeue(40.0),)
    [step] = expiry_steps(sets, unused(marked(60), ClaimGrace(60)))
    assert isinstance(step, Delete)
    assert step.uid == "uid of data-a-2"


@pytest.mark.parametrize(
    ("policy", "found"), [("Delete", marked(99, "data-a-1")), ("Retain", marked(99, "data-a-2"))]
)
def test_a_returning_pod_or_a_retain_policy_clears_the_annotation(policy: str, found: ClaimView) -> None:
    [step] = expiry_steps([desired_set(policy=policy)], unused(found, ClaimGrace(60)))
    assert isinstance(step, Patch)
    assert step.patch.changes["metadata"]["annotations"] == {UNUSED_SINCE: None}  # type: ignore[union-attr]


@pytest.mark.parametrize("grace", [ClaimGrace(0), ClaimGrace(None, "unreadable")])
def test_without_a_valid_grace_period_no_claim_is_annotated_for_deletion(grace: ClaimGrace) -> None:
    steps = expiry_steps([desired_set(policy="Delete")], unused(claim("data-a-2"), grace))
    assert not any(isinstance(step, Delete) for step in steps)


def test_an_invalid_grace_period_retains_even_old_unused_claims() -> None:
    assert (
        expiry_steps([desired_set(policy="Delete")], unused(marked(1e6), ClaimGrace(None, "unreadable")))
        == ()
    )


def test_claims_that_no_desired_object_uses_are_listed() -> None:
    claims = [claim("data-a-0"), claim("data-a-2"), claim("data-b-0"), claim("backup")]
    assert retained_claim_names(claims, [desired_set()], ["backup"]) == ["data-a-2", "data-b-0"]


@pytest.mark.parametrize(
    ("name", "ordinal"),
    [("a-0", 0), ("a-12", 12), ("a-01", None), ("a-b-0", None), ("a", None), ("a-٣", None)],
)
def test_ordinals_are_read_from_names(name: str, ordinal: int | None) -> None:
    assert ordinal_of(name, "a") == ordinal
