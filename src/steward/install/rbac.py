"""Roles and bindings from the rules in `rbac_rules`."""

from typing import Any

from steward.install.operators import TENANTS, ShippedOperator, labels
from steward.install.rbac_rules import (
    CLUSTER_RULES,
    MANAGE,
    NAMESPACE_RULES,
    OWN_NAMESPACE_RULES,
    RbacRule,
    inside_namespaces,
    outside_namespaces,
)
from steward.install.values import ImpersonatedAccounts, Values
from steward.install.workloads import metadata
from steward.kube.objects.kinds import Manifest
from steward.tenants.labels import AGGREGATION_LABEL

RBAC = "rbac.authorization.k8s.io/v1"
CUSTOM_KINDS = f"{TENANTS.name}-custom-kinds"
IMPERSONATION = f"{TENANTS.name}-impersonation"


def operator_roles(operator: ShippedOperator, values: Values) -> list[Manifest]:
    """The roles and bindings of an operator of all namespaces."""
    return [
        _cluster_role(operator.name, operator, CLUSTER_RULES[operator]),
        _cluster_binding(operator.name, operator, values),
        *_own_namespace_role(operator, values, NAMESPACE_RULES),
        *(custom_kind_roles(values) if operator == TENANTS else []),
    ]


def namespaced_operator_roles(operator: ShippedOperator, values: Values) -> list[Manifest]:
    """The same for an operator of some namespaces, without the bindings there (`namespace_bindings`)."""
    return [
        _cluster_role(operator.name, operator, outside_namespaces(operator)),
        _cluster_binding(operator.name, operator, values),
        _cluster_role(namespaced_role(operator), operator, inside_namespaces(operator)),
        *_own_namespace_role(operator, values, (*NAMESPACE_RULES, *OWN_NAMESPACE_RULES[operator])),
        *([_custom_kinds_role()] if operator == TENANTS else []),
    ]


def namespace_bindings(operator: ShippedOperator, namespace: str, values: Values) -> list[Manifest]:
    """The bindings in one of its namespaces."""
    roles = [namespaced_role(operator), *([CUSTOM_KINDS] if operator == TENANTS else [])]
    return [_namespace_binding("ClusterRole", role, namespace, operator, values) for role in roles]


def impersonation_roles(accounts: ImpersonatedAccounts, values: Values) -> list[Manifest]:
    """Lets the tenants operator act as these service accounts of one namespace."""
    rule = RbacRule("", ("serviceaccounts",), ("impersonate",), tuple(accounts.service_accounts))
    meta = {"name": IMPERSONATION, "namespace": accounts.namespace, "labels": labels(TENANTS)}
    role = {"apiVersion": RBAC, "kind": "Role", "metadata": meta, "rules": [_policy_rule(rule)]}
    return [role, _namespace_binding("Role", IMPERSONATION, accounts.namespace, TENANTS, values)]


def namespaced_role(operator: ShippedOperator) -> str:
    return f"{operator.name}-namespaced"


def custom_kind_roles(values: Values) -> list[Manifest]:
    """Access to custom kinds in templates, aggregated from every ClusterRole with the label."""
    return [_custom_kinds_role(), _cluster_binding(CUSTOM_KINDS, TENANTS, values)]


def _custom_kinds_role() -> Manifest:
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": CUSTOM_KINDS, "labels": labels(TENANTS)},
        # No `rules`: the aggregation controller writes them, and applying an empty list would remove them.
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {AGGREGATION_LABEL: "true"}}]},
    }


def databases_for_tenants() -> Manifest:
    """Lets templates of tenants create MultigresClusters if both operators are installed."""
    granted = RbacRule("multigres.com", ("multigresclusters",), MANAGE)
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {
            "name": f"{TENANTS.name}-multigres",
            "labels": {**labels(TENANTS), AGGREGATION_LABEL: "true"},
        },
        "rules": [_policy_rule(granted)],
    }


def metrics_reader() -> Manifest:
    """To be bound to the service account that scrapes the metrics."""
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": "steward-metrics-reader", "labels": {"app.kubernetes.io/part-of": "steward"}},
        "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
    }


def _own_namespace_role(
    operator: ShippedOperator, values: Values, rules: tuple[RbacRule, ...]
) -> list[Manifest]:
    return [
        {
            "apiVersion": RBAC,
            "kind": "Role",
            "metadata": metadata(operator, values),
            "rules": [_policy_rule(rule) for rule in rules],
        },
        _namespace_binding("Role", operator.name, values.namespace, operator, values),
    ]


def _cluster_role(name: str, operator: ShippedOperator, rules: tuple[RbacRule, ...]) -> Manifest:
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": labels(operator)},
        "rules": [_policy_rule(rule) for rule in rules],
    }


def _policy_rule(rule: RbacRule) -> dict[str, Any]:
    policy_rule: dict[str, Any] = {
        "apiGroups": [rule.group],
        "resources": list(rule.resources),
        "verbs": list(rule.verbs),
    }
    return {**policy_rule, "resourceNames": list(rule.names)} if rule.names else policy_rule


def _cluster_binding(role: str, operator: ShippedOperator, values: Values) -> Manifest:
    meta = {"name": role, "labels": labels(operator)}
    return _binding("ClusterRoleBinding", meta, _role_ref("ClusterRole", role), operator, values)


def _namespace_binding(
    kind: str, role: str, namespace: str, operator: ShippedOperator, values: Values
) -> Manifest:
    meta = {"name": role, "namespace": namespace, "labels": labels(operator)}
    return _binding("RoleBinding", meta, _role_ref(kind, role), operator, values)


def _role_ref(kind: str, name: str) -> dict[str, str]:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}


def _binding(
    kind: str, meta: Manifest, role: dict[str, str], operator: ShippedOperator, values: Values
) -> Manifest:
    return {
        "apiVersion": RBAC,
        "kind": kind,
        "metadata": meta,
        "roleRef": role,
        "subjects": [{"kind": "ServiceAccount", "name": operator.name, "namespace": values.namespace}],
    }
