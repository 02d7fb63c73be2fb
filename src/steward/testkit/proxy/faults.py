"""Faults, and rules that say which requests or watch events they affect. Plain values that can be sent as JSON.

A rule is a match, a fault, and which of the matching calls it affects: `first=3, count=1` is the third only. Request
faults affect calls; watch faults affect the events of a stream, and `first` and `count` then count events, over all
matching streams.

    Rule(Match(verb="patch", resource="deployments"), Answer(409), count=1)      one conflict, then success
    Rule(Match(write=True), LoseReply(), first=2, count=1)                       the reply to the second write is lost
    Rule(Match(verb="watch", resource="pods"), LoseEvents(type="DELETED"))       deletions are never delivered
"""

import re
from http import HTTPStatus

import msgspec

from steward.testkit.proxy.requests import Call


class Match(msgspec.Struct, frozen=True, omit_defaults=True):
    """Matches calls by all fields that are set. `path` is a regular expression, `user_agent` a substring."""

    verb: str = ""
    method: str = ""
    path: str = ""
    group: str | None = None
    resource: str = ""
    subresource: str | None = None
    namespace: str = ""
    name: str = ""
    user_agent: str = ""
    write: bool | None = None

    def matches(self, call: Call) -> bool:
        pairs = (
            (self.verb, call.verb),
            (self.method, call.method),
            (self.resource, call.resource),
            (self.namespace, call.namespace),
            (self.name, call.name),
        )
        return (
            all(expected in ("", actual) for expected, actual in pairs)
            and self.group in (None, call.group)
            and self.subresource in (None, call.subresource)
            and self.write in (None, call.is_write)
            and self.user_agent in call.user_agent
            and (not self.path or re.search(self.path, call.path) is not None)
        )


class Fault(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="fault"):
    """Base of all faults."""


class Drop(Fault, frozen=True, tag=True):
    """Close the connection without forwarding the request."""


class Delay(Fault, frozen=True, tag=True):
    """Forward the request after `seconds` of the proxy's clock."""

    seconds: float


class Hold(Fault, frozen=True, tag=True):
    """Hold the request until the rule is removed, then forward it."""


class HoldReply(Fault, frozen=True, tag=True):
    """Let the API server commit, and hold its reply until the rule is removed."""


class LoseReply(Fault, frozen=True, tag=True):
    """Let the API server commit, then close the connection without forwarding the reply."""


class Cut(Fault, frozen=True, tag=True):
    """Close the connection after `after` bytes of the reply's body."""

    after: int = 0


class Answer(Fault, frozen=True, tag=True, omit_defaults=True):
    """Answer with a Status instead of forwarding; the default reason follows from the code."""

    code: int
    reason: str = ""
    message: str = ""
    retry_after: int | None = None


class LoseEvents(Fault, frozen=True, tag=True, omit_defaults=True):
    """Drop events of a watch; `type` and `name` (of the object) select them."""

    type: str = ""
    name: str = ""


class RepeatEvents(Fault, frozen=True, tag=True, omit_defaults=True):
    """Send events `times` more often."""

    type: str = ""
    name: str = ""
    times: int = 1


class DelayEvents(Fault, frozen=True, tag=True, omit_defaults=True):
    """Reorder: send events after the next `behind` events of the same stream."""

    type: str = ""
    name: str = ""
    behind: int = 1


class HoldWatch(Fault, frozen=True, tag=True, omit_defaults=True):
    """Send nothing from a matching event on, with the stream open, until the rule is removed."""

    type: str = ""
    name: str = ""


class InsertLine(Fault, frozen=True, tag=True, omit_defaults=True):
    """Insert `line` before a matching event, such as invalid JSON or `gone_event()`."""

    line: str
    type: str = ""
    name: str = ""


class CutWatch(Fault, frozen=True, tag=True, omit_defaults=True):
    """Close the connection instead of sending a matching event."""

    type: str = ""
    name: str = ""


RequestFault = Drop | Delay | Hold | HoldReply | LoseReply | Cut | Answer
WatchFault = LoseEvents | RepeatEvents | DelayEvents | HoldWatch | InsertLine | CutWatch
AnyFault = RequestFault | WatchFault


class Rule(msgspec.Struct, frozen=True, omit_defaults=True):
    """Affects `count` matching calls (or events) from the `first` on; a count of 0 means all."""

    match: Match
    fault: AnyFault
    first: int = 1
    count: int = 0

    def hits(self, nth: int) -> bool:
        """Whether the rule affects the nth match (from 1)."""
        return nth >= self.first and (not self.count or nth < self.first + self.count)


_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def status_body(answer: Answer, call: Call) -> bytes:
    """The Status that an API server would send with this code."""
    details: dict[str, object] = {"name": call.name, "group": call.group, "kind": call.resource}
    if answer.retry_after is not None:
        details["retryAfterSeconds"] = answer.retry_after
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": answer.message or f"{_phrase(answer.code)} (scripted)",
        "reason": answer.reason or _REASONS.get(answer.code, ""),
        "details": {key: value for key, value in details.items() if value != ""},
        "code": answer.code,
    }
    return msgspec.json.encode(status)


def gone_event(message: str = "too old resource version (scripted)") -> str:
    """The ERROR event with code 410 that the API server sends inside an open watch."""
    answer = Answer(410, message=message)
    status = msgspec.Raw(status_body(answer, Call("GET", "", "watch")))
    return msgspec.json.encode({"type": "ERROR", "object": status}).decode()


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return f"status {code}"
