import base64

import msgspec
import pytest

from steward.admission.errors import MalformedReviewError, ReviewTooDeepError
from steward.admission.review import (
    Allowed,
    Cause,
    Denied,
    Operation,
    decode_review,
    encode_verdict,
    invalid,
)
from tests.admission.conftest import review_body

BASKET = {"metadata": {"name": "b", "namespace": "shop"}, "spec": {"eggs": 1}}


def answer(review, verdict):
    envelope = msgspec.json.decode(encode_verdict(review, verdict))
    assert (envelope["apiVersion"], envelope["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert envelope["response"]["uid"] == review.uid
    return envelope["response"]


def test_a_review_says_who_wants_what():
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


def test_what_is_not_there_is_empty():
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
def test_what_is_no_review_is_refused_with_a_sentence(body, sentence):
    with pytest.raises(MalformedReviewError, match=sentence):
        decode_review(body)


def test_a_review_that_is_too_deep_to_be_read_is_told_to_be_flattened():
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    with pytest.raises(ReviewTooDeepError, match="flatten it"):
        decode_review(b'{"request":' + deep + b"}")


def test_a_plain_yes_has_no_patch():
    review = decode_review(review_body(BASKET))
    assert answer(review, Allowed()) == {"uid": "u-1", "allowed": True}
    assert answer(review, Allowed(object=BASKET)) == {"uid": "u-1", "allowed": True}


def test_a_changed_object_is_answered_as_a_patch_even_if_it_was_changed_in_place():
    review = decode_review(review_body(BASKET))
    review.object["spec"]["eggs"] = 6
    response = answer(review, Allowed(review.object))
    assert response["patchType"] == "JSONPatch"
    assert msgspec.json.decode(base64.b64decode(response["patch"])) == [
        {"op": "replace", "path": "/spec/eggs", "value": 6}
    ]


def test_warnings_are_single_lines_and_audit_annotations_pass():
    review = decode_review(review_body(BASKET))
    response = answer(review, Allowed(warnings=("two\n  lines",), audit={"why": "because"}))
    assert (response["warnings"], response["auditAnnotations"]) == (["two lines"], {"why": "because"})


def test_a_refusal_is_forbidden_unless_told_otherwise():
    response = answer(decode_review(review_body(BASKET)), Denied("eggs are out", warnings=("w",)))
    assert response["status"] == {
        "status": "Failure",
        "code": 403,
        "reason": "Forbidden",
        "message": "eggs are out",
    }
    assert (response["allowed"], response["warnings"]) == (False, ["w"])


def test_bad_fields_are_listed_as_causes():
    verdict = invalid(
        "2 problems",
        Cause("spec.eggs", "must be even"),
        Cause("spec.milk", "is needed", "FieldValueRequired"),
    )
    status = answer(decode_review(review_body(BASKET)), verdict)["status"]
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
