from typing import Any

import pytest

from steward.kube.cache.store import Change
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.runtime.controller import predicates
from steward.runtime.controller.predicates import Predicate
from tests.runtime.support.views import PART, Part, key, meta


def change(old: Part | None, new: Part | None, owned_changed: bool = False) -> Change[Any]:
    return Change(PART, key("a"), old, new, False, owned_changed)


def between(before: dict[str, Any], after: dict[str, Any]) -> Change[Any]:
    """The same object with other metadata."""
    old, new = ({"resource_version": version, "generation": 1} for version in ("1", "2"))
    old, new = old | before, new | after
    return change(Part(meta(**old)), Part(meta(**new)))


EVERY_PREDICATE = [
    predicates.generation,
    predicates.labels,
    predicates.lifetime,
    predicates.annotations("a/b"),
    predicates.chosen(lambda part: part.phase),
    predicates.owned_fields,
    predicates.what_we_read,
    predicates.own_object(),
    predicates.child,
]


@pytest.mark.parametrize("predicate", EVERY_PREDICATE)
def test_what_appears_goes_or_is_replaced_is_always_worth_a_look(predicate: Predicate) -> None:
    here = Part(meta())
    assert predicate(change(None, here))
    assert predicate(change(here, None))
    assert predicate(change(here, Part(meta(uid="another"))))


@pytest.mark.parametrize("predicate", EVERY_PREDICATE)
def test_a_new_version_alone_is_not_worth_a_look(predicate: Predicate) -> None:
    assert not predicate(between({}, {}))


@pytest.mark.parametrize(
    ("predicate", "before", "after"),
    [
        (predicates.generation, {"generation": 1}, {"generation": 2}),
        (predicates.labels, {"labels": {"a": "1"}}, {"labels": {}}),
        (predicates.all_annotations, {}, {"annotations": {"a": "1"}}),
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
def test_a_change_that_a_predicate_is_about_is_worth_a_look(
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
def test_a_change_of_something_else_is_not(
    predicate: Predicate, before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert not predicate(between(before, after))


def test_without_generations_every_change_of_an_own_object_is_worth_a_look() -> None:
    assert predicates.own_object()(between({"generation": 0}, {"generation": 0}))


def test_a_field_that_the_view_declares_is_worth_a_look_without_any_generation() -> None:
    assert predicates.what_we_read(change(Part(meta(), "Pending"), Part(meta(), "Running")))
    assert predicates.chosen(lambda part: part.phase)(
        change(Part(meta(), "Pending"), Part(meta(), "Running"))
    )


def test_a_foreign_edit_of_what_we_own_is_worth_a_look_although_no_view_shows_it() -> None:
    assert predicates.child(change(Part(meta()), Part(meta()), owned_changed=True))
    assert not predicates.child(change(Part(meta()), Part(meta()), owned_changed=False))


def test_every_field_of_the_metadata_but_the_version_counts_as_read() -> None:
    assert set(predicates._STEADY_METADATA) == set(ObjectMeta.__struct_fields__) - {"resource_version"}


@pytest.mark.parametrize(
    ("old", "new", "owned_changed", "goes", "needs_repair"),
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
def test_what_is_to_be_put_back(
    old: Part | None, new: Part | None, owned_changed: bool, goes: bool, needs_repair: bool
) -> None:
    seen = change(old, new, owned_changed)
    assert predicates.goes(seen) is goes
    assert predicates.needs_repair(seen) is needs_repair
