"""What templates may not do, whatever rights the operator has. Pure.

A template's author is not the cluster's owner. What grants rights or bends the API server (roles of the cluster,
bindings, webhooks, definitions) is refused unless a flag allows it; the operator's own namespace is never a target;
and a denial of the API server is told with verb, resource and account.
"""

from typing import Final, NamedTuple

from steward.kube.config.settings import Impersonation
from steward.kube.errors import Forbidden
from steward.kube.objects.kinds import NAMESPACE, Kind, Ref
from steward.runtime.manager.settings import Settings

REFUSED_KINDS: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
        ("authorization.openshift.io", "ClusterRole"),
        ("authorization.openshift.io", "ClusterRoleBinding"),
        ("authorization.openshift.io", "RoleBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
    }
)


class Permissions(NamedTuple):
    """What the cluster's owner set by flags."""

    own_namespace: str = ""
    no_cross_namespace: bool = False
    require_service_account: bool = False
    allow_kinds: tuple[str, ...] = ()


def permissions_of(settings: Settings) -> Permissions:
    return Permissions(
        settings.namespace,
        settings.no_cross_namespace,
        settings.require_service_account,
        settings.allow_kinds,
    )


def is_refused(kind: Kind, allowed: Permissions) -> bool:
    return (kind.group, kind.kind) in REFUSED_KINDS and kind.kind not in allowed.allow_kinds


def refusal(ref: Ref, tenant_namespace: str, allowed: Permissions) -> str:
    """Why an object may not be applied; nothing when it may."""
    kind, key = ref
    if is_refused(kind, allowed):
        return (
            f"{ref}: templates may not hold a {kind.kind}, which grants rights; allow it with --allow-kinds"
        )
    # The Namespace itself is not in the namespace: its labels bind whoever lives there, and its end takes all along.
    is_at_home = kind != NAMESPACE and key.namespace == tenant_namespace
    target = key.name if kind == NAMESPACE else key.namespace
    if allowed.own_namespace and target == allowed.own_namespace and not is_at_home:
        return f"{ref}: the operator's own namespace {target} can be no target; choose another"
    if allowed.no_cross_namespace and not is_at_home:
        where = f"in namespace {key.namespace}" if key.namespace else "in no namespace"
        return f"{ref}: is {where}, and --no-cross-namespace keeps templates in {tenant_namespace}"
    return ""


def missing_account(service_account: str, allowed: Permissions) -> str:
    if service_account or not allowed.require_service_account:
        return ""
    return "serviceAccountName is not set, and --require-service-account asks for it; set it in the template"


def account_of(namespace: str, service_account: str) -> Impersonation:
    """A ServiceAccount as the API server knows it."""
    # Its groups are added by the server; named here, they would need a right to impersonate groups as well.
    return Impersonation(user=f"system:serviceaccount:{namespace}:{service_account}")


def denial(ref: Ref, error: Forbidden) -> str:
    """Who may not do what; an admission refusal says its own words."""
    if not error.user:
        return f"{ref}: {error.message}"
    return f"{ref}: {error.user} may not {error.verb} {error.resource}; grant it by a Role and a RoleBinding"
