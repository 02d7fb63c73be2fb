"""Steps that add and remove finalizers."""

import pytest

from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.runtime.plan.finalizers import add_finalizer, remove_finalizer
from steward.runtime.plan.steps import Patch

REF = Ref(CONFIG_MAP, Key("ns", "c"))
OURS = "example.com/cleanup"


def test_a_finalizer_is_added_after_those_of_others_on_the_version_that_was_read() -> None:
    meta = ObjectMeta(name="c", resource_version="7", finalizers=("a/b",))
    expected = Patch(REF, MergePatch.metadata_at_version("7", finalizers=["a/b", OURS]))
    assert add_finalizer(REF, meta, OURS) == (expected,)


@pytest.mark.parametrize("found", [("old/one", "a/b", "old/two"), ("a/b", OURS, "old/two")])
def test_finalizers_of_a_predecessor_are_replaced_in_the_same_write(found: tuple[str, ...]) -> None:
    meta = ObjectMeta(name="c", resource_version="7", finalizers=found)
    expected = Patch(REF, MergePatch.metadata_at_version("7", finalizers=["a/b", OURS]))
    assert add_finalizer(REF, meta, OURS, ("old/one", "old/two")) == (expected,)


def test_a_finalizer_is_removed_from_among_those_of_others() -> None:
    meta = ObjectMeta(name="c", resource_version="8", finalizers=("a/b", OURS, "z/y"))
    expected = Patch(REF, MergePatch.metadata_at_version("8", finalizers=["a/b", "z/y"]))
    assert remove_finalizer(REF, meta, OURS) == (expected,)


def test_an_object_that_has_the_finalizer_gets_no_second_one() -> None:
    assert add_finalizer(REF, ObjectMeta(name="c", finalizers=(OURS,)), OURS) == ()


def test_a_terminating_object_gets_no_finalizer() -> None:
    meta = ObjectMeta(name="c", deletion_timestamp="2024-01-01T00:00:00Z")
    assert add_finalizer(REF, meta, OURS) == ()


def test_removing_a_finalizer_that_is_absent_writes_nothing() -> None:
    assert remove_finalizer(REF, ObjectMeta(name="c", finalizers=("a/b",)), OURS) == ()
