import base64

import msgspec
import pytest

from steward.admission.errors import MalformedReviewError, ReviewTooDeepError
from steward.admission.review import (
    Allowed,
    Denied,
    Operation,
    StatusCause,
    decode_review,
    deny_invalid,
    encode_response,
)
from tests.admission.support.reviews import review_body

BASKET = {"metadata": {"name": "b", "namespace": "shop"}, "spec": {"eggs": 1}}


def encoded(review, response):
    envelope = msgspec.json.decode(encode_response(review, response))
    assert (envelope["apiVersion"], envelope["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert envelope["response"]["uid"] == review.uid
    return envelope["response"]


def test_a_review_has_user_operation_and_object():
    review = decode_review(review_body(BASKET, BASKET, operation="UPDATE", dryRun=True, subResource="status"))
    assert (review.operation, review.dry_run, review.subresource) == (Operation.UPDATE, True, "status")
    assert (review.user.username, review.user.groups) == ("jane", ("staff",))
    assert (review.object, review.old_object) == (BASKET, BASKET)
    assert (review.resource.resource, review.kind.group) == ("baskets", "shop.io")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (review_body(BASKET), "Basket shop/b"),
        (review_body({"metadata": {"name": "b"}}), "Basket b"),
        (review_body({"metadata": {"generateName": "b-", "namespace": "shop"}}), "Basket shop/b-*"),
        (review_body(None, BASKET, operation="DELETE"), "Basket shop/b"),
    ],
)
def test_a_review_names_its_object(body, text):
    assert str(decode_review(body)) == text


def test_missing_objects_are_empty():
    review = decode_review(review_body(None, BASKET, operation="DELETE"))
    assert (review.object, review.old_object) == ({}, BASKET)


def test_a_handler_may_decode_only_what_it_reads():
    class Spec(msgspec.Struct):
        eggs: int

    class Basket(msgspec.Struct):
        spec: Spec

    assert decode_review(review_body(BASKET)).decode(Basket) == Basket(Spec(1))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"{", "no AdmissionReview"),
        (b"[]", "no AdmissionReview"),
        (b'{"kind":"Pod","apiVersion":"v1"}', "got 'Pod' of 'v1'"),
        (
            b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
            r"admissionReviewVersions to \[v1\]",
        ),
        (b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', "has no request"),
        (review_body(BASKET, operation="PONDER"), "PONDER"),
    ],
)
def test_a_malformed_review_is_rejected_with_a_message(body, sentence):
    with pytest.raises(MalformedReviewError, match=sentence):
        decode_review(body)


def test_a_review_that_is_nested_too_deeply_is_rejected_with_a_message():
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    with pytest.raises(ReviewTooDeepError, match="flatten it"):
        decode_review(b'{"request":' + deep + b"}")


def test_an_allowed_request_without_changes_has_no_patch():
    review = decode_review(review_body(BASKET))
    assert encoded(review, Allowed()) == {"uid": "u-1", "allowed": True}
    assert encoded(review, Allowed(object=BASKET)) == {"uid": "u-1", "allowed": True}


def test_a_changed_object_becomes_a_patch_even_if_it_was_changed_in_place():
    review = decode_review(review_body(BASKET))
    review.object["spec"]["eggs"] = 6
    response = encoded(review, Allowed(review.object))
    assert response["patchType"] == "JSONPatch"
    assert msgspec.json.decode(base64.b64decode(response["patch"])) == [
        {"op": "replace", "path": "/spec/eggs", "value": 6}
    ]


def test_warnings_are_single_lines_and_audit_annotations_pass():
    review = decode_review(review_body(BASKET))
    response = encoded(review, Allowed(warnings=("two\n  lines",), audit={"why": "because"}))
    assert (response["warnings"], response["auditAnnotations"]) == (["two lines"], {"why": "because"})


def test_a_denial_is_forbidden_by_default():
    response = encoded(decode_review(review_body(BASKET)), Denied("eggs are out", warnings=("w",)))
    assert response["status"] == {
        "status": "Failure",
        "code": 403,
        "reason": "Forbidden",
        "message": "eggs are out",
    }
    assert (response["allowed"], response["warnings"]) == (False, ["w"])


def test_invalid_fields_are_listed_as_causes():
    response = deny_invalid(
        "2 problems",
        StatusCause("spec.eggs", "must be even"),
        StatusCause("spec.milk", "is needed", "FieldValueRequired"),
    )
    status = encoded(decode_review(review_body(BASKET)), response)["status"]
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert status["details"] == {
        "name": "b",
        "group": "shop.io",
        "kind": "Basket",
        "causes": [
            {"field": "spec.eggs", "message": "must be even", "reason": "FieldValueInvalid"},
            {"field": "spec.milk", "message": "is needed", "reason": "FieldValueRequired"},
        ],
    }


@pytest.mark.parametrize(
    "metadata", [5, [], "x", {"name": 5}, {"labels": []}, {"labels": {"a": 5}}, {"annotations": {"a": {}}}]
)
def test_metadata_that_no_api_server_sends_is_malformed(metadata):
    with pytest.raises(MalformedReviewError, match="metadata of the reviewed object is malformed"):
        decode_review(
            review_body({"metadata": {}}).replace(
                b'"object":{"metadata":{}}', b'"object":{"metadata":%b}' % msgspec.json.encode(metadata)
            )
        )


@pytest.mark.parametrize("metadata", [{"labels": None, "annotations": None}, {"name": None}])
def test_metadata_with_null_is_accepted(metadata):
    assert (
        decode_review(review_body({"metadata": metadata}, name="b", namespace="shop")).object["metadata"]
        == metadata
    )


def test_a_message_names_no_more_of_an_object_than_a_name_can_have():
    review = decode_review(
        review_body({"metadata": {"name": "b"}}, name="n" * 1_000_000, namespace="s" * 1_000)
    )
    assert str(review) == f"Basket {'s' * 253}/{'n' * 253}"
