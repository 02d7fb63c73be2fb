"""What the audit log says about a life. Pure."""

from collections import Counter
from collections.abc import Iterable

from steward.testkit import AuditedCall, AuditedCalls

MAX_LINES = 12


def operator_writes(calls: AuditedCalls, namespaces: tuple[str, ...]) -> str:
    """Writes of the operator in these namespaces, without renewals of its lease; "" if there are none."""
    return _joined(_describe(each) for each in calls.writes() if _is_of_operator(each, namespaces))


def rejected_calls(calls: AuditedCalls, namespaces: tuple[str, ...]) -> str:
    """Statuses that the schema rejected, and calls that RBAC rejected; "" if there are none."""
    rejected = calls.with_codes(400, 403, 422)
    return _joined(
        _describe(each) for each in rejected if _is_of_operator(each, namespaces) and _must_be_accepted(each)
    )


def deleted_claims(calls: AuditedCalls, namespace: str) -> list[str]:
    """Volume claims that were deleted, by any client."""
    return [
        each.call.name or "all"
        for each in calls.with_codes(200, 202)
        if each.call.verb in ("delete", "deletecollection")
        and each.call.resource == "persistentvolumeclaims"
        and each.call.namespace == namespace
    ]


def _must_be_accepted(each: AuditedCall) -> bool:
    # Accepted refusals: an apply that changes an immutable field (422), which the operator repairs, and a write in a
    # namespace that is terminating (403), which RBAC allows.
    if each.code == 403:
        return not each.is_allowed
    return each.call.subresource == "status"


def _is_of_operator(each: AuditedCall, namespaces: tuple[str, ...]) -> bool:
    is_operator = "operator" in each.call.user_agent
    return is_operator and each.call.namespace in namespaces and each.call.resource != "leases"


def _describe(each: AuditedCall) -> str:
    call = each.call
    part = f"/{call.subresource}" if call.subresource else ""
    return f"{call.verb} {call.resource}/{call.name}{part} ({each.code})"


def _joined(items: Iterable[str]) -> str:
    """Each once, with how often it occurred."""
    counts = Counter(items).most_common(MAX_LINES)
    return ", ".join(f"{item} x{count}" if count > 1 else item for item, count in counts)
