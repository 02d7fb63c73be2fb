"""Grants compared with calls: used, unused and denied permissions."""

import pytest

from steward.testkit.audit import AuditedCall
from steward.testkit.proxy.requests import Call
from steward.testkit.rbac_coverage import Grant, Use, denied_uses, grants, unused_grants, uses


def call(
    verb: str, resource: str = "pods", *, code: int = 200, acting_as: str = "", **target: str
) -> AuditedCall:
    called = Call(method="", path="", verb=verb, resource=resource, **target)
    return AuditedCall(called, code, "operator", acting_as, is_allowed=code != 403)


def role(*rules: dict, namespace: str = "") -> dict:
    where = {"namespace": namespace} if namespace else {}
    return {"metadata": {"name": "role", **where}, "rules": list(rules)}


def rule(resources: str, verbs: str, group: str = "", names: str = "") -> dict:
    fields = {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}
    return {**fields, "resourceNames": names.split()} if names else fields


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (call("get"), {"get pods"}),
        (call("get", code=404), {"get pods"}),
        (call("patch"), {"patch pods"}),
        (call("patch", code=201), {"patch pods", "create pods"}),
        (call("update", code=201), {"update pods", "create pods"}),
        (call("create", code=201), {"create pods"}),
        (call("create", subresource="eviction", namespace="a", name="p"), {"create pods/eviction p in a"}),
        (call("patch", "shards", group="multigres.com"), {"patch shards.multigres.com"}),
        (call("get", ""), set()),
        (call("get", code=403), set()),
        (call("patch", acting_as="system:serviceaccount:a:web"), {"impersonate serviceaccounts web in a"}),
        (call("patch", acting_as="anna"), {"impersonate users anna"}),
    ],
)
def test_a_call_uses_these_permissions_of_its_caller(made: AuditedCall, expected: set[str]) -> None:
    assert {str(use) for use in uses([made])} == expected


def test_a_role_grants_every_verb_on_every_resource_and_name_of_a_rule() -> None:
    found = grants(
        [role(rule("a b", "get list"), rule("c", "patch", "g", "x y")), {"metadata": {"name": "r"}}]
    )
    assert [str(grant) for grant in found] == [
        "role: get a",
        "role: list a",
        "role: get b",
        "role: list b",
        "role: patch c.g x",
        "role: patch c.g y",
    ]


def test_rules_for_non_resource_urls_are_left_out() -> None:
    assert grants([role({"nonResourceURLs": ["/metrics"], "verbs": ["get"]})]) == []


@pytest.mark.parametrize(
    ("granted", "used", "is_used"),
    [
        (rule("pods", "get"), Use("get", "", "pods", "a", "p"), True),
        (rule("pods", "get"), Use("list", "", "pods"), False),
        (rule("pods", "get"), Use("get", "metrics.k8s.io", "pods"), False),
        (rule("pods", "get"), Use("get", "", "pods/log"), False),
        (rule("pods", "get", names="p"), Use("get", "", "pods", "a", "p"), True),
        (rule("pods", "get", names="p"), Use("get", "", "pods", "a", "q"), False),
        (rule("*", "get"), Use("get", "", "pods"), True),
        (rule("pods", "*"), Use("delete", "", "pods"), True),
        (rule("pods", "get", "*"), Use("get", "metrics.k8s.io", "pods"), True),
    ],
)
def test_a_grant_is_used_by_what_it_covers(granted: dict, used: Use, is_used: bool) -> None:
    assert (unused_grants(grants([role(granted)]), [used]) == []) is is_used


def test_a_role_is_used_only_by_calls_in_its_namespace() -> None:
    found = grants([role(rule("leases", "get"), namespace="home")])
    assert unused_grants(found, [Use("get", "", "leases", "home", "l")]) == []
    assert unused_grants(found, [Use("get", "", "leases", "away", "l")]) == found


def test_unused_grants_keep_the_order_of_the_roles() -> None:
    found = grants([role(rule("pods secrets", "get list"))])
    assert unused_grants(found, [Use("list", "", "pods")]) == [
        Grant("role", "get", "", "pods"),
        Grant("role", "get", "", "secrets"),
        Grant("role", "list", "", "secrets"),
    ]


def test_only_rbac_denials_of_the_caller_itself_are_reported() -> None:
    by_admission = AuditedCall(
        Call(method="", path="", verb="create", resource="pods"), 403, "operator", "", True
    )
    impersonating = call("get", "secrets", code=403, acting_as="anna")
    assert denied_uses([by_admission, impersonating, call("get")]) == []
    denied = [
        call("get", "nodes", code=403),
        call("get", "nodes", code=403),
        call("list", "leases", code=403),
    ]
    assert [str(use) for use in denied_uses(denied)] == ["get nodes", "list leases"]
