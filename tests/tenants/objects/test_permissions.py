import pytest

from steward.kube.errors import Forbidden, Invalid
from steward.kube.objects.kinds import CLUSTER_ROLE, CONFIG_MAP, NAMESPACE, ROLE_BINDING, Key, Kind, Ref
from steward.tenants.objects.api_errors import describe_api_error, immutable_fields
from steward.tenants.objects.permissions import (
    Permissions,
    denial_message,
    missing_account_message,
    permission_problem,
    service_account_identity,
)

OPEN = Permissions(own_namespace="steward-system")


@pytest.mark.parametrize(
    ("kind", "key", "permissions", "message"),
    [
        (CONFIG_MAP, Key("saas", "a"), OPEN, ""),
        (CONFIG_MAP, Key("other", "a"), OPEN, ""),
        (CONFIG_MAP, Key("other", "a"), OPEN._replace(no_cross_namespace=True), "--no-cross-namespace"),
        (NAMESPACE, Key("", "acme"), OPEN._replace(no_cross_namespace=True), "--no-cross-namespace"),
        (NAMESPACE, Key("", "saas"), OPEN._replace(no_cross_namespace=True), "--no-cross-namespace"),
        (CONFIG_MAP, Key("saas", "a"), OPEN._replace(no_cross_namespace=True), ""),
        (CONFIG_MAP, Key("saas", "a"), OPEN._replace(own_namespace="saas"), ""),
        (NAMESPACE, Key("", "saas"), OPEN._replace(own_namespace="saas"), "own namespace"),
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
