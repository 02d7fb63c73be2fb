"""Codec of AdmissionReview v1. Pure.

A handler gets a `Review` and returns `Allowed` (with a changed object, to mutate) or `Denied`. It may change
`review.object` in place: the patch is computed from the bytes of the request.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import msgspec

from steward.admission.errors import MalformedReviewError, ReviewTooDeepError
from steward.admission.jsonpatch import object_patch
from steward.kube.objects.kinds import Manifest

API_VERSION = "admission.k8s.io/v1"
MAX_NAME = 253
"""The longest name in Kubernetes. A client that is no API server may send a longer one, which no message repeats."""


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


class ReviewedKind(msgspec.Struct, frozen=True):
    group: str = ""
    version: str = ""
    kind: str = ""


class ReviewedResource(msgspec.Struct, frozen=True):
    group: str = ""
    version: str = ""
    resource: str = ""


class UserInfo(msgspec.Struct, frozen=True):
    """The user of the request; service accounts are `system:serviceaccount:NAMESPACE:NAME`."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class Review(msgspec.Struct, frozen=True, rename="camel", dict=True):
    """The request of an AdmissionReview. `name` is empty if the API server will generate it from generateName."""

    uid: str
    operation: Operation
    kind: ReviewedKind = ReviewedKind()
    resource: ReviewedResource = ReviewedResource()
    subresource: str = msgspec.field(name="subResource", default="")
    name: str = ""
    namespace: str = ""
    user: UserInfo = msgspec.field(name="userInfo", default=UserInfo())
    dry_run: bool = False
    options: dict[str, Any] | None = None
    raw_object: msgspec.Raw = msgspec.field(name="object", default=msgspec.Raw(b"null"))
    raw_old_object: msgspec.Raw = msgspec.field(name="oldObject", default=msgspec.Raw(b"null"))

    @cached_property
    def object(self) -> Manifest:
        """The new object; empty on DELETE."""
        return msgspec.json.decode(self.raw_object, type=Manifest | None) or {}

    @cached_property
    def old_object(self) -> Manifest:
        """The existing object; empty on CREATE."""
        return msgspec.json.decode(self.raw_old_object, type=Manifest | None) or {}

    def decode(self, view: type[Any]) -> Any:
        """The new object, decoded into a Struct with the fields that the handler reads."""
        return msgspec.json.decode(self.raw_object, type=view)

    def __str__(self) -> str:
        """The object, for messages and logs: `Cell shop/zone-a`."""
        name = self.name or f"{(self.object.get('metadata') or {}).get('generateName') or ''}*"
        kind, namespace, name = (part[:MAX_NAME] for part in (self.kind.kind, self.namespace, name))
        return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


class StatusCause(msgspec.Struct, frozen=True):
    """A problem of one field, as kubectl lists it below the message."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"


@dataclass(frozen=True)
class Allowed:
    """Allows the request; `object` replaces the requested object."""

    object: Manifest | None = None
    warnings: tuple[str, ...] = ()
    audit: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Denied:
    """Denies the request. As in the API server, 403 is Forbidden and 422 an invalid field."""

    message: str
    code: int = 403
    reason: str = "Forbidden"
    causes: tuple[StatusCause, ...] = ()
    warnings: tuple[str, ...] = ()


AdmissionResponse = Allowed | Denied


def deny_invalid(message: str, *causes: StatusCause) -> Denied:
    """Denies the request because of invalid fields."""
    return Denied(message, 422, "Invalid", causes)


class _MetadataShape(msgspec.Struct, rename="camel"):
    name: str | None = None
    namespace: str | None = None
    generate_name: str | None = None
    labels: dict[str, str | None] | None = None
    annotations: dict[str, str | None] | None = None


class _ObjectShape(msgspec.Struct):
    metadata: _MetadataShape | None = None


class _Envelope(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: Review | None = None


_decoder = msgspec.json.Decoder(_Envelope)


def decode_review(body: bytes) -> Review:
    """Decodes an AdmissionReview; raises MalformedReviewError with a message for anything else."""
    try:
        envelope = _decoder.decode(body)
    except msgspec.DecodeError as error:
        raise MalformedReviewError(f"the body is no AdmissionReview: {error}") from None
    except RecursionError:
        raise ReviewTooDeepError("the object") from None
    if envelope.kind != "AdmissionReview" or envelope.api_version != API_VERSION:
        raise MalformedReviewError(
            f"expected an AdmissionReview of {API_VERSION}, got {envelope.kind or 'no kind'!r} of "
            f"{envelope.api_version or 'no apiVersion'!r}: set admissionReviewVersions to [v1]"
        )
    if envelope.request is None:
        raise MalformedReviewError("the AdmissionReview has no request")
    _check_metadata(envelope.request)
    return envelope.request


def _check_metadata(review: Review) -> None:
    """Handlers rely on valid metadata, which an API server checks before it calls a webhook. Other clients do not."""
    try:
        for raw in (review.raw_object, review.raw_old_object):
            msgspec.json.decode(raw, type=_ObjectShape | None)
    except msgspec.DecodeError:
        raise MalformedReviewError("the metadata of the reviewed object is malformed") from None
    except RecursionError:
        raise ReviewTooDeepError("the object") from None


def encode_response(review: Review, response: AdmissionResponse) -> bytes:
    """The AdmissionReview that responds to this one."""
    content: dict[str, Any] = {"uid": review.uid, "allowed": isinstance(response, Allowed)}
    if isinstance(response, Denied):
        content["status"] = _status(review, response)
    else:
        content |= _patch(review, response)
    if response.warnings:
        content["warnings"] = [" ".join(warning.split()) for warning in response.warnings]
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": content})


def _patch(review: Review, response: Allowed) -> dict[str, Any]:
    content: dict[str, Any] = {"auditAnnotations": dict(response.audit)} if response.audit else {}
    if response.object is None:
        return content
    operations = object_patch(msgspec.json.decode(review.raw_object), response.object)
    if operations:
        # msgspec encodes bytes as base64, which is the wire format of the patch.
        content |= {"patchType": "JSONPatch", "patch": msgspec.json.encode(operations)}
    return content


def _status(review: Review, response: Denied) -> dict[str, Any]:
    status: dict[str, Any] = {
        "status": "Failure",
        "code": response.code,
        "reason": response.reason,
        "message": response.message,
    }
    if response.causes:
        causes = [msgspec.to_builtins(cause) for cause in response.causes]
        names = {"name": review.name, "group": review.kind.group, "kind": review.kind.kind}
        status["details"] = names | {"causes": causes}
    return status
