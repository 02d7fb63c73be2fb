"""Parameters of the API verbs: queries for reads, options for writes.

Every field has the meaning of the API server's parameter of that name; an empty value is not sent.
"""

from typing import Any, Literal, TypedDict

from msgspec import Struct
from msgspec.structs import replace

Propagation = Literal["", "Background", "Foreground", "Orphan"]
FieldValidation = Literal["", "Strict", "Warn", "Ignore"]

PAGE_SIZE = 500


class ListQuery(Struct, frozen=True, kw_only=True):
    namespace: str = ""
    """"" means every namespace (or cluster scope)."""
    label_selector: str = ""
    field_selector: str = ""
    limit: int = PAGE_SIZE
    """Objects per page; 0 reads all at once."""
    resource_version: str = ""
    """"" is a consistent read; "0" accepts any version from the server's cache."""
    match: Literal["", "NotOlderThan", "Exact"] = ""

    def params(self) -> dict[str, str]:
        params = {
            "labelSelector": self.label_selector,
            "fieldSelector": self.field_selector,
            "limit": str(self.limit or ""),
            "resourceVersion": self.resource_version,
            "resourceVersionMatch": self.match,
        }
        return _sent(params)

    def params_after(self, token: str) -> dict[str, str]:
        # The token contains the version of the first page, and the server rejects another one beside it.
        following = replace(self, resource_version="", match="")
        return {**following.params(), "continue": token}


class WatchQuery(Struct, frozen=True, kw_only=True):
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    match: Literal["", "NotOlderThan"] = ""
    timeout_seconds: int = 0
    """The server ends the stream after this time; 0 means the server's default."""
    bookmarks: bool = True
    initial_events: bool = False
    """Requests a streaming list: the current objects as events, then a bookmark, then later events."""

    def params(self) -> dict[str, str]:
        params = {
            "watch": "true",
            "labelSelector": self.label_selector,
            "fieldSelector": self.field_selector,
            "resourceVersion": self.resource_version,
            "resourceVersionMatch": self.match,
            "timeoutSeconds": str(self.timeout_seconds or ""),
            "allowWatchBookmarks": "true" if self.bookmarks else "",
            "sendInitialEvents": "true" if self.initial_events else "",
        }
        return _sent(params)


class LogQuery(Struct, frozen=True, kw_only=True):
    """The log of one container; every line begins with its time."""

    container: str
    follow: bool = False
    previous: bool = False
    """Of the container before its last restart."""
    tail_lines: int | None = None
    """None means all lines."""
    since_seconds: int | None = None

    def params(self) -> dict[str, str]:
        params = {
            "container": self.container,
            "timestamps": "true",
            "follow": "true" if self.follow else "",
            "previous": "true" if self.previous else "",
            "tailLines": "" if self.tail_lines is None else str(self.tail_lines),
            "sinceSeconds": "" if self.since_seconds is None else str(self.since_seconds),
        }
        return _sent(params)


class WriteOptions(TypedDict, total=False):
    """Keywords of create, replace and patch."""

    manager: str
    dry_run: bool
    field_validation: FieldValidation


def write_params(options: WriteOptions) -> dict[str, str]:
    params = {
        "fieldManager": options.get("manager", ""),
        "dryRun": "All" if options.get("dry_run") else "",
        "fieldValidation": options.get("field_validation", ""),
    }
    return _sent(params)


class ApplyOptions(Struct, frozen=True, kw_only=True):
    manager: str
    force: bool = True
    dry_run: bool = False
    subresource: str = ""
    field_validation: FieldValidation = ""
    only_if_absent: bool = False
    """Creates the object or changes nothing: raises AlreadyExists when an object of that name exists."""
    resource_version: str = ""
    """Raises Conflict when the object has another version; "" for any."""

    def params(self) -> dict[str, str]:
        options = WriteOptions(
            manager=self.manager, dry_run=self.dry_run, field_validation=self.field_validation
        )
        return {**write_params(options), "force": "true" if self.force else "false"}


class DeleteOptions(Struct, frozen=True, kw_only=True):
    uid: str = ""
    resource_version: str = ""
    propagation: Propagation = ""
    grace_seconds: int | None = None
    dry_run: bool = False

    @property
    def has_precondition(self) -> bool:
        """Whether only one object, or one version of it, may be deleted."""
        return bool(self.uid or self.resource_version)

    def body(self) -> dict[str, Any]:
        preconditions = _sent({"uid": self.uid, "resourceVersion": self.resource_version})
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if preconditions:
            options["preconditions"] = preconditions
        if self.propagation:
            options["propagationPolicy"] = self.propagation
        if self.grace_seconds is not None:
            options["gracePeriodSeconds"] = self.grace_seconds
        if self.dry_run:
            options["dryRun"] = ["All"]
        return options


def _sent(params: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in params.items() if value}
