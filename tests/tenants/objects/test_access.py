"""What a Tenant may write, by its namespace, the labels of Namespaces and the flags."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import CONFIG_MAP, NAMESPACE, SECRET, SERVICE_ACCOUNT, Key, Kind, Ref
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.tenants.api.resource import TResource
from steward.tenants.labels import (
    ALLOW_TEMPLATES_FROM,
    ORPHANED,
    ORPHANED_FROM,
    TENANT,
    TENANT_NAMESPACE,
)
from steward.tenants.objects.access import Refusal, TenantAccess, allowed_namespaces
from steward.tenants.objects.desired import DesiredObject, ObjectScope, desired_objects
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.objects.permissions import Permissions
from tests.tenants.support.fleet import config_map, deployment, namespace_manifest, resource
from tests.tenants.support.offline_access import OfflineScope, offline_access

OWNER = TenantOwner("acme", "saas", "uid-1")
OURS = {TENANT: "acme", TENANT_NAMESPACE: "saas"}
PRIORITY = Kind("scheduling.k8s.io/v1", "PriorityClass")
LIVE = OfflineScope(
    namespaces={
        "made": OURS,
        "sibling": {TENANT: "bolt", TENANT_NAMESPACE: "saas"},
        "stranger": {TENANT: "cog", TENANT_NAMESPACE: "saas"},
        "deleted": {TENANT: "gone", TENANT_NAMESPACE: "saas"},
        "elsewhere": {TENANT: "acme", TENANT_NAMESPACE: "other"},
        "open": {ALLOW_TEMPLATES_FROM: "team-b_saas"},
        "similar": {ALLOW_TEMPLATES_FROM: "saas-2_sa_xsaas"},
        "kube-open": {ALLOW_TEMPLATES_FROM: "saas"},
    },
    templates={Key("saas", "acme"): "web", Key("saas", "bolt"): "web", Key("saas", "cog"): "jobs"},
    accounts={
        Key("saas", "app"): ObjectMeta(labels=OURS),
        Key("saas", "bolts"): ObjectMeta(labels={TENANT: "bolt"}),
    },
)


def desired(*manifests: dict[str, Any]) -> tuple[DesiredObject, ...]:
    found = [msgspec.convert(resource(str(number), each), TResource) for number, each in enumerate(manifests)]
    return desired_objects(found, ObjectScope(OWNER, (NAMESPACE, PRIORITY), None))


def access_to(objects: tuple[DesiredObject, ...], account: str = "", **flags: Any) -> TenantAccess:
    access = offline_access(OWNER, "web", LIVE, account)
    return access._replace(scope=access.scope.with_objects(objects), permissions=Permissions(**flags))


def refusal(*manifests: dict[str, Any], account: str = "", **flags: Any) -> Refusal | None:
    """Of the first object; the others are in the same Tenant."""
    objects = desired(*manifests)
    return access_to(objects, account, **flags).refusal(objects[0])


def message(*manifests: dict[str, Any], account: str = "", **flags: Any) -> str:
    found = refusal(*manifests, account=account, **flags)
    return "" if found is None else found.message


@pytest.mark.parametrize(
    ("namespace", "is_open"),
    [
        ("", True),
        ("saas", True),
        ("made", True),
        ("sibling", True),
        ("open", True),
        ("stranger", False),
        ("deleted", False),
        ("elsewhere", False),
        ("similar", False),
        ("unknown", False),
        ("kube-open", False),
    ],
)
def test_a_namespace_is_open_by_its_creator_or_by_its_label(namespace: str, is_open: bool) -> None:
    assert (message(config_map("a", namespace)) == "") == is_open


def test_a_closed_namespace_has_one_message_with_the_label_and_the_account() -> None:
    found = message(config_map("a", "elsewhere"))
    assert f"{ALLOW_TEMPLATES_FROM}=saas" in found
    assert "serviceAccountName" in found
    assert found.replace("elsewhere", "X") == message(config_map("a", "unknown")).replace("unknown", "X")


def test_a_namespace_that_the_tenant_creates_is_waited_for() -> None:
    found = refusal(config_map("a", "new"), namespace_manifest("new"))
    assert found == Refusal("waits until the Tenant has created Namespace new", is_pending=True)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"apiVersion": PRIORITY.api_version, "kind": PRIORITY.kind}, "only Namespaces"),
        ({"apiVersion": "operator.kubernetes-tenants.org/v1", "kind": "Tenant"}, "may not hold a Tenant"),
        ({"apiVersion": "operator.kubernetes-tenants.org/v2", "kind": "TenantTemplate"}, "may not hold"),
        ({"apiVersion": "apps/v1", "kind": "ControllerRevision"}, "may not hold a ControllerRevision"),
        (namespace_manifest("new"), ""),
    ],
)
def test_kinds_outside_namespaces_and_of_this_operator_need_an_account(
    manifest: dict[str, Any], words: str
) -> None:
    body = {"metadata": {"name": "a"}, **manifest}
    found = message(body)
    assert words in found
    assert bool(found) == bool(words)
    assert message(body, account="deployer") == ""
    assert message(body, template_scope="cluster") == ""


@pytest.mark.parametrize("how", [{"account": "root"}, {"template_scope": "cluster"}])
def test_some_limits_hold_for_every_account_and_scope(how: dict[str, str]) -> None:
    token = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token"}
    assert "credential" in message({**token, "metadata": {"name": "a"}}, **how)
    assert "belongs to Kubernetes" in message(config_map("a", "kube-system"), **how)
    assert "own namespace" in message(config_map("a", "system"), operator_namespace="system", **how)
    assert message(config_map("a", "unknown"), **how) == ""


def running_as(account: str) -> dict[str, Any]:
    found = deployment("web")
    found["spec"]["template"]["spec"]["serviceAccountName"] = account
    return found


ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "new"}}


@pytest.mark.parametrize(
    ("account", "words"),
    [("default", ""), ("app", ""), ("bolts", "does not create"), ("root", "does not create")],
)
def test_pods_run_only_as_accounts_of_their_tenant(account: str, words: str) -> None:
    found = message(running_as(account))
    assert words in found
    assert bool(found) == bool(words)
    assert message(running_as(account), account="deployer") == ""


def test_an_account_that_the_tenant_creates_is_waited_for() -> None:
    assert refusal(running_as("new"), ACCOUNT) == Refusal(
        "waits until the Tenant has created ServiceAccount saas/new", is_pending=True
    )


def test_host_access_needs_an_account() -> None:
    found = deployment("web")
    found["spec"]["template"]["spec"]["hostNetwork"] = True
    assert "hostNetwork is true, which Pod Security baseline forbids" in message(found)
    assert message(found, account="deployer") == ""


def meta(labels: dict[str, str] | None = None, **fields: Any) -> ObjectMeta:
    return ObjectMeta(labels=labels or {}, **fields)


ORPHAN = {ORPHANED: "true"}


@pytest.mark.parametrize("kind", [NAMESPACE, SERVICE_ACCOUNT])
@pytest.mark.parametrize(
    ("found", "may_be_taken"),
    [
        (meta(OURS), True),
        (meta({TENANT: "bolt", TENANT_NAMESPACE: "saas"}), True),
        (meta({TENANT: "cog", TENANT_NAMESPACE: "saas"}), False),
        (meta({TENANT: "acme", TENANT_NAMESPACE: "other"}), False),
        (meta(), False),
        (meta(ORPHAN), False),
        (meta(ORPHAN, annotations={ORPHANED_FROM: "saas"}), True),
        (meta(ORPHAN, annotations={ORPHANED_FROM: "other"}), False),
        (meta({}, annotations={ORPHANED_FROM: "saas"}), False),
    ],
)
def test_namespaces_and_accounts_of_others_are_never_taken_over(
    kind: Kind, found: ObjectMeta, may_be_taken: bool
) -> None:
    ref = Ref(kind, Key("", "it"))
    assert (access_to(()).identity_problem(ref, found) == "") == may_be_taken
    assert access_to((), "deployer").identity_problem(ref, found) == ""
    assert access_to(()).identity_problem(Ref(CONFIG_MAP, Key("saas", "it")), found) == ""


def test_an_owner_reference_proves_nothing_on_a_namespace() -> None:
    forged = meta({}, owner_references=(OwnerReference(uid="uid-1"),))
    access = access_to(())
    assert access.needs_takeover(Ref(NAMESPACE, Key("", "it")), forged)
    assert not access.needs_takeover(Ref(CONFIG_MAP, Key("saas", "it")), forged)
    assert not access.needs_takeover(Ref(NAMESPACE, Key("", "it")), meta(OURS))


def test_a_live_object_with_more_rights_than_the_template_is_not_taken_over() -> None:
    ref = Ref(SECRET, Key("saas", "it"))
    token = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token"}
    for access in (access_to(()), access_to((), "deployer"), access_to((), template_scope="cluster")):
        assert "credential" in access.content_problem(ref, token)
    assert "an account that the Tenant does not create" in access_to(()).content_problem(
        ref, running_as("root")
    )
    assert access_to((), "deployer").content_problem(ref, running_as("root")) == ""
    assert access_to(()).content_problem(ref, running_as("app")) == ""


def test_a_label_value_joins_namespaces_by_underscores() -> None:
    assert allowed_namespaces({ALLOW_TEMPLATES_FROM: "team-a_team-b"}) == {"team-a", "team-b"}
    assert allowed_namespaces({ALLOW_TEMPLATES_FROM: ""}) == allowed_namespaces({}) == frozenset()
