"""Which finalizers a template holds, for the clusters that use it."""

import pytest

from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.multigres.cache_rules import CELL_TEMPLATE
from steward.multigres.template_updates.finalizers import held_by, protect, wanted_finalizers

REF = Ref(CELL_TEMPLATE, Key("ns", "gate"))
A, B = held_by("a"), held_by("b")
OTHER = "example.com/keep"

CASES: dict[str, tuple[tuple[str, ...], list[str], tuple[str, ...]]] = {
    "nobody uses it": ((), [], ()),
    "two clusters begin to use it": ((), ["b", "a"], (A, B)),
    "one stops": ((A, B), ["b"], (B,)),
    "the last one stops": ((A,), [], ()),
    "those of others stay": ((OTHER, A), ["b"], (OTHER, B)),
}


@pytest.mark.parametrize(("held", "users", "wanted"), CASES.values(), ids=CASES)
def test_a_finalizer_for_each_user(held: tuple[str, ...], users: list[str], wanted: tuple[str, ...]) -> None:
    assert wanted_finalizers(ObjectMeta(name="gate", finalizers=held), users) == wanted


def test_a_template_on_its_way_out_gets_no_new_finalizer_and_loses_old_ones() -> None:
    going = ObjectMeta(name="gate", finalizers=(A,), deletion_timestamp="2026-01-01T00:00:00Z")
    assert wanted_finalizers(going, ["b"]) == ()
    assert wanted_finalizers(going, ["a", "b"]) == (A,)


def test_all_clusters_together_cost_one_patch_of_the_version_that_was_seen() -> None:
    meta = ObjectMeta(name="gate", resource_version="7")
    [step] = protect(REF, meta, [f"c{number}" for number in range(100)])
    assert isinstance(step.patch, MergePatch)
    metadata = step.patch.changes["metadata"]
    assert metadata["resourceVersion"] == "7"
    assert len(metadata["finalizers"]) == 100


def test_nothing_is_written_when_nothing_changes() -> None:
    assert protect(REF, ObjectMeta(name="gate", finalizers=(A,)), ["a"]) == ()


def test_the_longest_cluster_name_fits_into_a_finalizer() -> None:
    assert len(held_by("x" * 30).partition("/")[2]) <= 63
