"""Comparison of a manifest with the owned fields of the live object."""

from typing import Any

import msgspec

from steward.kube.apply.comparison import Comparison, ComparisonResult, ownable_fields
from steward.kube.apply.server_knowledge import ServerKnowledge
from steward.kube.managed_fields.ownership import (
    OwnedFields,
    OwnEntry,
    intern_field_set,
    owned_fields,
    owned_values,
)
from steward.kube.objects.kinds import Kind, Manifest

KIND = Kind("example.com/v1", "Thing")


def manifest(**spec: Any) -> Manifest:
    metadata = {"name": "a", "namespace": "n"}
    return {"apiVersion": KIND.api_version, "kind": KIND.kind, "metadata": metadata, "spec": spec}


def claim(fields: dict[str, Any]) -> OwnEntry:
    return OwnEntry(intern_field_set(KIND, msgspec.json.encode({"f:spec": fields})), ())


def owned(fields: dict[str, Any], **live: Any) -> OwnedFields:
    return owned_fields(claim(fields), {"spec": live})


def verdict(
    desired: Manifest, ours: OwnedFields | None, knowledge: ServerKnowledge | None = None
) -> ComparisonResult:
    return Comparison(desired, knowledge or ServerKnowledge()).compare(ours)


def learned(knowledge: ServerKnowledge, desired: Manifest, fields: dict[str, Any], **answer: Any) -> None:
    ours = owned(fields, **answer)
    Comparison(desired, knowledge).remember_answer(claim(fields), owned_values(ours, {"spec": answer}), ours)


def test_an_object_of_which_we_own_nothing_differs() -> None:
    assert verdict(manifest(a=1), None) is ComparisonResult.DIFFERENT


def test_equal_fields_with_equal_values_are_the_same() -> None:
    assert verdict(manifest(a=1), owned({"f:a": {}}, a=1, b=2)) is ComparisonResult.SAME


def test_another_value_differs() -> None:
    assert verdict(manifest(a=1), owned({"f:a": {}}, a=2)) is ComparisonResult.DIFFERENT


def test_a_field_more_or_less_differs() -> None:
    assert verdict(manifest(a=1, b=1), owned({"f:a": {}}, a=1, b=1)) is ComparisonResult.DIFFERENT
    assert verdict(manifest(a=1), owned({"f:a": {}, "f:b": {}}, a=1, b=1)) is ComparisonResult.DIFFERENT


def test_an_atomic_value_that_differs_may_hold_a_default() -> None:
    assert (
        verdict(manifest(a=[{"x": 1}]), owned({"f:a": {}}, a=[{"x": 1, "y": 0}])) is ComparisonResult.UNSURE
    )


def test_a_scalar_that_differs_beside_it_decides() -> None:
    fields: dict[str, Any] = {"f:a": {}, "f:b": {}}

    assert verdict(manifest(a=[1], b=1), owned(fields, a=[2], b=2)) is ComparisonResult.DIFFERENT


def test_the_stored_form_of_an_atomic_value_counts_as_the_same() -> None:
    knowledge = ServerKnowledge()
    learned(knowledge, manifest(a=[{"x": 1}]), {"f:a": {}}, a=[{"x": 1, "y": 0}])

    assert (
        verdict(manifest(a=[{"x": 1}]), owned({"f:a": {}}, a=[{"x": 1, "y": 0}]), knowledge)
        is ComparisonResult.SAME
    )


def test_an_atomic_value_with_a_known_stored_form_differs_without_a_dry_run() -> None:
    knowledge = ServerKnowledge()
    learned(knowledge, manifest(a=[1]), {"f:a": {}}, a=[1])

    assert verdict(manifest(a=[1]), owned({"f:a": {}}, a=[2]), knowledge) is ComparisonResult.DIFFERENT


def test_a_map_owned_as_one_value_costs_one_dry_run() -> None:
    knowledge = ServerKnowledge()
    ours = owned({"f:a": {}}, a={"x": 1})
    assert verdict(manifest(a={"x": 1}), ours, knowledge) is ComparisonResult.UNSURE

    learned(knowledge, manifest(a={"x": 1}), {"f:a": {}}, a={"x": 1})

    assert verdict(manifest(a={"x": 1}), ours, knowledge) is ComparisonResult.SAME


def test_a_map_known_not_to_be_atomic_differs_when_it_is_owned_as_one_value() -> None:
    knowledge = ServerKnowledge()
    learned(knowledge, manifest(a={"x": 1}), {"f:a": {"f:x": {}}}, a={"x": 1})

    assert (
        verdict(manifest(a={"x": 1}), owned({"f:a": {}}, a={"x": 1}), knowledge) is ComparisonResult.DIFFERENT
    )


def test_an_empty_list_that_was_owned_once_differs_when_it_is_not() -> None:
    knowledge = ServerKnowledge()
    learned(knowledge, manifest(a=[]), {"f:a": {}}, a=[])

    assert verdict(manifest(a=[]), owned({}, a=[1]), knowledge) is ComparisonResult.DIFFERENT


def test_a_manifest_that_a_webhook_rewrites_is_sent_once_for_each_object() -> None:
    knowledge = ServerKnowledge()
    ours = owned({"f:a": {}}, a="rewritten")
    assert verdict(manifest(a="sent"), ours, knowledge) is ComparisonResult.DIFFERENT

    learned(knowledge, manifest(a="sent"), {"f:a": {}}, a="rewritten")

    assert verdict(manifest(a="sent"), ours, knowledge) is ComparisonResult.SAME
    assert verdict(manifest(a="other"), ours, knowledge) is ComparisonResult.DIFFERENT
    assert (
        verdict(manifest(a="sent"), owned({"f:a": {}}, a="edited"), knowledge) is ComparisonResult.DIFFERENT
    )


def test_the_content_of_a_map_that_we_applied_empty_may_be_of_another_manager() -> None:
    fields: dict[str, Any] = {"f:a": {}, "f:b": {}}

    assert verdict(manifest(a={}, b=1), owned(fields, a={"x": 1}, b=1)) is ComparisonResult.UNSURE
    assert verdict(manifest(a={}, b=1), owned(fields, a={}, b=1)) is ComparisonResult.SAME
    assert verdict(manifest(a={}, b=1), owned(fields, b=1)) is ComparisonResult.SAME


def test_defaults_in_an_empty_map_are_known_for_all_objects_of_a_kind() -> None:
    knowledge = ServerKnowledge()
    learned(knowledge, manifest(a={}, b=1), {"f:a": {}, "f:b": {}}, a={"x": 1}, b=1)

    assert (
        verdict(manifest(a={}, b=2), owned({"f:a": {}, "f:b": {}}, a={"x": 1}, b=2), knowledge)
        is ComparisonResult.SAME
    )


def test_a_scalar_beside_an_empty_map_decides() -> None:
    fields: dict[str, Any] = {"f:a": {}, "f:b": {}}

    assert verdict(manifest(a={}, b=1), owned(fields, a={"x": 1}, b=2)) is ComparisonResult.DIFFERENT


def test_an_atomic_list_beside_an_empty_map_needs_no_question_once_its_answer_is_known() -> None:
    knowledge, fields = ServerKnowledge(), {"f:a": {}, "f:b": {}}
    learned(knowledge, manifest(a={}, b=[1]), fields, a={}, b=[1])

    assert verdict(manifest(a={}, b=[1]), owned(fields, a={}, b=[2]), knowledge) is ComparisonResult.DIFFERENT


def test_only_ownable_fields_are_compared() -> None:
    whole = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1", "managedFields": []},
        "data": {},
    }

    assert ownable_fields(whole) == {"data": {}}
    assert ownable_fields({**whole, "metadata": {"name": "a", "labels": {"x": "y"}}}) == {
        "data": {},
        "metadata": {"labels": {"x": "y"}},
    }
