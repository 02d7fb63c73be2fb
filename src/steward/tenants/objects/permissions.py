"""What templates may not do, whatever permissions the operator has. Pure.

The author of a template is not the owner of the cluster. Kinds that grant permissions or change the API server (cluster
roles, bindings, webhooks, CRDs) are rejected unless a flag allows them, and the namespace of the operator is never a
target. The message for a denial by the API server names verb, resource and account.
"""

from typing import Final, NamedTuple

from steward.kube.config.settings import Impersonation
from steward.kube.errors import Forbidden
from steward.kube.objects.kinds import NAMESPACE, Kind, Ref

RESTRICTED_KINDS: Final[frozenset[tuple[str, str]]] = frozenset(
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
    """The limits that the owner of the cluster has set by flags."""

    own_namespace: str = ""
    no_cross_namespace: bool = False
    require_service_account: bool = False
    allow_kinds: tuple[str, ...] = ()


def is_restricted(kind: Kind, permissions: Permissions) -> bool:
    return (kind.group, kind.kind) in RESTRICTED_KINDS and kind.kind not in permissions.allow_kinds


def permission_problem(ref: Ref, tenant_namespace: str, permissions: Permissions) -> str:
    """Why an object may not be applied; empty if it may."""
    kind, key = ref
    if is_restricted(kind, permissions):
        return (
            f"{ref}: templates may not hold a {kind.kind}, which grants rights; allow it with --allow-kinds"
        )
    # A Namespace is not inside itself: its labels affect all workloads in it, and its deletion deletes them.
    is_own_namespace = kind != NAMESPACE and key.namespace == tenant_namespace
    target = key.name if kind == NAMESPACE else key.namespace
    if permissions.own_namespace and target == permissions.own_namespace and not is_own_namespace:
        return f"{ref}: the operator's own namespace {target} can be no target; choose another"
    if permissions.no_cross_namespace and not is_own_namespace:
        where = f"in namespace {key.namespace}" if key.namespace else "in no namespace"
        return f"{ref}: is {where}, and --no-cross-namespace keeps templates in {tenant_namespace}"
    return ""


def missing_account_message(service_account: str, permissions: Permissions) -> str:
    if service_account or not permissions.require_service_account:
        return ""
    return "serviceAccountName is not set, and --require-service-account asks for it; set it in the template"


def service_account_identity(namespace: str, service_account: str) -> Impersonation:
    """The identity of a ServiceAccount, to impersonate."""
    # Without groups: the API server adds them. Naming them would need the permission to impersonate groups as well.
    return Impersonation(user=f"system:serviceaccount:{namespace}:{service_account}")


def denial_message(ref: Ref, error: Forbidden) -> str:
    """Names account, verb and resource; a denial by an admission webhook is quoted as it is."""
    if not error.user:
        return f"{ref}: {error.message}"
    return f"{ref}: {error.user} may not {error.verb} {error.resource}; grant it by a Role and a RoleBinding"
