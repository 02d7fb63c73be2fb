import json
from typing import Any

import msgspec
import pytest

from steward.kube import errors
from steward.kube.transport.status_errors import RequestLine, api_error, is_unserved_path, watch_error

ASKED = RequestLine("GET", "/api/v1/namespaces/shop/pods/web")


def body(code: int, reason: str = "", message: str = "no", **details: Any) -> bytes:
    status = {"kind": "Status", "code": code, "reason": reason, "message": message, "details": details}
    return json.dumps(status).encode()


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (400, "BadRequest", errors.BadRequest),
        (401, "Unauthorized", errors.Unauthorized),
        (403, "Forbidden", errors.Forbidden),
        (404, "NotFound", errors.NotFound),
        (405, "MethodNotAllowed", errors.ApiError),
        (409, "AlreadyExists", errors.AlreadyExists),
        (409, "Conflict", errors.Conflict),
        (410, "Expired", errors.Gone),
        (410, "Gone", errors.Gone),
        (413, "RequestEntityTooLarge", errors.RequestTooLarge),
        (422, "Invalid", errors.Invalid),
        (429, "TooManyRequests", errors.TooManyRequests),
        (500, "InternalError", errors.InternalError),
        (502, "", errors.ServerError),
        (503, "ServiceUnavailable", errors.Unavailable),
        (504, "Timeout", errors.ServerTimeout),
    ],
)
def test_a_status_becomes_the_error_of_its_code(
    code: int, reason: str, expected: type[errors.ApiError]
) -> None:
    error = api_error(code, {}, body(code, reason), ASKED)
    assert type(error) is expected
    assert (error.status, error.reason, error.message, str(error)) == (code, reason, "no", "no")


@pytest.mark.parametrize(
    "message",
    [
        "failed to convert new object (shop/web): quantities must match the expression",
        "failed to create typed patch object (shop/web; apps/v1, Kind=StatefulSet): .a: field not declared in schema",
    ],
)
def test_a_manifest_that_the_server_cannot_read_is_not_an_internal_error(message: str) -> None:
    answer = {"kind": "Status", "code": 500, "reason": "InternalError", "message": message}
    assert type(api_error(500, {}, msgspec.json.encode(answer), ASKED)) is errors.Unreadable


def test_a_field_conflict_names_managers_and_fields() -> None:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "kubectl" using v1',
            "field": ".spec.replicas",
        },
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "a \\"b\\"" with subresource "status"',
            "field": ".status",
        },
    ]
    error = api_error(409, {}, body(409, "Conflict", causes=causes), ASKED)
    assert isinstance(error, errors.FieldConflict)
    assert error.managers == (("kubectl", ".spec.replicas"), ('a "b"', ".status"))


def test_invalid_gathers_its_causes_by_field() -> None:
    causes = [
        {"message": "is required", "field": "spec.a"},
        {"message": "too long", "field": "spec.b"},
        {"message": "bad", "field": "spec.a"},
    ]
    error = api_error(422, {}, body(422, "Invalid", causes=causes), ASKED)
    assert isinstance(error, errors.Invalid)
    assert error.causes == {"spec.a": ("is required", "bad"), "spec.b": ("too long",)}


@pytest.mark.parametrize(
    ("message", "named"),
    [
        (
            'pods "web" is forbidden: User "system:serviceaccount:a:b" cannot get resource "pods" '
            'in API group "" in the namespace "shop"',
            ("system:serviceaccount:a:b", "get", "pods", "shop"),
        ),
        (
            'x is forbidden: User "eve" cannot patch resource "deployments/status" in API group "apps" '
            "at the cluster scope",
            ("eve", "patch", "deployments.apps/status", ""),
        ),
        ('forbidden: User "eve" cannot get path "/metrics"', ("eve", "get", "/metrics", "")),
    ],
)
def test_forbidden_names_user_verb_resource_and_namespace(message: str, named: tuple[str, ...]) -> None:
    error = api_error(403, {}, body(403, "Forbidden", message), ASKED)
    assert isinstance(error, errors.Forbidden)
    assert (error.user, error.verb, error.resource, error.namespace) == named


def test_a_denial_by_admission_names_the_request() -> None:
    message = 'deployments.apps "web" is forbidden: exceeded quota'
    error = api_error(403, {}, body(403, "Forbidden", message, kind="deployments", group="apps"), ASKED)
    assert isinstance(error, errors.Forbidden)
    assert (error.verb, error.resource) == ("get", "deployments.apps")


@pytest.mark.parametrize(
    ("headers", "details", "seconds"),
    [
        ({"Retry-After": "3"}, {}, 3.0),
        ({}, {"retryAfterSeconds": 5}, 5.0),
        ({"Retry-After": "3"}, {"retryAfterSeconds": 5}, 3.0),
        ({}, {}, None),
        ({"Retry-After": "soon"}, {}, None),
    ],
)
def test_retry_after_comes_from_header_or_details(
    headers: dict[str, str], details: dict[str, Any], seconds: float | None
) -> None:
    error = api_error(429, headers, body(429, **details), ASKED)
    assert isinstance(error, errors.TooManyRequests)
    assert error.retry_after == seconds


def test_an_evictions_429_is_its_disruption_budget_and_keeps_both_messages() -> None:
    causes = [{"reason": "DisruptionBudget", "message": "The disruption budget b needs 2 healthy pods"}]
    error = api_error(429, {}, body(429, "TooManyRequests", "Cannot evict pod.", causes=causes), ASKED)
    assert isinstance(error, errors.DisruptionBudget)
    assert error.message == "Cannot evict pod."
    assert str(error) == "Cannot evict pod. The disruption budget b needs 2 healthy pods"


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (b"", "GET /api/v1/namespaces/shop/pods/web was answered 502"),
        (b"upstream gone", "GET /api/v1/namespaces/shop/pods/web was answered 502: upstream gone"),
        (
            b"<html><style>p{}</style><body><h1>502</h1>\n<p>Bad gateway</p></body></html>",
            "GET /api/v1/namespaces/shop/pods/web was answered 502: 502 Bad gateway",
        ),
        (b'{"kind":"Other"}', 'GET /api/v1/namespaces/shop/pods/web was answered 502: {"kind":"Other"}'),
        (b"[1]", "GET /api/v1/namespaces/shop/pods/web was answered 502: [1]"),
        (b"\xff\xfe", "GET /api/v1/namespaces/shop/pods/web was answered 502: \ufffd\ufffd"),
    ],
)
def test_an_answer_that_is_no_status_is_quoted(answer: bytes, shown: str) -> None:
    error = api_error(502, {}, answer, ASKED)
    assert type(error) is errors.ServerError
    assert str(error) == shown


def test_a_long_answer_is_quoted_in_part() -> None:
    assert len(str(api_error(502, {}, b"x " * 100_000, ASKED))) < 300


@pytest.mark.parametrize(
    ("answer", "about_path"),
    [
        (body(404, "NotFound", 'pods "web" not found', name="web", kind="pods"), False),
        (body(404, "NotFound", "the server could not find the requested resource"), True),
        (b"404 page not found\n", True),
        (b"<html>404 Not Found nginx</html>", False),
    ],
)
def test_a_404_is_about_the_path_or_about_an_object(answer: bytes, about_path: bool) -> None:
    error = api_error(404, {}, answer, ASKED)
    assert isinstance(error, errors.NotFound)
    assert is_unserved_path(error) is about_path


def test_an_error_event_of_a_watch_is_an_error_like_others() -> None:
    assert isinstance(watch_error(body(410, "Expired")), errors.Gone)
    assert isinstance(watch_error(b"nonsense"), errors.InternalError)
