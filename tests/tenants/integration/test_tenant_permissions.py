"""Permissions on a real control plane with RBAC: a template has the permissions of its service account."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.install.rbac import IMPERSONATION
from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import (
    TENANT,
    Fleet,
    config_map,
    create_namespaces,
    delete_tenants_and_namespaces,
    namespace_manifest,
    resource,
)
from tests.tenants.support.impersonation import allow_impersonation
from tests.tenants.support.operator import running_operator

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def strict_fleets(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Iterator[Fleet]]:
    """For an operator that requires service accounts, and whose own namespace is the last one."""
    *names, own = create_namespaces(kubectl, 7)
    log: Path = tmp_path_factory.mktemp("operator") / "operator.log"
    settings = {"require_service_account": "true", "namespace": own}
    with running_operator(control_plane, ",".join(names), log, **settings):
        try:
            yield (_with_account(kubectl, name, own) for name in names)
        finally:
            delete_tenants_and_namespaces(kubectl, [*names, own])


def _with_account(kubectl: Kubectl, name: str, own: str) -> Fleet:
    """A service account with all permissions on ConfigMaps in its own namespace, and no others."""
    fleet = Fleet(kubectl, name)
    where = ("-n", name)
    kubectl("create", "serviceaccount", "tenants", *where)
    kubectl("create", "role", "tenants", "--verb=*", "--resource=configmaps", *where)
    kubectl("create", "rolebinding", "tenants", "--role=tenants", f"--serviceaccount={name}:tenants", *where)
    allow_impersonation(kubectl, name, "tenants")
    fleet.own = own  # type: ignore[attr-defined]
    return fleet


@pytest.fixture
def fleet(strict_fleets: Iterator[Fleet]) -> Fleet:
    return next(strict_fleets)


ACCOUNT = {"serviceAccountName": "tenants"}


def test_objects_are_applied_with_the_permissions_of_the_service_account(fleet: Fleet) -> None:
    secret = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "denied"}}
    fleet.tenant(
        **ACCOUNT,
        configMaps=[resource("allowed", config_map("allowed"))],
        serviceAccounts=[resource("denied", secret)],
    )
    degraded = fleet.until_reason("Degraded", "PermissionDenied")
    user = f"system:serviceaccount:{fleet.namespace}:tenants"
    assert f"{user} may not patch serviceaccounts" in degraded["message"]
    assert fleet.get("configmap", "allowed") is not None
    assert fleet.get("serviceaccount", "denied") is None
    assert user in fleet.until_event("PermissionDenied")["note"]
    where = ("-n", fleet.namespace)
    fleet.kubectl("create", "role", "more", "--verb=*", "--resource=serviceaccounts", *where)
    fleet.kubectl(
        "create", "rolebinding", "more", "--role=more", f"--serviceaccount={where[1]}:tenants", *where
    )
    fleet.until_ready()
    assert fleet.get("serviceaccount", "denied") is not None


def test_an_account_that_the_operator_may_not_act_as_is_named_with_the_cure(fleet: Fleet) -> None:
    where = ("-n", fleet.namespace)
    fleet.kubectl("create", "serviceaccount", "unnamed", *where)
    subject = f"--serviceaccount={fleet.namespace}:unnamed"
    fleet.kubectl("create", "rolebinding", "unnamed", "--role=tenants", subject, *where)
    fleet.tenant(serviceAccountName="unnamed", configMaps=[resource("config", config_map("config"))])

    degraded = fleet.until_reason("Degraded", "PermissionDenied")

    account = f"{fleet.namespace}/unnamed"
    assert f"may not act as service account {account}; name it in tenants.impersonate" in degraded["message"]
    assert fleet.get("configmap", "config") is None
    fleet.kubectl("delete", "role,rolebinding", IMPERSONATION, *where)
    allow_impersonation(fleet.kubectl, fleet.namespace, "unnamed")
    fleet.until_ready()


def test_the_admin_of_a_namespace_may_let_the_operator_act_as_its_accounts(fleet: Fleet) -> None:
    where = ("-n", fleet.namespace)
    fleet.kubectl("delete", "role,rolebinding", IMPERSONATION, *where)
    fleet.kubectl("create", "rolebinding", "admin", "--clusterrole=admin", "--user=jane", *where)

    allow_impersonation(fleet.kubectl, fleet.namespace, "tenants", "--as=jane")

    fleet.tenant(**ACCOUNT, configMaps=[resource("config", config_map("config"))])
    fleet.until_ready()


def test_without_a_required_service_account_nothing_is_applied(fleet: Fleet) -> None:
    fleet.tenant(configMaps=[resource("config", config_map("config"))])
    degraded = fleet.until_reason("Degraded", "ServiceAccountMissing")
    assert "--require-service-account" in degraded["message"]
    assert fleet.get("configmap", "config") is None


def test_rbac_kinds_and_the_operators_own_namespace_are_denied(fleet: Fleet) -> None:
    role: dict[str, Any] = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": f"{fleet.namespace}-root"},
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
    }
    own: str = fleet.own  # type: ignore[attr-defined]
    theirs: dict[str, Any] = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "theirs"}}
    annotations = {"kubernetes-tenants.org/created-once": "true", "note": "hidden"}
    whose = {
        "kubernetes-tenants.org/tenant": "umbrella",
        "kubernetes-tenants.org/tenant-namespace": fleet.namespace,
    }
    fleet.apply({**theirs, "metadata": {"name": "theirs", "annotations": annotations, "labels": whose}})
    policies = {"creationPolicy": "Once", "conflictPolicy": "Force"}
    fleet.tenant(
        **ACCOUNT,
        manifests=[
            resource("role", role),
            resource("peep", theirs, **policies, readyWhen="{{ .metadata.annotations.note }}"),
        ],
        configMaps=[resource("inside", config_map("inside", own))],
        namespaces=[resource("home", namespace_manifest(own))],
    )
    degraded = fleet.until_reason("Degraded", "PermissionDenied")
    assert "templates may not hold a ClusterRole" in degraded["message"]
    assert f"the operator's own namespace {own} can be no target" in degraded["message"]
    assert fleet.get("configmap", "inside", own) is None
    # `readyWhen` must not reveal objects that the service account may not read.
    assert fleet.status()["failedResources"] == 4
    assert "hidden" not in str(fleet.status())


def test_a_denied_deletion_keeps_the_tenant_until_it_is_forced(fleet: Fleet) -> None:
    fleet.tenant(**ACCOUNT, configMaps=[resource("config", config_map("config"), deletionPolicy="Retain")])
    fleet.until_ready()
    where = ("-n", fleet.namespace)
    fleet.kubectl("delete", "rolebinding", "tenants", *where)
    fleet.kubectl("delete", TENANT, "acme", "--wait=false", *where)
    degraded = fleet.until_reason("Degraded", "TenantDeletionFailed")
    assert "may not patch configmaps" in degraded["message"]
    assert "force-delete" in degraded["message"]
    fleet.until_event("TenantDeletionFailed")
    assert fleet.get(TENANT, "acme")["metadata"]["finalizers"]
    fleet.kubectl("annotate", TENANT, "acme", "kubernetes-tenants.org/force-delete=true", *where)
    fleet.until_deleted(TENANT, "acme")
    assert fleet.get("configmap", "config") is not None
