"""What a refused request means: an answer of 400 or more becomes one error of the tree.

The API server answers with a Status object, but a proxy, a load balancer or a server that is starting answers with
HTML, plain text or nothing. All of it is read here, none of it may raise anything but the error that it describes.
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
)
_UNSERVED = "404 page not found"
# How the server answers an apply whose quantity or base64 it cannot read, or whose fields it does not know.
_UNREADABLE = ("failed to convert new object", "failed to create typed patch object")
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)


class Cause(Struct):
    reason: str = ""
    message: str = ""
    field: str = ""


class Details(Struct, rename="camel"):
    name: str = ""
    group: str = ""
    kind: str = ""
    causes: list[Cause] = []
    retry_after_seconds: int = 0


class Status(Struct):
    kind: str
    message: str = ""
    reason: str = ""
    code: int = 0
    details: Details | None = None


class Asked(Struct, frozen=True):
    """What was asked, for messages of answers that do not say it themselves."""

    method: str
    path: str


def refusal(code: int, headers: Mapping[str, str], body: bytes, asked: Asked) -> errors.ApiError:
    status = _status(body) or Status("", _excerpt(code, headers, body, asked))
    error = _error(code, status)
    if isinstance(error, errors.Forbidden):
        _name_forbidden(error, asked)
    if isinstance(error, errors.TooManyRequests | errors.ServerError):
        error.retry_after = _retry_after(headers, status)
    return error


def refusal_in_stream(body: bytes) -> errors.ApiError:
    """The error that an ERROR event of a watch holds as its object."""
    status = _status(body) or Status("", "the watch ended with an error that is not a Status")
    return _error(status.code or 500, status)


def is_about_the_path(error: errors.NotFound) -> bool:
    """A 404 that names no object: the server serves nothing at this path, so not the kind either."""
    return not error.details.get("name") and not error.details.get("foreign")


def _status(body: bytes) -> Status | None:
    try:
        status = msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return status if status.kind == "Status" else None


def _error(code: int, status: Status) -> errors.ApiError:
    details = status.details or Details()
    message = status.message or f"the server answered {code} {status.reason}".strip()
    error = _class(code, status, details)(code, status.reason, message, _plain(details, status))
    if isinstance(error, errors.FieldConflict):
        error.managers = tuple((_manager(cause), cause.field) for cause in details.causes)
    if isinstance(error, errors.DisruptionBudget):
        error.args = (" ".join((message, *(cause.message for cause in details.causes))),)
    if isinstance(error, errors.Invalid):
        error.causes = _by_field(details.causes)
    return error


def _class(code: int, status: Status, details: Details) -> type[errors.ApiError]:
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


def _plain(details: Details, status: Status) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(details)
    # Something that stands in front of the server says nothing about what the server serves.
    return plain if status.kind or _UNSERVED in status.message else {**plain, "foreign": True}


def _manager(cause: Cause) -> str:
    found = _CONFLICT_WITH.search(cause.message)
    if found is None:
        return ""
    return found[1].replace('\\"', '"').replace("\\\\", "\\")


def _by_field(causes: list[Cause]) -> dict[str, tuple[str, ...]]:
    fields: dict[str, tuple[str, ...]] = {}
    for cause in causes:
        fields[cause.field] = (*fields.get(cause.field, ()), cause.message)
    return fields


def _name_forbidden(error: errors.Forbidden, asked: Asked) -> None:
    found = _CANNOT.search(error.message)
    if found is None:
        # An admission refusal (a quota, a policy) names no verb: say what was asked.
        error.verb = asked.method.lower()
        error.resource = _qualified(error.details["kind"], error.details["group"]) or asked.path
        return
    error.user, error.verb = found["user"], found["verb"]
    error.resource = found["path"] or _qualified(found["resource"], found["group"] or "")


def _qualified(resource: str, group: str) -> str:
    plural, slash, subresource = resource.partition("/")
    return f"{plural}.{group}{slash}{subresource}" if group else resource


def _retry_after(headers: Mapping[str, str], status: Status) -> float | None:
    header = headers.get("Retry-After", "")
    if header.isdigit():
        return float(header)
    return float(status.details.retry_after_seconds) or None if status.details else None


def _excerpt(code: int, headers: Mapping[str, str], body: bytes, asked: Asked) -> str:
    text = body[: 50 * EXCERPT].decode("utf-8", "replace")
    if "html" in headers.get("Content-Type", "") or text.lstrip().startswith("<"):
        text = _TAG.sub(" ", text)
    text = " ".join(text.split())[:EXCERPT]
    return f"{asked.method} {asked.path} was answered {code}" + (f": {text}" if text else "")
