"""Oracles over the audit log."""

from steward.testkit import AuditedCall, AuditedCalls, Call
from tests.chaos.audited_calls import deleted_claims, operator_writes, rejected_calls

OPERATOR = "multigres-operator/0.1.0"


def _call(
    verb: str, resource: str, code: int = 200, agent: str = OPERATOR, subresource: str = ""
) -> AuditedCall:
    call = Call(
        "", "", verb, resource=resource, subresource=subresource, namespace="a", name="x", user_agent=agent
    )
    return AuditedCall(call, code, "user")


def _calls(*items: AuditedCall) -> AuditedCalls:
    return AuditedCalls(items)


def test_writes_of_the_operator_are_named_and_counted() -> None:
    calls = _calls(_call("patch", "cells"), _call("patch", "cells"), _call("create", "events"))
    assert operator_writes(calls, ("a",)) == "patch cells/x (200) x2, create events/x (200)"


def test_reads_leases_other_clients_and_other_namespaces_are_no_writes_of_the_life() -> None:
    others = _calls(
        _call("list", "cells"),
        _call("update", "leases"),
        _call("patch", "cells", agent="kube-controller-manager"),
    )
    assert operator_writes(others, ("a",)) == ""
    assert operator_writes(_calls(_call("patch", "cells")), ("b",)) == ""


def test_a_rejected_status_and_a_missing_right_are_found() -> None:
    calls = _calls(_call("patch", "cells", 422, subresource="status"), _call("list", "secrets", 403))
    assert rejected_calls(calls, ("a",)) == "patch cells/x/status (422), list secrets/x (403)"


def test_an_apply_that_the_operator_repairs_is_no_problem() -> None:
    assert rejected_calls(_calls(_call("patch", "statefulsets", 422)), ("a",)) == ""


def test_a_write_in_a_terminating_namespace_is_no_missing_right() -> None:
    forbidden = _call("create", "secrets", 403)
    allowed = AuditedCall(forbidden.call, 403, "user", is_allowed=True)
    assert rejected_calls(_calls(allowed), ("a",)) == ""
    assert rejected_calls(_calls(forbidden), ("a",)) != ""


def test_claims_that_any_client_deleted_are_found() -> None:
    calls = _calls(
        _call("delete", "persistentvolumeclaims", agent="kube-controller-manager"),
        _call("delete", "persistentvolumeclaims", 404),
        _call("patch", "persistentvolumeclaims"),
    )
    assert deleted_claims(calls, "a") == ["x"]
