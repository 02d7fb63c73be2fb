"""Turns a response of 400 or more into one of `kube.errors`.

The API server answers with a Status object, but a proxy, a load balancer or a server that is starting answers with
HTML, plain text or nothing. All of these are read here, and none of them may raise anything but the error it describes.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from steward.kube import errors

EXCERPT = 200

_BY_CODE: dict[int, type[errors.ApiError]] = {
    400: errors.BadRequest,
    401: errors.Unauthorized,
    403: errors.Forbidden,
    404: errors.NotFound,
    409: errors.Conflict,
    410: errors.Gone,
    413: errors.RequestTooLarge,
    422: errors.Invalid,
    429: errors.TooManyRequests,
    500: errors.InternalError,
    503: errors.Unavailable,
    504: errors.ServerTimeout,
}

_CONFLICT_WITH = re.compile(r'conflict with "((?:[^"\\]|\\.)*)"')
_CANNOT = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) '
    r'(?:resource "(?P<resource>[^"]*)"(?: in API group "(?P<group>[^"]*)")?|path "(?P<path>[^"]*)")'
    r'(?: in the namespace "(?P<namespace>[^"]*)")?'
)
_UNSERVED = "404 page not found"
# The messages for an apply with a quantity or base64 that the server cannot read, or with fields that it does not know.
_UNREADABLE = ("failed to convert new object", "failed to create typed patch object")
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)


class StatusCause(Struct):
    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Struct, rename="camel"):
    name: str = ""
    group: str = ""
    kind: str = ""
    causes: list[StatusCause] = []
    retry_after_seconds: int = 0


class Status(Struct):
    kind: str
    message: str = ""
    reason: str = ""
    code: int = 0
    details: StatusDetails | None = None


class RequestLine(Struct, frozen=True):
    """The request, for the messages of responses that do not mention it."""

    method: str
    path: str


def api_error(code: int, headers: Mapping[str, str], body: bytes, request: RequestLine) -> errors.ApiError:
    status = _status(body) or Status("", _excerpt(code, headers, body, request))
    error = _error(code, status)
    if isinstance(error, errors.Forbidden):
        _set_denied_access(error, request)
    if isinstance(error, errors.TooManyRequests | errors.ServerError):
        error.retry_after = _retry_after(headers, status)
    return error


def watch_error(body: bytes) -> errors.ApiError:
    """The error that an ERROR event of a watch holds as its object."""
    status = _status(body) or Status("", "the watch ended with an error that is not a Status")
    return _error(status.code or 500, status)


def is_unserved_path(error: errors.NotFound) -> bool:
    """A 404 that names no object: the server serves nothing at this path, so it does not serve the kind."""
    return not error.details.get("name") and not error.details.get("foreign")


def _status(body: bytes) -> Status | None:
    try:
        status = msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return status if status.kind == "Status" else None


def _error(code: int, status: Status) -> errors.ApiError:
    details = status.details or StatusDetails()
    message = status.message or f"the server answered {code} {status.reason}".strip()
    error = _error_class(code, status, details)(code, status.reason, message, _details_of(status))
    if isinstance(error, errors.FieldConflict):
        error.managers = tuple((_manager(cause), cause.field) for cause in details.causes)
    if isinstance(error, errors.DisruptionBudget):
        error.args = (" ".join((message, *(cause.message for cause in details.causes))),)
    if isinstance(error, errors.Invalid):
        error.causes = _by_field(details.causes)
    return error


def _error_class(code: int, status: Status, details: StatusDetails) -> type[errors.ApiError]:
    causes = {cause.reason for cause in details.causes}
    if code == 409 and status.reason == "AlreadyExists":
        return errors.AlreadyExists
    if code == 409 and "FieldManagerConflict" in causes:
        return errors.FieldConflict
    if code == 429 and "DisruptionBudget" in causes:
        return errors.DisruptionBudget
    if code == 500 and status.message.startswith(_UNREADABLE):
        return errors.Unreadable
    return _BY_CODE.get(code) or (errors.ServerError if code >= 500 else errors.ApiError)


def _details_of(status: Status) -> dict[str, Any]:
    details: dict[str, Any] = msgspec.to_builtins(status.details or StatusDetails())
    # An answer of a proxy or load balancer says nothing about what the API server serves.
    return details if status.kind or _UNSERVED in status.message else {**details, "foreign": True}


def _manager(cause: StatusCause) -> str:
    found = _CONFLICT_WITH.search(cause.message)
    if found is None:
        return ""
    return found[1].replace('\\"', '"').replace("\\\\", "\\")


def _by_field(causes: list[StatusCause]) -> dict[str, tuple[str, ...]]:
    fields: dict[str, tuple[str, ...]] = {}
    for cause in causes:
        fields[cause.field] = (*fields.get(cause.field, ()), cause.message)
    return fields


def _set_denied_access(error: errors.Forbidden, request: RequestLine) -> None:
    found = _CANNOT.search(error.message)
    if found is None:
        # A denial by admission (a quota, a policy) names no verb: use those of the request.
        error.verb = request.method.lower()
        error.resource = _qualified(error.details["kind"], error.details["group"]) or request.path
        return
    error.user, error.verb, error.namespace = found["user"], found["verb"], found["namespace"] or ""
    error.resource = found["path"] or _qualified(found["resource"], found["group"] or "")


def _qualified(resource: str, group: str) -> str:
    plural, slash, subresource = resource.partition("/")
    return f"{plural}.{group}{slash}{subresource}" if group else resource


def _retry_after(headers: Mapping[str, str], status: Status) -> float | None:
    header = headers.get("Retry-After", "")
    if header.isdigit():
        return float(header)
    return float(status.details.retry_after_seconds) or None if status.details else None


def _excerpt(code: int, headers: Mapping[str, str], body: bytes, request: RequestLine) -> str:
    text = body[: 50 * EXCERPT].decode("utf-8", "replace")
    if "html" in headers.get("Content-Type", "") or text.lstrip().startswith("<"):
        text = _TAG.sub(" ", text)
    text = " ".join(text.split())[:EXCERPT]
    return f"{request.method} {request.path} was answered {code}" + (f": {text}" if text else "")
