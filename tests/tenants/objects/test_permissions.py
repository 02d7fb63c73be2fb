import pytest

from steward.kube.errors import Forbidden, Invalid
from steward.kube.objects.kinds import CLUSTER_ROLE, CONFIG_MAP, NAMESPACE, ROLE_BINDING, Key, Kind, Ref
from steward.tenants.objects.api_errors import immutable_fields, told
from steward.tenants.objects.permissions import Permissions, account_of, denial, missing_account, refusal

OPEN = Permissions(own_namespace="steward-system")


@pytest.mark.parametrize(
    ("kind", "key", "allowed", "said"),
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
def test_what_a_template_may_hold(kind: Kind, key: Key, allowed: Permissions, said: str) -> None:
    found = refusal(Ref(kind, key), "saas", allowed)
    assert said in found
    assert bool(found) == bool(said)


def test_an_account_is_asked_for_only_where_the_flag_says_so() -> None:
    strict = Permissions(require_service_account=True)
    assert "--require-service-account" in missing_account("", strict)
    assert missing_account("deployer", strict) == ""
    assert missing_account("", Permissions()) == ""


def test_an_account_is_known_to_the_server_by_its_user() -> None:
    assert account_of("saas", "deployer").user == "system:serviceaccount:saas:deployer"


def test_a_denial_names_verb_resource_and_account() -> None:
    error = Forbidden(403, "Forbidden", "no")
    error.user, error.verb, error.resource = "system:serviceaccount:saas:deployer", "patch", "secrets"
    said = denial(Ref(CONFIG_MAP, Key("saas", "a")), error)
    assert "system:serviceaccount:saas:deployer may not patch secrets" in said


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
def test_what_cannot_change_is_told_from_what_is_wrong(message: str, is_immutable: bool) -> None:
    error = Invalid(422, "Invalid", "refused")
    error.causes = {"spec.template": (message,)}
    assert bool(immutable_fields(error)) == is_immutable
    assert ("recreate" in told(Ref(CONFIG_MAP, Key("saas", "a")), error)) == is_immutable
