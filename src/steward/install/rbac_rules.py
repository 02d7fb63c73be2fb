"""What each operator may do: every right that its code uses, and none beyond.

The suite runs the operators under these rights and compares them with the audit log of the API server: a right that is
missing fails a story, one that nothing used fails the comparison. Server-side apply of an object that is not there
needs `create` beside `patch`.
"""

from typing import NamedTuple

from steward.install.operators import MULTIGRES, TENANTS, Shipped
from steward.multigres import webhook_configurations as multigres_rules
from steward.tenants import webhook_configurations as tenant_rules

WATCH = ("list", "watch")
READ = ("get", *WATCH)
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


def _ca_bundles(mutating: str, validating: str) -> tuple[Right, ...]:
    """A rule each: in one, each name would be granted for either kind."""
    named = (("mutatingwebhookconfigurations", mutating), ("validatingwebhookconfigurations", validating))
    return tuple(
        Right("admissionregistration.k8s.io", (resource,), ("get", "patch"), (name,))
        for resource, name in named
    )


_CHILDREN = ("toposervers", "cells", "tablegroups", "shards")
_TEMPLATES = ("coretemplates", "celltemplates", "shardtemplates")

_MULTIGRES = (
    Right("multigres.com", ("multigresclusters", *_TEMPLATES), (*WATCH, "patch")),
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
    # One that was evicted is looked at again; one that a new set could not find gets the set's labels.
    Right("", ("pods",), (*READ, "patch")),
    Right("", ("pods/eviction",), ("create",)),
    Right("policy", ("poddisruptionbudgets",), KEEP),
    Right("storage.k8s.io", ("storageclasses",), READ),
    # Whether any node stands in the zone of a cell.
    Right("", ("nodes",), ("list",)),
    *_ca_bundles(multigres_rules.MUTATING, multigres_rules.VALIDATING),
    *_EVENTS,
    *_REVIEWS,
)

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

_OF_TENANTS = "operator.kubernetes-tenants.org"
_TENANTS = (
    # The webhook of templates asks for the registry, which is often applied in the same breath.
    Right(_OF_TENANTS, ("tenantregistries",), (*READ, "patch")),
    Right(_OF_TENANTS, ("tenanttemplates",), (*WATCH, "patch")),
    Right(_OF_TENANTS, ("tenants",), KEEP),
    Right(_OF_TENANTS, ("tenantregistries/status", "tenanttemplates/status", "tenants/status"), ("patch",)),
    *_RENDERED,
    # The version of a template that is in force.
    Right("apps", ("controllerrevisions",), KEEP),
    Right("", ("serviceaccounts",), ("impersonate",)),
    *_ca_bundles(tenant_rules.MUTATING, tenant_rules.VALIDATING),
    *_EVENTS,
    *_REVIEWS,
)

RIGHTS: dict[Shipped, tuple[Right, ...]] = {MULTIGRES: _MULTIGRES, TENANTS: _TENANTS}

IN_OWN_NAMESPACE = (Right("coordination.k8s.io", ("leases",), ("get", "create", "update")),)
"""Of both, in the namespace where they run."""
