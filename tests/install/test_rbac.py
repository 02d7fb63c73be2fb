"""The roles of an installation grant no impersonation, and those of some namespaces nothing outside of them."""

import pytest

from steward.install.manifests import manifests, rbac
from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator
from steward.install.rbac_rules import CLUSTER_RULES, inside_namespaces, outside_namespaces
from steward.install.values import ImpersonatedAccounts, OperatorValues, TenantsValues, Values
from steward.kube.objects.kinds import Manifest
from steward.testkit.rbac_coverage import grants

LIMITED = Values(multigres=OperatorValues(namespaces=["a", "b"]), tenants=TenantsValues(namespaces=["a"]))
READ_IN_THE_CLUSTER = {"nodes", "storageclasses"}
WRITTEN_IN_THE_CLUSTER = {
    "mutatingwebhookconfigurations",
    "subjectaccessreviews",
    "tokenreviews",
    "validatingwebhookconfigurations",
}


def _of_kind(found: list[Manifest], kind: str) -> list[Manifest]:
    return [manifest for manifest in found if manifest["kind"] == kind]


def test_no_role_grants_impersonation_by_default() -> None:
    roles = [each for each in manifests(Values()) if each["kind"] in ("Role", "ClusterRole")]

    assert len(roles) > 4
    assert [grant for grant in grants(roles) if grant.verb in ("impersonate", "bind", "escalate", "*")] == []


def test_named_accounts_are_granted_in_their_namespace_by_name() -> None:
    values = Values(tenants=TenantsValues(impersonate=[ImpersonatedAccounts("shop", ["web", "job"])]))
    roles = [each for each in rbac(TENANTS, values) if each["kind"] in ("Role", "ClusterRole")]

    found = [grant for grant in grants(roles) if grant.verb == "impersonate"]

    assert [(grant.namespace, grant.resource, grant.name) for grant in found] == [
        ("shop", "serviceaccounts", "web"),
        ("shop", "serviceaccounts", "job"),
    ]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_an_operator_of_some_namespaces_has_few_rights_in_the_cluster(operator: ShippedOperator) -> None:
    found = rbac(operator, LIMITED)
    [binding] = _of_kind(found, "ClusterRoleBinding")
    [role] = [each for each in _of_kind(found, "ClusterRole") if each["metadata"]["name"] == operator.name]

    granted = grants([role])

    assert binding["roleRef"]["name"] == operator.name
    assert {grant.resource for grant in granted} <= READ_IN_THE_CLUSTER | WRITTEN_IN_THE_CLUSTER
    assert [
        g for g in granted if g.resource in READ_IN_THE_CLUSTER and g.verb not in ("get", "list", "watch")
    ] == []


def test_every_namespace_has_a_binding() -> None:
    bindings = _of_kind(rbac(MULTIGRES, LIMITED), "RoleBinding")

    found = [(each["metadata"]["namespace"], each["roleRef"]["name"]) for each in bindings]

    assert found == [
        ("steward-system", "multigres-operator"),
        ("a", "multigres-operator-namespaced"),
        ("b", "multigres-operator-namespaced"),
    ]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_the_two_parts_of_the_rules_are_all_of_them_but_namespaces(operator: ShippedOperator) -> None:
    parts = {
        (rule.group, resource, rule.verbs, rule.names)
        for rule in (*inside_namespaces(operator), *outside_namespaces(operator))
        for resource in rule.resources
    }
    whole = {
        (rule.group, resource, rule.verbs, rule.names)
        for rule in CLUSTER_RULES[operator]
        for resource in rule.resources
        if resource != "namespaces"
    }
    assert parts == whole
