import pytest

from steward.kube.errors import Forbidden, Invalid
from steward.kube.objects.kinds import CLUSTER_ROLE, CONFIG_MAP, NAMESPACE, ROLE_BINDING, Key, Kind, Ref
from steward.tenants.objects.api_errors import describe_api_error, immutable_fields
from steward.tenants.objects.permissions import (
    Permissions,
    credential_problem,
    denial_message,
    missing_account_message,
    permission_problem,
    service_account_identity,
)

OPEN = Permissions(operator_namespace="steward-system")


@pytest.mark.parametrize(
    ("kind", "key", "permissions", "message"),
    [
        (CONFIG_MAP, Key("saas", "a"), OPEN, ""),
        (CONFIG_MAP, Key("other", "a"), OPEN, ""),
        (
            CONFIG_MAP,
            Key("other", "a"),
            OPEN._replace(no_cross_namespace=True),
            "is in namespace other, and --no-cross-namespace keeps templates in saas",
        ),
        (
            NAMESPACE,
            Key("", "acme"),
            OPEN._replace(no_cross_namespace=True),
            "is in no namespace, and --no-cross-namespace keeps templates in saas",
        ),
        (NAMESPACE, Key("", "saas"), OPEN._replace(no_cross_namespace=True), "--no-cross-namespace"),
        (CONFIG_MAP, Key("saas", "a"), OPEN._replace(no_cross_namespace=True), ""),
        (CONFIG_MAP, Key("saas", "a"), OPEN._replace(operator_namespace="saas"), "own namespace"),
        (NAMESPACE, Key("", "saas"), OPEN._replace(operator_namespace="saas"), "own namespace"),
        (CONFIG_MAP, Key("kube-system", "a"), OPEN, "belongs to Kubernetes"),
        (
            CONFIG_MAP,
            Key("kube-system", "a"),
            OPEN._replace(template_scope="cluster"),
            "belongs to Kubernetes",
        ),
        (NAMESPACE, Key("", "kube-new"), OPEN, "belongs to Kubernetes"),
        (CONFIG_MAP, Key("kubernetes", "kube-system"), OPEN, ""),
        (CONFIG_MAP, Key("saas", "a"), Permissions(), ""),
        (CONFIG_MAP, Key("steward-system", "a"), OPEN, "own namespace"),
        (NAMESPACE, Key("", "steward-system"), OPEN, "own namespace"),
        (CLUSTER_ROLE, Key("", "root"), OPEN, "--allow-kinds"),
        (CLUSTER_ROLE, Key("", "root"), OPEN._replace(allow_kinds=("ClusterRole",)), ""),
        (ROLE_BINDING, Key("saas", "root"), OPEN, "--allow-kinds"),
        (Kind("rbac.authorization.k8s.io/v1beta1", "ClusterRole"), Key("", "a"), OPEN, "--allow-kinds"),
        (Kind("authorization.openshift.io/v1", "RoleBinding"), Key("saas", "a"), OPEN, "--allow-kinds"),
        (Kind("example.org/v1", "ClusterRole"), Key("saas", "a"), OPEN, ""),
    ],
)
def test_kinds_and_namespaces_of_templates_are_restricted(
    kind: Kind, key: Key, permissions: Permissions, message: str
) -> None:
    found = permission_problem(Ref(kind, key), "saas", permissions)
    assert message in found
    assert bool(found) == bool(message)


@pytest.mark.parametrize(
    ("api_version", "kind", "type_", "is_refused"),
    [
        ("v1", "Secret", "kubernetes.io/service-account-token", True),
        ("v1", "Secret", "bootstrap.kubernetes.io/token", True),
        ("v1", "Secret", "Opaque", False),
        ("v1", "Secret", None, False),
        ("example.org/v1", "Secret", "kubernetes.io/service-account-token", False),
    ],
)
def test_secrets_that_are_credentials_of_accounts_are_refused(
    api_version: str, kind: str, type_: str | None, is_refused: bool
) -> None:
    manifest = {"apiVersion": api_version, "kind": kind, "type": type_}
    assert bool(credential_problem(manifest)) == is_refused


def test_an_account_is_required_only_with_the_flag() -> None:
    strict = Permissions(require_service_account=True)
    assert "--require-service-account" in missing_account_message("", strict)
    assert missing_account_message("deployer", strict) == ""
    assert missing_account_message("", Permissions()) == ""


def test_an_account_is_impersonated_by_its_user_name() -> None:
    assert service_account_identity("saas", "deployer").user == "system:serviceaccount:saas:deployer"


def test_a_denial_names_verb_resource_and_account() -> None:
    error = Forbidden(403, "Forbidden", "no")
    error.user, error.verb, error.resource = "system:serviceaccount:saas:deployer", "patch", "secrets"
    message = denial_message(Ref(CONFIG_MAP, Key("saas", "a")), error)
    assert "system:serviceaccount:saas:deployer may not patch secrets" in message


@pytest.mark.parametrize(
    ("account", "grant"),
    [
        ("steward-system:tenant-operator", 'kubernetes-tenants.org/aggregate-to-tenant-operator: "true"'),
        ("saas:deployer", "a Role and a RoleBinding"),
    ],
)
def test_a_denial_names_the_grant_that_the_account_can_get(account: str, grant: str) -> None:
    error = Forbidden(403, "Forbidden", "no")
    error.user, error.verb, error.resource = f"system:serviceaccount:{account}", "get", "widgets.example.com"
    assert denial_message(Ref(CONFIG_MAP, Key("saas", "a")), error).endswith(grant)


def test_a_denied_impersonation_names_the_account_and_the_cure() -> None:
    error = Forbidden(403, "Forbidden", "no", {"name": "deployer", "kind": "serviceaccounts"})
    error.user, error.verb = "system:serviceaccount:steward-system:tenant-operator", "impersonate"
    error.resource, error.namespace = "serviceaccounts", "saas"
    message = denial_message(Ref(CONFIG_MAP, Key("other", "a")), error)
    assert "tenant-operator may not act as service account saas/deployer" in message
    assert "tenants.impersonate" in message
    assert "RoleBinding in saas" in message


@pytest.mark.parametrize(
    ("message", "is_immutable"),
    [
        ("Invalid value: field is immutable", True),
        ("Invalid value: may not change once set", True),
        ("Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden", True),
        ("spec is immutable after creation except resources.requests", True),
        ("Invalid value: rbac.RoleRef{}: cannot change roleRef", True),
        ("Required value", False),
    ],
)
def test_immutable_fields_are_recognised_by_the_message(message: str, is_immutable: bool) -> None:
    error = Invalid(422, "Invalid", "refused")
    error.causes = {"spec.template": (message,)}
    assert bool(immutable_fields(error)) == is_immutable
    assert ("recreate" in describe_api_error(Ref(CONFIG_MAP, Key("saas", "a")), error)) == is_immutable
