"""Roles and bindings, made from the table in `rights`."""

from typing import Any

from steward.install.operators import TENANTS, Shipped, labels
from steward.install.rbac_rules import GRANTS, IN_OWN_NAMESPACE, KEEP, RIGHTS, Right
from steward.install.values import Values
from steward.install.workloads import metadata
from steward.kube.objects.kinds import Manifest

RBAC = "rbac.authorization.k8s.io/v1"


def access(operator: Shipped, values: Values) -> list[Manifest]:
    return [
        _role(operator, RIGHTS[operator]),
        _binding("ClusterRole", {"name": operator.name, "labels": labels(operator)}, operator, values),
        {
            "apiVersion": RBAC,
            "kind": "Role",
            "metadata": metadata(operator, values),
            "rules": [_rule(right) for right in IN_OWN_NAMESPACE],
        },
        _binding("Role", metadata(operator, values), operator, values),
    ]


def custom_kinds(values: Values) -> list[Manifest]:
    """Rights on the custom kinds that templates hold: every ClusterRole with the label adds its own."""
    name = f"{TENANTS.name}-custom-kinds"
    meta = {"name": name, "labels": labels(TENANTS)}
    role = {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": meta,
        # Its rules are the aggregating controller's to write: an empty list of ours would take them away.
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {GRANTS: "true"}}]},
    }
    binding = _binding("ClusterRole", meta, TENANTS, values)
    return [role, {**binding, "roleRef": {**binding["roleRef"], "name": name}}]


def databases_for_tenants() -> Manifest:
    """Where both operators run, a row may become a database."""
    granted = Right("multigres.com", ("multigresclusters",), KEEP)
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": f"{TENANTS.name}-multigres", "labels": {**labels(TENANTS), GRANTS: "true"}},
        "rules": [_rule(granted)],
    }


def metrics_reader() -> Manifest:
    """To be bound to whoever scrapes."""
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": "steward-metrics-reader", "labels": {"app.kubernetes.io/part-of": "steward"}},
        "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
    }


def _role(operator: Shipped, rights: tuple[Right, ...]) -> Manifest:
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": operator.name, "labels": labels(operator)},
        "rules": [_rule(right) for right in rights],
    }


def _rule(right: Right) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "apiGroups": [right.group],
        "resources": list(right.resources),
        "verbs": list(right.verbs),
    }
    return {**rule, "resourceNames": list(right.names)} if right.names else rule


def _binding(role: str, meta: Manifest, operator: Shipped, values: Values) -> Manifest:
    return {
        "apiVersion": RBAC,
        "kind": f"{role}Binding",
        "metadata": meta,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": operator.name},
        "subjects": [{"kind": "ServiceAccount", "name": operator.name, "namespace": values.namespace}],
    }
