"""Roles and bindings from the rules in `rbac_rules`."""

from typing import Any

from steward.install.operators import TENANTS, ShippedOperator, labels
from steward.install.rbac_rules import AGGREGATION_LABEL, CLUSTER_RULES, MANAGE, NAMESPACE_RULES, RbacRule
from steward.install.values import Values
from steward.install.workloads import metadata
from steward.kube.objects.kinds import Manifest

RBAC = "rbac.authorization.k8s.io/v1"


def operator_roles(operator: ShippedOperator, values: Values) -> list[Manifest]:
    return [
        _cluster_role(operator, CLUSTER_RULES[operator]),
        _binding("ClusterRole", {"name": operator.name, "labels": labels(operator)}, operator, values),
        {
            "apiVersion": RBAC,
            "kind": "Role",
            "metadata": metadata(operator, values),
            "rules": [_policy_rule(rule) for rule in NAMESPACE_RULES],
        },
        _binding("Role", metadata(operator, values), operator, values),
    ]


def custom_kind_roles(values: Values) -> list[Manifest]:
    """Access to custom kinds in templates, aggregated from every ClusterRole with the label."""
    name = f"{TENANTS.name}-custom-kinds"
    meta = {"name": name, "labels": labels(TENANTS)}
    role = {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": meta,
        # No `rules`: the aggregation controller writes them, and applying an empty list would remove them.
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {AGGREGATION_LABEL: "true"}}]},
    }
    binding = _binding("ClusterRole", meta, TENANTS, values)
    return [role, {**binding, "roleRef": {**binding["roleRef"], "name": name}}]


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


def _cluster_role(operator: ShippedOperator, rules: tuple[RbacRule, ...]) -> Manifest:
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": operator.name, "labels": labels(operator)},
        "rules": [_policy_rule(rule) for rule in rules],
    }


def _policy_rule(rule: RbacRule) -> dict[str, Any]:
    policy_rule: dict[str, Any] = {
        "apiGroups": [rule.group],
        "resources": list(rule.resources),
        "verbs": list(rule.verbs),
    }
    return {**policy_rule, "resourceNames": list(rule.names)} if rule.names else policy_rule


def _binding(role: str, meta: Manifest, operator: ShippedOperator, values: Values) -> Manifest:
    return {
        "apiVersion": RBAC,
        "kind": f"{role}Binding",
        "metadata": meta,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": operator.name},
        "subjects": [{"kind": "ServiceAccount", "name": operator.name, "namespace": values.namespace}],
    }
