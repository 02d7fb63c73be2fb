"""What each operator may do: every right that its code uses, and none beyond.

The suite runs the operators under these rights and compares them with the audit log of the API server: a right that is
missing fails a story, one that nothing used fails the comparison. Server-side apply of an object that is not there
needs `create` beside `patch`.
"""

from typing import NamedTuple

from steward.multigres import server_rules as multigres_rules
from steward.shipping.operators import MULTIGRES, TENANTS, Shipped
from steward.tenants import server_rules as tenant_rules

READ = ("get", "list", "watch")
KEEP = (*READ, "create", "patch", "delete")


class Right(NamedTuple):
    """A rule of a role; `names` narrows it to objects of those names."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


_REVIEWS = (
    Right("authentication.k8s.io", ("tokenreviews",), ("create",)),
    Right("authorization.k8s.io", ("subjectaccessreviews",), ("create",)),
)
_EVENTS = (Right("events.k8s.io", ("events",), ("create", "patch")),)
_CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")


def _ca_bundles(*names: str) -> Right:
    return Right("admissionregistration.k8s.io", _CONFIGURATIONS, ("get", "patch"), names)


_CHILDREN = ("toposervers", "cells", "tablegroups", "shards")
_TEMPLATES = ("coretemplates", "celltemplates", "shardtemplates")

_MULTIGRES = (
    Right("multigres.com", ("multigresclusters", *_TEMPLATES), (*READ, "patch")),
    Right("multigres.com", _CHILDREN, KEEP),
    Right("multigres.com", tuple(f"{name}/status" for name in ("multigresclusters", *_CHILDREN)), ("patch",)),
    # Where the server enforces it, an owner reference that blocks deletion needs this right on the owner.
    Right(
        "multigres.com",
        tuple(f"{name}/finalizers" for name in ("multigresclusters", *_CHILDREN)),
        ("update",),
    ),
    Right("apps", ("deployments", "statefulsets", "controllerrevisions"), KEEP),
    Right("", ("services", "configmaps", "secrets", "persistentvolumeclaims"), KEEP),
    Right("", ("pods",), ("list", "watch")),
    Right("", ("pods/eviction",), ("create",)),
    Right("policy", ("poddisruptionbudgets",), KEEP),
    Right("storage.k8s.io", ("storageclasses",), READ),
    # Whether any node stands in the zone of a cell.
    Right("", ("nodes",), ("list",)),
    _ca_bundles(multigres_rules.MUTATING, multigres_rules.VALIDATING),
    *_EVENTS,
    *_REVIEWS,
)

_TENANT_KINDS = ("tenantregistries", "tenanttemplates", "tenants")
_RENDERED = (
    Right(
        "",
        ("configmaps", "namespaces", "persistentvolumeclaims", "secrets", "serviceaccounts", "services"),
        KEEP,
    ),
    Right("apps", ("daemonsets", "deployments", "statefulsets"), KEEP),
    Right("autoscaling", ("horizontalpodautoscalers",), KEEP),
    Right("batch", ("cronjobs", "jobs"), KEEP),
    Right("networking.k8s.io", ("ingresses", "networkpolicies"), KEEP),
    Right("policy", ("poddisruptionbudgets",), KEEP),
)
"""The kinds that a TenantTemplate has a list for. Others are granted by roles that carry the label `GRANTS`."""

GRANTS = "kubernetes-tenants.org/aggregate-to-tenant-operator"

_TENANTS = (
    Right("operator.kubernetes-tenants.org", _TENANT_KINDS, KEEP),
    Right("operator.kubernetes-tenants.org", tuple(f"{name}/status" for name in _TENANT_KINDS), ("patch",)),
    Right(
        "operator.kubernetes-tenants.org", tuple(f"{name}/finalizers" for name in _TENANT_KINDS), ("update",)
    ),
    *_RENDERED,
    # The version of a template that is in force.
    Right("apps", ("controllerrevisions",), KEEP),
    Right("", ("serviceaccounts",), ("impersonate",)),
    _ca_bundles(tenant_rules.MUTATING, tenant_rules.VALIDATING),
    *_EVENTS,
    *_REVIEWS,
)

RIGHTS: dict[Shipped, tuple[Right, ...]] = {MULTIGRES: _MULTIGRES, TENANTS: _TENANTS}

IN_OWN_NAMESPACE = (Right("coordination.k8s.io", ("leases",), ("get", "create", "update")),)
"""Of both, in the namespace where they run."""
