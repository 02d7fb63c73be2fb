"""What no template may write, whatever permissions the operator or its service account has. Pure.

The author of a template is not the owner of the cluster. These limits hold for every Tenant: kinds that grant
permissions or change the API server, unless a flag allows them; Secrets that are credentials of accounts; the
namespaces of Kubernetes and of the operator. `access` has the limits of templates without a service account.
"""

from typing import Final, NamedTuple

from steward.kube.config.settings import Impersonation
from steward.kube.errors import Forbidden
from steward.kube.objects.kinds import NAMESPACE, SECRET, Kind, Manifest, Ref
from steward.tenants.labels import AGGREGATION_LABEL

OWN_SCOPE: Final = "own"
CLUSTER_SCOPE: Final = "cluster"

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
CREDENTIAL_TYPES: Final = frozenset({"kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"})
"""Types of Secrets that authenticate at the API server."""
OPERATOR_ACCOUNT: Final = ":tenant-operator"
"""How the name of the operator's own account ends, as the API server writes it."""
SYSTEM_PREFIX: Final = "kube-"
"""Kubernetes reserves namespaces with this prefix for itself."""


class Permissions(NamedTuple):
    """The limits that the owner of the cluster has set by flags."""

    operator_namespace: str = ""
    """Where the operator is installed; empty if it runs outside the cluster."""
    no_cross_namespace: bool = False
    require_service_account: bool = False
    allow_kinds: tuple[str, ...] = ()
    template_scope: str = OWN_SCOPE


def is_restricted(kind: Kind, permissions: Permissions) -> bool:
    return (kind.group, kind.kind) in RESTRICTED_KINDS and kind.kind not in permissions.allow_kinds


def permission_problem(ref: Ref, tenant_namespace: str, permissions: Permissions) -> str:
    """Why no template may write an object of this kind and name; empty if one may."""
    kind, key = ref
    if is_restricted(kind, permissions):
        return (
            f"{ref}: templates may not hold a {kind.kind}, which grants rights; allow it with --allow-kinds"
        )
    # A Namespace is not inside itself: its labels affect all workloads in it, and its deletion deletes them.
    target = key.name if kind == NAMESPACE else key.namespace
    if reserved := reserved_namespace_problem(target, permissions):
        return f"{ref}: {reserved}"
    if permissions.no_cross_namespace and (kind == NAMESPACE or target != tenant_namespace):
        where = f"in namespace {key.namespace}" if key.namespace else "in no namespace"
        return f"{ref}: is {where}, and --no-cross-namespace keeps templates in {tenant_namespace}"
    return ""


def reserved_namespace_problem(namespace: str, permissions: Permissions) -> str:
    if namespace.startswith(SYSTEM_PREFIX):
        return f"namespace {namespace} belongs to Kubernetes and can be no target; choose another"
    if namespace and namespace == permissions.operator_namespace:
        return f"the operator's own namespace {namespace} can be no target; choose another"
    return ""


def credential_problem(manifest: Manifest) -> str:
    """Why a Secret may not be written; empty if it may. The API server would put the token of an account into it."""
    is_secret = (manifest.get("apiVersion"), manifest.get("kind")) == SECRET
    if not is_secret or str(manifest.get("type")) not in CREDENTIAL_TYPES:
        return ""
    return (
        f"templates may not hold a Secret of type {manifest['type']}, which is a credential of an account; "
        "let pods run as the account instead"
    )


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
    if error.verb == "impersonate":
        return f"{ref}: {_impersonation_message(error)}"
    # The installation binds the operator to all ClusterRoles with the label; a template's account has Roles of its own.
    grant = (
        f'a ClusterRole with the label {AGGREGATION_LABEL}: "true"'
        if error.user.endswith(OPERATOR_ACCOUNT)
        else "a Role and a RoleBinding"
    )
    return f"{ref}: {error.user} may not {error.verb} {error.resource}; grant it by {grant}"


def _impersonation_message(error: Forbidden) -> str:
    account = f"{error.namespace}/{error.details.get('name', '')}"
    return (
        f"{error.user} may not act as service account {account}; name it in tenants.impersonate of the installation, "
        f"or grant impersonate on it by a Role and a RoleBinding in {error.namespace}"
    )
