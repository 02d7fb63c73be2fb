"""Finalizers of templates for the clusters that use them."""

import pytest

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.multigres.cache_rules import CELL_TEMPLATE
from steward.multigres.template_updates.finalizers import (
    cluster_finalizer,
    desired_finalizers,
    finalizer_steps,
)

REF = Ref(CELL_TEMPLATE, Key("ns", "gate"))
A, B = cluster_finalizer("a"), cluster_finalizer("b")
OTHER = "example.com/keep"

CASES: dict[str, tuple[tuple[str, ...], list[str], tuple[str, ...]]] = {
    "no cluster uses it": ((), [], ()),
    "two clusters begin to use it": ((), ["b", "a"], (A, B)),
    "one stops": ((A, B), ["b"], (B,)),
    "the last one stops": ((A,), [], ()),
    "finalizers of others stay": ((OTHER, A), ["b"], (OTHER, B)),
}


@pytest.mark.parametrize(("present", "users", "desired"), CASES.values(), ids=CASES)
def test_a_finalizer_for_each_user(
    present: tuple[str, ...], users: list[str], desired: tuple[str, ...]
) -> None:
    assert desired_finalizers(ObjectMeta(name="gate", finalizers=present), users) == desired


def test_a_terminating_template_gets_no_new_finalizer_and_loses_old_ones() -> None:
    terminating = ObjectMeta(name="gate", finalizers=(A,), deletion_timestamp="2026-01-01T00:00:00Z")
    assert desired_finalizers(terminating, ["b"]) == ()
    assert desired_finalizers(terminating, ["a", "b"]) == (A,)


def test_all_clusters_are_one_conditional_patch() -> None:
    meta = ObjectMeta(name="gate", resource_version="7")
    [step] = finalizer_steps(REF, meta, [f"c{number}" for number in range(100)])
    assert isinstance(step.patch, MergePatch)
    metadata = step.patch.changes["metadata"]
    assert metadata["resourceVersion"] == "7"
    assert len(metadata["finalizers"]) == 100


def test_nothing_is_written_when_nothing_changes() -> None:
    assert finalizer_steps(REF, ObjectMeta(name="gate", finalizers=(A,)), ["a"]) == ()


def test_the_longest_cluster_name_fits_into_a_finalizer() -> None:
    assert len(cluster_finalizer("x" * 30).partition("/")[2]) <= 63
