"""The verdict on a manifest, from what we own of the live object."""

from typing import Any

import msgspec

from steward.kube.apply.comparison import Comparison, Verdict, fields_of
from steward.kube.apply.server_knowledge import Settled
from steward.kube.managed_fields.ownership import Claim, OwnedFields, field_set, owned_fields, values_of
from steward.kube.objects.kinds import Kind, Manifest

KIND = Kind("example.com/v1", "Thing")


def manifest(**spec: Any) -> Manifest:
    metadata = {"name": "a", "namespace": "n"}
    return {"apiVersion": KIND.api_version, "kind": KIND.kind, "metadata": metadata, "spec": spec}


def claim(fields: dict[str, Any]) -> Claim:
    return Claim(field_set(KIND, msgspec.json.encode({"f:spec": fields})), ())


def owned(fields: dict[str, Any], **live: Any) -> OwnedFields:
    return owned_fields(claim(fields), {"spec": live})


def verdict(desired: Manifest, ours: OwnedFields | None, settled: Settled | None = None) -> Verdict:
    return Comparison(desired, settled or Settled()).verdict(ours)


def learned(settled: Settled, desired: Manifest, fields: dict[str, Any], **answer: Any) -> None:
    ours = owned(fields, **answer)
    Comparison(desired, settled).learn(claim(fields), values_of(ours, {"spec": answer}), ours)


def test_an_object_of_which_we_own_nothing_differs() -> None:
    assert verdict(manifest(a=1), None) is Verdict.DIFFERENT


def test_equal_fields_with_equal_values_are_the_same() -> None:
    assert verdict(manifest(a=1), owned({"f:a": {}}, a=1, b=2)) is Verdict.SAME


def test_another_value_differs() -> None:
    assert verdict(manifest(a=1), owned({"f:a": {}}, a=2)) is Verdict.DIFFERENT


def test_a_field_more_or_less_differs() -> None:
    assert verdict(manifest(a=1, b=1), owned({"f:a": {}}, a=1, b=1)) is Verdict.DIFFERENT
    assert verdict(manifest(a=1), owned({"f:a": {}, "f:b": {}}, a=1, b=1)) is Verdict.DIFFERENT


def test_an_atomic_value_that_differs_may_hold_a_default() -> None:
    assert verdict(manifest(a=[{"x": 1}]), owned({"f:a": {}}, a=[{"x": 1, "y": 0}])) is Verdict.UNSURE


def test_a_scalar_that_differs_beside_it_decides() -> None:
    fields: dict[str, Any] = {"f:a": {}, "f:b": {}}

    assert verdict(manifest(a=[1], b=1), owned(fields, a=[2], b=2)) is Verdict.DIFFERENT


def test_what_the_server_made_of_an_atomic_value_is_the_same_from_then_on() -> None:
    settled = Settled()
    learned(settled, manifest(a=[{"x": 1}]), {"f:a": {}}, a=[{"x": 1, "y": 0}])

    assert verdict(manifest(a=[{"x": 1}]), owned({"f:a": {}}, a=[{"x": 1, "y": 0}]), settled) is Verdict.SAME


def test_an_atomic_value_of_which_the_answer_is_known_differs_without_a_question() -> None:
    settled = Settled()
    learned(settled, manifest(a=[1]), {"f:a": {}}, a=[1])

    assert verdict(manifest(a=[1]), owned({"f:a": {}}, a=[2]), settled) is Verdict.DIFFERENT


def test_a_map_owned_whole_is_asked_about_once() -> None:
    settled = Settled()
    ours = owned({"f:a": {}}, a={"x": 1})
    assert verdict(manifest(a={"x": 1}), ours, settled) is Verdict.UNSURE

    learned(settled, manifest(a={"x": 1}), {"f:a": {}}, a={"x": 1})

    assert verdict(manifest(a={"x": 1}), ours, settled) is Verdict.SAME


def test_a_map_known_to_have_fields_of_its_own_differs_when_it_is_owned_whole() -> None:
    settled = Settled()
    learned(settled, manifest(a={"x": 1}), {"f:a": {"f:x": {}}}, a={"x": 1})

    assert verdict(manifest(a={"x": 1}), owned({"f:a": {}}, a={"x": 1}), settled) is Verdict.DIFFERENT


def test_an_empty_list_that_was_owned_once_differs_when_it_is_not() -> None:
    settled = Settled()
    learned(settled, manifest(a=[]), {"f:a": {}}, a=[])

    assert verdict(manifest(a=[]), owned({}, a=[1]), settled) is Verdict.DIFFERENT


def test_what_a_webhook_rewrites_is_sent_once_for_the_object() -> None:
    settled = Settled()
    ours = owned({"f:a": {}}, a="rewritten")
    assert verdict(manifest(a="sent"), ours, settled) is Verdict.DIFFERENT

    learned(settled, manifest(a="sent"), {"f:a": {}}, a="rewritten")

    assert verdict(manifest(a="sent"), ours, settled) is Verdict.SAME
    assert verdict(manifest(a="other"), ours, settled) is Verdict.DIFFERENT
    assert verdict(manifest(a="sent"), owned({"f:a": {}}, a="edited"), settled) is Verdict.DIFFERENT


def test_what_an_empty_map_of_ours_holds_may_be_of_somebody_else() -> None:
    fields: dict[str, Any] = {"f:a": {}, "f:b": {}}

    assert verdict(manifest(a={}, b=1), owned(fields, a={"x": 1}, b=1)) is Verdict.UNSURE
    assert verdict(manifest(a={}, b=1), owned(fields, a={}, b=1)) is Verdict.SAME
    assert verdict(manifest(a={}, b=1), owned(fields, b=1)) is Verdict.SAME


def test_what_the_server_puts_into_an_empty_map_is_the_same_for_a_fleet() -> None:
    settled = Settled()
    learned(settled, manifest(a={}, b=1), {"f:a": {}, "f:b": {}}, a={"x": 1}, b=1)

    assert (
        verdict(manifest(a={}, b=2), owned({"f:a": {}, "f:b": {}}, a={"x": 1}, b=2), settled) is Verdict.SAME
    )


def test_a_scalar_beside_an_empty_map_decides() -> None:
    fields: dict[str, Any] = {"f:a": {}, "f:b": {}}

    assert verdict(manifest(a={}, b=1), owned(fields, a={"x": 1}, b=2)) is Verdict.DIFFERENT


def test_an_atomic_list_beside_an_empty_map_needs_no_question_once_its_answer_is_known() -> None:
    settled, fields = Settled(), {"f:a": {}, "f:b": {}}
    learned(settled, manifest(a={}, b=[1]), fields, a={}, b=[1])

    assert verdict(manifest(a={}, b=[1]), owned(fields, a={}, b=[2]), settled) is Verdict.DIFFERENT


def test_only_what_somebody_can_own_is_compared() -> None:
    whole = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1", "managedFields": []},
        "data": {},
    }

    assert fields_of(whole) == {"data": {}}
    assert fields_of({**whole, "metadata": {"name": "a", "labels": {"x": "y"}}}) == {
        "data": {},
        "metadata": {"labels": {"x": "y"}},
    }
