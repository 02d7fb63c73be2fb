"""An author of TenantTemplates runs pods with rights that the author does not have, or grants rights."""

import pytest

from tests.attacks.support.template_author import LABEL, account, pods, until_denied
from tests.tenants.support.fleet import TENANT, Fleet, Manifest, resource

pytestmark = pytest.mark.timeout(1200)


BAD_PODS: dict[str, Manifest] = {
    "privileged": {"containers": [{"name": "a", "image": "a", "securityContext": {"privileged": True}}]},
    "host-path": {"volumes": [{"name": "node", "hostPath": {"path": "/"}}]},
    "host-network": {"hostNetwork": True},
    "init": {"initContainers": [{"name": "a", "image": "a", "securityContext": {"privileged": True}}]},
    "unconfined": {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
    "foreign-account": {"serviceAccountName": "deployer"},
    "old-field": {"serviceAccount": "deployer"},
}


def test_no_pod_has_host_access_or_privilege_or_a_foreign_account(fleet: Fleet) -> None:
    fleet.apply(account("deployer"))
    bad = [resource(name, pods(name, **spec)) for name, spec in BAD_PODS.items()]
    fleet.tenant(
        deployments=[*bad, resource("good", pods("good", serviceAccountName="default"), waitForReady=False)]
    )
    until_denied(fleet)
    assert fleet.status()["failedResources"] == len(BAD_PODS)
    assert [name for name in BAD_PODS if fleet.get("deployment", name) is not None] == []
    assert fleet.get("deployment", "good") is not None


def test_pods_run_as_an_account_that_the_tenant_creates(fleet: Fleet) -> None:
    """Without dependIds: the account is created first all the same."""
    fleet.tenant(
        serviceAccounts=[resource("account", account("app"))],
        deployments=[
            resource("app", pods("app", serviceAccountName="app", automountServiceAccountToken=False))
        ],
    )
    fleet.until_ready()
    assert fleet.get("deployment", "app")["spec"]["template"]["spec"]["serviceAccountName"] == "app"
    assert fleet.events("PermissionDenied") == []


def test_force_takes_over_no_account_and_no_privileged_pod(fleet: Fleet) -> None:
    """With another image, the pods of the administrator would be those of the template."""
    fleet.apply(account("deployer"))
    fleet.apply(pods("agent", **BAD_PODS["privileged"]))
    fleet.apply(pods("runner", serviceAccountName="deployer"))
    forced = {"conflictPolicy": "Force"}
    evil = {"containers": [{"name": "a", "image": "evil:1"}]}
    fleet.tenant(
        serviceAccounts=[resource("account", account("deployer"), **forced)],
        deployments=[
            resource("agent", pods("agent", **evil), **forced),
            resource("runner", pods("runner"), **forced),
            resource("thief", pods("thief", serviceAccountName="deployer")),
        ],
    )
    fleet.until(lambda: fleet.status().get("conflictedResources") == 3, "three conflicts")
    message = fleet.condition("Conflicted")["message"]
    assert "no Tenant of this template created it" in message
    assert "privileged is true" in message
    assert "evil" not in str(fleet.get("deployment", "agent"))
    for kind, name in (("serviceaccount", "deployer"), ("deployment", "agent"), ("deployment", "runner")):
        assert LABEL not in str(fleet.get(kind, name)["metadata"].get("labels"))
    assert fleet.get("deployment", "thief") is None


def test_a_template_grants_no_rights_and_steers_no_other_template(fleet: Fleet) -> None:
    rbac = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{rbac}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "root"},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": fleet.namespace}],
    }
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": f"{fleet.namespace}-first"},
        "value": 7,
    }
    tenant = {
        "apiVersion": "operator.kubernetes-tenants.org/v1",
        "kind": "Tenant",
        "metadata": {"name": "other"},
        "spec": {"uid": "other", "templateRef": "web-app", "serviceAccountName": "deployer"},
    }
    fleet.tenant(
        manifests=[resource("binding", binding), resource("priority", priority), resource("tenant", tenant)]
    )
    message = until_denied(fleet)
    assert "templates may not hold a RoleBinding" in message
    assert "of such kinds templates may hold only Namespaces" in message
    assert "templates may not hold a Tenant" in message
    assert fleet.get("rolebinding", "root") is None
    assert fleet.get(TENANT, "other") is None
