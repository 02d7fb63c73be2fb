"""The annotation of a cluster that has never written to its topology server."""

from typing import Any

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.deletion.topology_mark import (
    NOT_REGISTERED,
    finalizer_steps,
    may_have_records,
    registration_steps,
)
from steward.multigres.objects.metadata import FINALIZER
from steward.runtime.plan.steps import Patch, Plan

REF = Ref(CLUSTER, Key("shop", "mini"))


def metadata(**fields: Any) -> ObjectMeta:
    return ObjectMeta(name="mini", namespace="shop", uid="u1", resource_version="7", **fields)


def changed(plan: Plan) -> Any:
    [step] = plan
    assert isinstance(step, Patch)
    return step.patch.changes["metadata"]  # type: ignore[union-attr]


def test_a_new_cluster_gets_finalizer_and_annotation_in_one_write() -> None:
    written = changed(finalizer_steps(REF, metadata(finalizers=("other",)), is_new=True))
    assert written["finalizers"] == ["other", FINALIZER]
    assert written["annotations"] == {NOT_REGISTERED: "u1"}
    assert written["resourceVersion"] == "7"


def test_a_cluster_that_may_be_registered_gets_no_annotation() -> None:
    assert "annotations" not in changed(finalizer_steps(REF, metadata(), is_new=False))
    assert finalizer_steps(REF, metadata(finalizers=(FINALIZER,)), is_new=True) == ()
    assert finalizer_steps(REF, metadata(deletion_timestamp="now"), is_new=True) == ()


def test_a_cluster_of_the_go_operator_has_records_and_loses_the_finalizer_of_that_operator() -> None:
    written = changed(
        finalizer_steps(REF, metadata(finalizers=("multigres.com/cluster-cleanup", "other")), is_new=True)
    )
    assert written["finalizers"] == ["other", FINALIZER]
    assert "annotations" not in written


def test_only_the_annotation_of_this_very_cluster_counts() -> None:
    assert may_have_records(metadata())
    assert may_have_records(metadata(annotations={NOT_REGISTERED: "u0"}))
    assert not may_have_records(metadata(annotations={NOT_REGISTERED: "u1"}))


def test_the_annotation_is_removed_once() -> None:
    written = changed(registration_steps(REF, metadata(annotations={NOT_REGISTERED: "u1"})))
    assert written == {"uid": "u1", "annotations": {NOT_REGISTERED: None}}
    assert registration_steps(REF, metadata()) == ()
