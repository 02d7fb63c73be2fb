"""Rights against calls, as tables: what is used, what is not, and what was refused."""

import pytest

from steward.testkit.audit import Audited
from steward.testkit.proxy.requests import Call
from steward.testkit.rbac_coverage import Grant, Use, grants, refusals, unused, uses


def call(verb: str, resource: str = "pods", *, code: int = 200, acting_as: str = "", **place: str) -> Audited:
    called = Call(method="", path="", verb=verb, resource=resource, **place)
    return Audited(called, code, "operator", acting_as, is_allowed=code != 403)


def role(*rules: dict, namespace: str = "") -> dict:
    where = {"namespace": namespace} if namespace else {}
    return {"metadata": {"name": "role", **where}, "rules": list(rules)}


def rule(resources: str, verbs: str, group: str = "", names: str = "") -> dict:
    made = {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}
    return {**made, "resourceNames": names.split()} if names else made


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
def test_a_call_uses_these_rights_of_its_caller(made: Audited, expected: set[str]) -> None:
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


def test_rules_about_paths_are_of_no_resource() -> None:
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
    assert (unused(grants([role(granted)]), [used]) == []) is is_used


def test_a_role_of_one_namespace_is_used_by_calls_in_it_alone() -> None:
    found = grants([role(rule("leases", "get"), namespace="home")])
    assert unused(found, [Use("get", "", "leases", "home", "l")]) == []
    assert unused(found, [Use("get", "", "leases", "away", "l")]) == found


def test_what_is_unused_keeps_the_order_of_the_roles() -> None:
    found = grants([role(rule("pods secrets", "get list"))])
    assert unused(found, [Use("list", "", "pods")]) == [
        Grant("role", "get", "", "pods"),
        Grant("role", "get", "", "secrets"),
        Grant("role", "list", "", "secrets"),
    ]


def test_a_refusal_is_the_authorizers_and_the_callers_own() -> None:
    by_admission = Audited(
        Call(method="", path="", verb="create", resource="pods"), 403, "operator", "", True
    )
    in_anothers_place = call("get", "secrets", code=403, acting_as="anna")
    assert refusals([by_admission, in_anothers_place, call("get")]) == []
    refused = [
        call("get", "nodes", code=403),
        call("get", "nodes", code=403),
        call("list", "leases", code=403),
    ]
    assert [str(use) for use in refusals(refused)] == ["get nodes", "list leases"]
