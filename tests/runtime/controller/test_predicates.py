from typing import Any

import pytest

from steward.kube.cache.store import ObjectChange
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.runtime.controller import predicates
from steward.runtime.controller.predicates import Predicate
from tests.runtime.support.views import PART, Part, key, meta


def change(old: Part | None, new: Part | None, owned_changed: bool = False) -> ObjectChange[Any]:
    return ObjectChange(PART, key("a"), old, new, False, owned_changed)


def between(before: dict[str, Any], after: dict[str, Any]) -> ObjectChange[Any]:
    """The same object with other metadata."""
    old, new = ({"resource_version": version, "generation": 1} for version in ("1", "2"))
    old, new = old | before, new | after
    return change(Part(meta(**old)), Part(meta(**new)))


EVERY_PREDICATE = [
    predicates.generation,
    predicates.labels,
    predicates.lifetime,
    predicates.annotations("a/b"),
    predicates.selected_fields(lambda part: part.phase),
    predicates.owned_fields,
    predicates.view_fields,
    predicates.own_object(),
    predicates.child,
]


@pytest.mark.parametrize("predicate", EVERY_PREDICATE)
def test_creation_deletion_and_replacement_always_trigger(predicate: Predicate) -> None:
    here = Part(meta())
    assert predicate(change(None, here))
    assert predicate(change(here, None))
    assert predicate(change(here, Part(meta(uid="another"))))


@pytest.mark.parametrize("predicate", EVERY_PREDICATE)
def test_a_new_resource_version_alone_does_not_trigger(predicate: Predicate) -> None:
    assert not predicate(between({}, {}))


@pytest.mark.parametrize(
    ("predicate", "before", "after"),
    [
        (predicates.generation, {"generation": 1}, {"generation": 2}),
        (predicates.labels, {"labels": {"a": "1"}}, {"labels": {}}),
        (predicates.annotations("a/b"), {"annotations": {"a/b": "1"}}, {"annotations": {"a/b": "2"}}),
        (predicates.annotations("a/b", "a/c"), {}, {"annotations": {"a/c": ""}}),
        (predicates.lifetime, {}, {"deletion_timestamp": "2026-01-01T00:00:00Z"}),
        (predicates.lifetime, {"finalizers": ("a/b",)}, {}),
        (predicates.ownership, {}, {"owner_references": (OwnerReference(uid="x"),)}),
        (predicates.own_object("a/b"), {"generation": 1}, {"generation": 2}),
        (predicates.own_object("a/b"), {}, {"annotations": {"a/b": "now"}}),
        (predicates.own_object(), {"finalizers": ("a/b",)}, {}),
        (predicates.child, {"labels": {"a": "1"}}, {"labels": {"a": "2"}}),
    ],
)
def test_a_change_that_a_predicate_selects_triggers(
    predicate: Predicate, before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert predicate(between(before, after))


@pytest.mark.parametrize(
    ("predicate", "before", "after"),
    [
        (predicates.generation, {}, {"annotations": {"a": "1"}}),
        (predicates.annotations("a/b"), {}, {"annotations": {"other": "1"}}),
        (predicates.own_object("a/b"), {}, {"annotations": {"kubectl": "1"}, "labels": {"x": "y"}}),
    ],
)
def test_another_change_does_not_trigger(
    predicate: Predicate, before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert not predicate(between(before, after))


def test_without_a_generation_every_change_of_an_own_object_triggers() -> None:
    assert predicates.own_object()(between({"generation": 0}, {"generation": 0}))


def test_a_field_of_the_view_triggers_without_a_generation() -> None:
    assert predicates.view_fields(change(Part(meta(), "Pending"), Part(meta(), "Running")))
    assert predicates.selected_fields(lambda part: part.phase)(
        change(Part(meta(), "Pending"), Part(meta(), "Running"))
    )


def test_a_foreign_edit_of_an_owned_field_triggers_although_no_view_has_it() -> None:
    assert predicates.child(change(Part(meta()), Part(meta()), owned_changed=True))
    assert not predicates.child(change(Part(meta()), Part(meta()), owned_changed=False))


def test_every_metadata_field_except_the_version_counts_as_read() -> None:
    assert set(predicates._STEADY_METADATA) == set(ObjectMeta.__struct_fields__) - {"resource_version"}


@pytest.mark.parametrize(
    ("old", "new", "owned_changed", "deletion", "needs_repair"),
    [
        (None, Part(meta()), True, False, False),
        (Part(meta()), None, True, True, True),
        (Part(meta()), Part(meta(uid="another")), True, True, True),
        (Part(meta()), Part(meta(deletion_timestamp="now")), False, True, True),
        (Part(meta()), Part(meta(), phase="running"), False, False, False),
        (Part(meta()), Part(meta()), True, False, True),
    ],
    ids=["made", "gone", "replaced", "going", "moves on", "edited"],
)
def test_which_changes_need_repair(
    old: Part | None, new: Part | None, owned_changed: bool, deletion: bool, needs_repair: bool
) -> None:
    seen = change(old, new, owned_changed)
    assert predicates.deletion(seen) is deletion
    assert predicates.needs_repair(seen) is needs_repair
