"""The RBAC rules of each operator: exactly the access that its code uses.

The test suite runs the operators with these rules and compares them with the audit log of the API server: a missing
rule fails a scenario, an unused rule fails the comparison. Server-side apply of a new object
needs `create` and `patch`.
"""

from collections.abc import Callable
from typing import NamedTuple

from steward.install.operators import MULTIGRES, TENANTS, ShippedOperator
from steward.multigres import webhook_configurations as multigres_rules
from steward.tenants import webhook_configurations as tenant_rules

WATCH = ("list", "watch")
READ = ("get", *WATCH)
MANAGE = (*READ, "create", "patch", "delete")


class RbacRule(NamedTuple):
    """A rule of a role; `names` limits it to objects of these names."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


_REVIEW_RULES = (
    RbacRule("authentication.k8s.io", ("tokenreviews",), ("create",)),
    RbacRule("authorization.k8s.io", ("subjectaccessreviews",), ("create",)),
)
_EVENT_RULES = (RbacRule("events.k8s.io", ("events",), ("create", "patch")),)


def _webhook_rules(mutating: str, validating: str) -> tuple[RbacRule, ...]:
    """One rule for each kind: a single rule would grant both names for both kinds."""
    named = (("mutatingwebhookconfigurations", mutating), ("validatingwebhookconfigurations", validating))
    return tuple(
        RbacRule("admissionregistration.k8s.io", (resource,), ("get", "patch"), (name,))
        for resource, name in named
    )


_CHILDREN = ("toposervers", "cells", "tablegroups", "shards")
_TEMPLATES = ("coretemplates", "celltemplates", "shardtemplates")

_MULTIGRES_RULES = (
    RbacRule("multigres.com", ("multigresclusters", *_TEMPLATES), (*WATCH, "patch")),
    RbacRule("multigres.com", _CHILDREN, MANAGE),
    RbacRule("multigres.com", ("multigresbackups",), (*WATCH, "create", "delete")),
    RbacRule(
        "multigres.com",
        tuple(f"{name}/status" for name in ("multigresclusters", "multigresbackups", *_CHILDREN)),
        ("patch",),
    ),
    # With OwnerReferencesPermissionEnforcement, an owner reference with blockOwnerDeletion needs this.
    RbacRule(
        "multigres.com",
        tuple(f"{name}/finalizers" for name in ("multigresclusters", *_CHILDREN)),
        ("update",),
    ),
    RbacRule("apps", ("deployments", "statefulsets", "controllerrevisions"), MANAGE),
    # ReplicaSets that were orphaned by their Deployment end with their cluster.
    RbacRule("apps", ("replicasets",), ("list", "delete")),
    RbacRule("", ("services", "configmaps", "secrets", "persistentvolumeclaims"), MANAGE),
    # get: after an eviction. patch: sets the labels of a new StatefulSet on pods that it would not select. delete: pods
    # that no controller manages any more end with their cluster.
    RbacRule("", ("pods",), (*READ, "patch", "delete")),
    RbacRule("", ("pods/eviction",), ("create",)),
    RbacRule("policy", ("poddisruptionbudgets",), MANAGE),
    RbacRule("storage.k8s.io", ("storageclasses",), READ),
    # To check that the zone of a cell has nodes.
    RbacRule("", ("nodes",), ("list",)),
    *_webhook_rules(multigres_rules.MUTATING, multigres_rules.VALIDATING),
    *_EVENT_RULES,
    *_REVIEW_RULES,
)

_TEMPLATE_KIND_RULES = (
    RbacRule(
        "",
        ("configmaps", "namespaces", "persistentvolumeclaims", "secrets", "serviceaccounts", "services"),
        MANAGE,
    ),
    RbacRule("apps", ("daemonsets", "deployments", "statefulsets"), MANAGE),
    RbacRule("autoscaling", ("horizontalpodautoscalers",), MANAGE),
    RbacRule("batch", ("cronjobs", "jobs"), MANAGE),
    RbacRule("networking.k8s.io", ("ingresses", "networkpolicies"), MANAGE),
    RbacRule("policy", ("poddisruptionbudgets",), MANAGE),
)
"""Kinds with a list in TenantTemplate. Roles with the label `AGGREGATION_LABEL` grant others."""


_TENANTS_GROUP = "operator.kubernetes-tenants.org"
_TENANT_RULES = (
    # get: the template webhook reads the registry, which is often applied at the same time and not cached yet.
    RbacRule(_TENANTS_GROUP, ("tenantregistries",), (*READ, "patch")),
    RbacRule(_TENANTS_GROUP, ("tenanttemplates",), (*WATCH, "patch")),
    RbacRule(_TENANTS_GROUP, ("tenants",), MANAGE),
    RbacRule(
        _TENANTS_GROUP, ("tenantregistries/status", "tenanttemplates/status", "tenants/status"), ("patch",)
    ),
    *_TEMPLATE_KIND_RULES,
    # Whether an unbound claim waits for its first pod.
    RbacRule("storage.k8s.io", ("storageclasses",), ("get",)),
    # The active revision of a template.
    RbacRule("apps", ("controllerrevisions",), MANAGE),
    *_webhook_rules(tenant_rules.MUTATING, tenant_rules.VALIDATING),
    *_EVENT_RULES,
    *_REVIEW_RULES,
)

CLUSTER_RULES: dict[ShippedOperator, tuple[RbacRule, ...]] = {
    MULTIGRES: _MULTIGRES_RULES,
    TENANTS: _TENANT_RULES,
}

NAMESPACE_RULES = (RbacRule("coordination.k8s.io", ("leases",), ("get", "create", "update")),)
"""Rules of both operators in their own namespace."""

_CLUSTER_SCOPED = frozenset(
    {
        "mutatingwebhookconfigurations",
        "nodes",
        "storageclasses",
        "subjectaccessreviews",
        "tokenreviews",
        "validatingwebhookconfigurations",
    }
)
"""Resources outside namespaces that an operator needs also if it works in some namespaces only."""

OWN_NAMESPACE_RULES: dict[ShippedOperator, tuple[RbacRule, ...]] = {
    MULTIGRES: (
        RbacRule("", ("secrets",), MANAGE),
        # The cache has all of these in the operator's own namespace.
        RbacRule("", ("services",), WATCH),
        RbacRule("apps", ("statefulsets",), WATCH),
        RbacRule("apps", ("deployments",), ("list",)),
        *_EVENT_RULES,
    ),
    TENANTS: (
        RbacRule("", ("secrets",), MANAGE),
        RbacRule("apps", ("deployments",), ("list",)),
        *_EVENT_RULES,
    ),
}
"""Rules in the operator's own namespace if the roles of its namespaces are bound elsewhere only: its certificates, and
the Deployment that owns them."""


def outside_namespaces(operator: ShippedOperator) -> tuple[RbacRule, ...]:
    """The rules of an operator for resources that are in no namespace, for an operator of some namespaces."""
    return _selected(operator, _CLUSTER_SCOPED.__contains__)


def inside_namespaces(operator: ShippedOperator) -> tuple[RbacRule, ...]:
    """The rules for everything else. Such an operator makes no Namespaces."""
    return _selected(operator, lambda resource: resource not in _CLUSTER_SCOPED | {"namespaces"})


def _selected(operator: ShippedOperator, is_chosen: Callable[[str], bool]) -> tuple[RbacRule, ...]:
    chosen = (
        rule._replace(resources=tuple(filter(is_chosen, rule.resources))) for rule in CLUSTER_RULES[operator]
    )
    return tuple(rule for rule in chosen if rule.resources)
