"""TokenReview and SubjectAccessReview: which user a token belongs to, and what a user may do."""

from typing import Any

from msgspec import Struct


class TokenReviewResult(Struct, frozen=True, kw_only=True):
    authenticated: bool
    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, list[str]] = {}
    error: str = ""


class Access(Struct, frozen=True, kw_only=True):
    """A request to authorize: a verb on a resource, or on a non-resource path."""

    verb: str
    resource: str = ""
    group: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    def attributes(self) -> dict[str, Any]:
        if self.path:
            return {"nonResourceAttributes": {"verb": self.verb, "path": self.path}}
        fields = {
            "verb": self.verb,
            "resource": self.resource,
            "group": self.group,
            "subresource": self.subresource,
            "namespace": self.namespace,
            "name": self.name,
        }
        return {"resourceAttributes": {name: value for name, value in fields.items() if value}}


class Subject(Struct, frozen=True, kw_only=True):
    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, list[str]] = {}

    def attributes(self) -> dict[str, Any]:
        return {"user": self.user, "uid": self.uid, "groups": list(self.groups), "extra": self.extra}


class AccessReviewResult(Struct, frozen=True, kw_only=True, rename="camel"):
    allowed: bool = False
    denied: bool = False
    reason: str = ""
    evaluation_error: str = ""


class _User(Struct, frozen=True):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, list[str]] = {}


class _TokenStatus(Struct, frozen=True):
    authenticated: bool = False
    user: _User = _User()
    error: str = ""


class TokenReview(Struct, frozen=True):
    status: _TokenStatus

    def result(self) -> TokenReviewResult:
        user = self.status.user
        return TokenReviewResult(
            authenticated=self.status.authenticated,
            user=user.username,
            uid=user.uid,
            groups=user.groups,
            extra=user.extra,
            error=self.status.error,
        )


class AccessReview(Struct, frozen=True):
    status: AccessReviewResult
