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
    Grace,
    Unused,
    expiry,
    kept_by_set,
    read_grace,
    retained,
)
from steward.multigres.rollout.volumes import (
    as_it_is,
    growths,
    must_be_rebuilt,
    ordinal_of,
    refusal,
    resizing,
    settle,
    settled_claim,
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


def wanted(size: str = "1Gi", policy: str = "Retain", **spec: Any) -> Manifest:
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


def seen(size: str = "1Gi", *, policy: str = "Retain", observed: int = 2, **metadata: Any) -> StatefulSetView:
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


def test_a_set_that_is_as_it_should_be_is_applied() -> None:
    assert settle(wanted(), seen(), [], []) == (wanted(), (), "")


@pytest.mark.parametrize("size", ["1Gi", "1024Mi", "1073741824"])
def test_the_same_size_in_another_spelling_is_no_difference(size: str) -> None:
    assert must_be_rebuilt(wanted(size), seen()) == []


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        (wanted("2Gi"), "volumeClaimTemplates"),
        (wanted(serviceName="b"), "serviceName"),
        (wanted(podManagementPolicy="OrderedReady"), "podManagementPolicy"),
        (wanted(selector={"matchLabels": {"app": "b"}}), "selector"),
    ],
)
def test_fields_that_nobody_may_change_make_a_set_be_rebuilt(changed: Manifest, field: str) -> None:
    assert must_be_rebuilt(changed, seen()) == [field]
    settled = settle(changed, seen(), [], [])
    assert settled.manifest is None
    [step] = settled.before
    assert isinstance(step, Delete)
    assert (step.ref, step.uid, step.propagation) == (SET, "set", "Orphan")


def test_replicas_template_and_policy_need_no_rebuilding() -> None:
    assert must_be_rebuilt(wanted(policy="Delete", replicas=7), seen()) == []


def test_a_set_lets_go_of_its_claims_before_anything_else() -> None:
    settled = settle(wanted("2Gi", "Delete"), seen(policy="Delete"), [claim(owner="set")], [])
    assert settled.manifest is None
    [step] = settled.before
    assert isinstance(step, Patch)
    assert step.patch.changes == {  # type: ignore[union-attr]
        "metadata": {"uid": "set"},
        "spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"}},
    }


@pytest.mark.parametrize(
    ("there", "claims"),
    [(seen(), [claim(owner="set")]), (seen(observed=1), []), (seen(deletion_timestamp="now"), [])],
)
def test_a_set_is_not_deleted_while_a_claim_may_still_name_it_nor_twice(
    there: StatefulSetView, claims: list[ClaimView]
) -> None:
    settled = settle(wanted("2Gi"), there, claims, [])
    assert (settled.manifest, settled.before) == (None, ())
    assert settled.waiting


def test_a_claim_that_names_another_owner_does_not_matter() -> None:
    assert len(settle(wanted("2Gi"), seen(), [claim(owner="another")], []).before) == 1


def test_a_missing_set_is_made_with_the_policy_that_is_asked_for() -> None:
    assert settle(wanted("2Gi", "Delete"), None, [], []) == (wanted("2Gi", "Delete"), (), "")


def test_pods_that_a_new_selector_would_not_find_are_labelled_first() -> None:
    pods = [
        PodView(ObjectMeta(name="a-0", namespace="n", uid="p", labels={"app": "old"})),
        PodView(ObjectMeta(name="a-1", namespace="n", uid="q", labels=LABELS)),
        PodView(ObjectMeta(name="a-b-0", namespace="n", uid="r")),
    ]
    [step] = settle(wanted(), None, [], pods).before
    assert isinstance(step, Patch)
    assert step.ref == Ref(POD, Key("n", "a-0"))
    assert step.patch.changes == {"metadata": {"uid": "p", "labels": LABELS}}  # type: ignore[union-attr]


def test_a_smaller_size_keeps_the_set_as_it_is_and_is_told() -> None:
    kept = without_shrinking(wanted("1Gi"), seen("2Gi"))
    assert must_be_rebuilt(kept.manifest, seen("2Gi")) == []
    assert "storage of a cannot shrink from 2Gi to 1Gi" in kept.problem


def test_claims_in_use_that_are_too_small_grow() -> None:
    claims = [
        claim("data-a-0"),
        claim("data-a-1", "2Gi"),
        claim("data-a-2"),
        claim("data-b-0"),
    ]
    [growth] = growths(wanted("2Gi"), claims)
    step = growth.step()
    assert step.ref == Ref(PERSISTENT_VOLUME_CLAIM, Key("n", "data-a-0"))
    assert step.patch.changes == {  # type: ignore[union-attr]
        "metadata": {"uid": "uid of data-a-0"},
        "spec": {"resources": {"requests": {"storage": "2Gi"}}},
    }


def test_a_claim_without_a_volume_is_left_until_it_has_one() -> None:
    assert growths(wanted("2Gi"), [claim(phase="Pending")]) == []


@pytest.mark.parametrize(
    ("allows", "told"),
    [
        ({"standard": True}, ""),
        ({"standard": False}, "StorageClass standard does not allow it"),
        ({"standard": None}, "StorageClass standard does not exist"),
    ],
)
def test_a_class_that_does_not_let_volumes_grow_is_named(allows: dict[str, bool | None], told: str) -> None:
    found = refusal(growths(wanted("2Gi"), [claim(), claim("data-a-1")]), allows)
    assert told in found
    assert bool(found) == bool(told)


def test_a_set_whose_volumes_cannot_grow_stays_as_it_is() -> None:
    assert must_be_rebuilt(as_it_is(wanted("2Gi"), seen()), seen()) == []


def test_a_volume_on_its_way_is_told_and_so_is_one_that_needs_a_restart() -> None:
    growing = claim(size="2Gi", capacity={"storage": "1Gi"})
    assert resizing(["data-a-0"], [growing]) == "volume claim data-a-0 grows from 1Gi to 2Gi"
    pending = (ClaimCondition("FileSystemResizePending", "True"),)
    stuck = claim(size="2Gi", capacity={"storage": "1Gi"}, conditions=pending)
    assert "delete the pod" in resizing(["data-a-0"], [stuck])
    assert resizing(["data-a-0"], [claim(capacity={"storage": "1Gi"})]) == ""


def own_claim(size: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-a-0", "namespace": "n"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": size}}},
    }


@pytest.mark.parametrize(
    ("size", "allows", "kept", "told"),
    [
        ("2Gi", {"standard": True}, "2Gi", ""),
        ("2Gi", {"standard": False}, "1Gi", "does not allow it"),
        ("512Mi", {}, "1Gi", "cannot shrink from 1Gi to 512Mi"),
    ],
)
def test_a_claim_of_our_own_changes_only_what_can_change(
    size: str, allows: dict[str, bool | None], kept: str, told: str
) -> None:
    found = settled_claim(own_claim(size), claim(), allows)
    assert found.manifest["spec"]["resources"] == {"requests": {"storage": kept}}
    assert found.manifest["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert told in found.problem
    assert bool(found.problem) == bool(told)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("", 0.0), ("0", 0.0), ("90s", 90.0), ("1h30m", 5400.0), ("a day", None), ("-1s", None)],
)
def test_a_grace_is_a_duration_and_what_is_none_deletes_nothing(text: str, seconds: float | None) -> None:
    grace = read_grace({GRACE: text})
    assert grace.seconds == seconds
    assert bool(grace.problem) == (seconds is None)


def test_the_nearest_annotation_counts() -> None:
    assert read_grace({GRACE: "1m"}, {GRACE: "1h"}).seconds == 60
    assert read_grace({}, {GRACE: "1h"}).seconds == 3600


def test_with_a_grace_the_set_itself_keeps_what_steward_will_delete() -> None:
    policy = kept_by_set(wanted(policy="Delete"), Grace(60))["spec"]["persistentVolumeClaimRetentionPolicy"]
    assert policy == {"whenDeleted": "Delete", "whenScaled": "Retain"}
    assert kept_by_set(wanted(policy="Delete"), Grace(0)) == wanted(policy="Delete")


def unused(found: ClaimView, grace: Grace, *pods: str) -> Unused:
    return Unused([found], [PodView(ObjectMeta(name=name)) for name in pods], grace, NOW)


def marked(ago: float, name: str = "data-a-2") -> ClaimView:
    return claim(name, annotations={UNUSED_SINCE: to_timestamp(NOW - ago)})


def test_a_claim_that_comes_out_of_use_is_marked_when_its_pod_is_gone() -> None:
    sets = [wanted(policy="Delete")]
    assert expiry(sets, unused(claim("data-a-2"), Grace(60), "a-2")) == ()
    [step] = expiry(sets, unused(claim("data-a-2"), Grace(60)))
    assert isinstance(step, Patch)
    annotations = {UNUSED_SINCE: to_timestamp(NOW)}
    assert step.patch.changes == {  # type: ignore[union-attr]
        "metadata": {"uid": "uid of data-a-2", "annotations": annotations}
    }


def test_a_claim_goes_when_its_grace_is_over_and_not_before() -> None:
    sets = [wanted(policy="Delete")]
    assert expiry(sets, unused(marked(20), Grace(60))) == (Requeue(40.0),)
    [step] = expiry(sets, unused(marked(60), Grace(60)))
    assert isinstance(step, Delete)
    assert step.uid == "uid of data-a-2"


@pytest.mark.parametrize(
    ("policy", "found"), [("Delete", marked(99, "data-a-1")), ("Retain", marked(99, "data-a-2"))]
)
def test_a_pod_that_comes_back_or_a_policy_that_keeps_spares_the_claim(policy: str, found: ClaimView) -> None:
    [step] = expiry([wanted(policy=policy)], unused(found, Grace(60)))
    assert isinstance(step, Patch)
    assert step.patch.changes["metadata"]["annotations"] == {UNUSED_SINCE: None}  # type: ignore[union-attr]


@pytest.mark.parametrize("grace", [Grace(0), Grace(None, "unreadable")])
def test_without_a_grace_that_can_be_read_steward_deletes_nothing_unmarked(grace: Grace) -> None:
    steps = expiry([wanted(policy="Delete")], unused(claim("data-a-2"), grace))
    assert not any(isinstance(step, Delete) for step in steps)


def test_an_unreadable_grace_spares_even_what_was_marked_long_ago() -> None:
    assert expiry([wanted(policy="Delete")], unused(marked(1e6), Grace(None, "unreadable"))) == ()


def test_claims_that_nothing_wanted_uses_are_listed() -> None:
    claims = [claim("data-a-0"), claim("data-a-2"), claim("data-b-0"), claim("backup")]
    assert retained(claims, [wanted()], ["backup"]) == ["data-a-2", "data-b-0"]


@pytest.mark.parametrize(
    ("name", "ordinal"),
    [("a-0", 0), ("a-12", 12), ("a-01", None), ("a-b-0", None), ("a", None), ("a-٣", None)],
)
def test_ordinals_are_read_from_names(name: str, ordinal: int | None) -> None:
    assert ordinal_of(name, "a") == ordinal
