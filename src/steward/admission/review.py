"""AdmissionReview v1: what the API server asks and what it is told. Pure.

A handler gets a `Review` and returns a verdict: `Allowed` (with a changed object, to mutate) or `Denied`. It may
change `review.object` in place: the patch is computed from the bytes that came.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import msgspec

from steward.admission.errors import MalformedReviewError, ReviewTooDeepError
from steward.admission.jsonpatch import diff
from steward.kube.objects.kinds import Manifest

API_VERSION = "admission.k8s.io/v1"


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
    """Who makes the request; service accounts are `system:serviceaccount:NAMESPACE:NAME`."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class Review(msgspec.Struct, frozen=True, rename="camel", dict=True):
    """One request under review. `name` is empty while the server has yet to make one from generateName."""

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
        """The object as it would become; empty on DELETE."""
        return msgspec.json.decode(self.raw_object, type=Manifest | None) or {}

    @cached_property
    def old_object(self) -> Manifest:
        """The object as it is; empty on CREATE."""
        return msgspec.json.decode(self.raw_old_object, type=Manifest | None) or {}

    def decode(self, view: type[Any]) -> Any:
        """The object decoded into a Struct that names what the handler reads."""
        return msgspec.json.decode(self.raw_object, type=view)

    def __str__(self) -> str:
        """Which object, for messages and logs: `Cell shop/zone-a`."""
        name = self.name or f"{self.object.get('metadata', {}).get('generateName', '')}*"
        return f"{self.kind.kind} {self.namespace}/{name}" if self.namespace else f"{self.kind.kind} {name}"


class Cause(msgspec.Struct, frozen=True):
    """What is wrong with one field, as kubectl lists it below the message."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"


@dataclass(frozen=True)
class Allowed:
    """Yes; with `object`, yes to this one instead."""

    object: Manifest | None = None
    warnings: tuple[str, ...] = ()
    audit: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Denied:
    """No, and why. 403 (Forbidden) is the server's own word for a refusal, 422 (Invalid) for a bad field."""

    message: str
    code: int = 403
    reason: str = "Forbidden"
    causes: tuple[Cause, ...] = ()
    warnings: tuple[str, ...] = ()


Verdict = Allowed | Denied


def invalid(message: str, *causes: Cause) -> Denied:
    """A refusal because of bad fields."""
    return Denied(message, 422, "Invalid", causes)


class _Envelope(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: Review | None = None


_decoder = msgspec.json.Decoder(_Envelope)


def decode_review(body: bytes) -> Review:
    """Read an AdmissionReview; what is none is refused with a sentence."""
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
    return envelope.request


def encode_verdict(review: Review, verdict: Verdict) -> bytes:
    """The AdmissionReview that answers this one."""
    response: dict[str, Any] = {"uid": review.uid, "allowed": isinstance(verdict, Allowed)}
    if isinstance(verdict, Denied):
        response["status"] = _status(review, verdict)
    else:
        response |= _patch(review, verdict)
    if verdict.warnings:
        response["warnings"] = [" ".join(warning.split()) for warning in verdict.warnings]
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response})


def _patch(review: Review, verdict: Allowed) -> dict[str, Any]:
    answer: dict[str, Any] = {"auditAnnotations": dict(verdict.audit)} if verdict.audit else {}
    if verdict.object is None:
        return answer
    operations = diff(msgspec.json.decode(review.raw_object), verdict.object)
    if operations:
        # The codec writes bytes as base64, which is how the patch travels.
        answer |= {"patchType": "JSONPatch", "patch": msgspec.json.encode(operations)}
    return answer


def _status(review: Review, verdict: Denied) -> dict[str, Any]:
    status: dict[str, Any] = {
        "status": "Failure",
        "code": verdict.code,
        "reason": verdict.reason,
        "message": verdict.message,
    }
    if verdict.causes:
        causes = [msgspec.to_builtins(cause) for cause in verdict.causes]
        names = {"name": review.name, "group": review.kind.group, "kind": review.kind.kind}
        status["details"] = names | {"causes": causes}
    return status
