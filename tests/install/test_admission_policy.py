"""The admission policies of the operators on a real API server, for accounts that have every right."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from steward.install.admission_policy import CERTIFICATE_SECRETS, PolicySettings, operator_policy
from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator
from steward.local.control_plane import ControlPlane
from steward.multigres.operator import CERTIFICATE_NAMES
from steward.tenants.labels import TENANT, TENANT_NAMESPACE
from steward.tenants.operator import CERTIFICATES
from tests.attacks.support.escalations import EVERYTHING, RBAC, WEBHOOKS, workload
from tests.attacks.support.stolen_token import Attempt
from tests.support.api_server import ApiResponse
from tests.support.kubectl import Kubectl

TIMEOUT_SECONDS = 60
PRIVILEGED = {"hostNetwork": True}
OF_TENANT = {TENANT: "acme", TENANT_NAMESPACE: "shop"}


class Limited(NamedTuple):
    """A namespace with accounts of the operators' names, which may do everything that the policies do not deny."""

    kubectl: Kubectl
    namespace: str

    def limit(self, operator: ShippedOperator, **settings: str) -> None:
        """Apply the policy with these settings, and wait until the API server uses it."""
        for manifest in operator_policy(operator, PolicySettings(self.namespace, **settings)):
            manifest["metadata"] = {"name": self.policy(operator)}
            if "policyName" in manifest["spec"]:
                manifest["spec"]["policyName"] = self.policy(operator)
            self.kubectl("apply", "-f", "-", document=manifest)
        probe = Attempt(
            "POST", "/api/v1/namespaces/kube-system/configmaps?dryRun=All", {"metadata": {"name": "p"}}
        )
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.attempt(operator, probe).status != 403:
            assert time.monotonic() < deadline, "the API server does not use the policy"
            time.sleep(0.1)

    def policy(self, operator: ShippedOperator) -> str:
        return f"{self.namespace}-{operator.name}"

    def attempt(self, operator: ShippedOperator, attempt: Attempt) -> ApiResponse:
        user = {"Impersonate-User": f"system:serviceaccount:{self.namespace}:{operator.name}"}
        patch = {"Content-Type": "application/merge-patch+json"} if attempt.method == "PATCH" else {}
        return self.kubectl.server.call(attempt.method, attempt.path, attempt.body, **user, **patch)


@pytest.fixture
def limited(control_plane: ControlPlane, namespace: str) -> Iterator[Limited]:
    kubectl = Kubectl(control_plane.kubeconfig)
    found = Limited(kubectl, namespace)
    for operator in OPERATORS:
        kubectl("create", "serviceaccount", operator.name, "-n", namespace)
        subject = f"--serviceaccount={namespace}:{operator.name}"
        kubectl(
            "create", "clusterrolebinding", found.policy(operator), "--clusterrole=cluster-admin", subject
        )
    yield found
    for operator in OPERATORS:
        name = found.policy(operator)
        kinds = "clusterrolebinding,validatingadmissionpolicybinding,validatingadmissionpolicy"
        kubectl("delete", "--ignore-not-found", kinds, name)


@pytest.fixture
def shop(limited: Limited) -> Iterator[str]:
    """Another namespace."""
    name = f"{limited.namespace}-shop"
    limited.kubectl("create", "namespace", name)
    yield name
    limited.kubectl("delete", "namespace", name, "--wait=false")


def _role_binding(namespace: str) -> Attempt:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    body = {"metadata": {"name": "made"}, "roleRef": reference, "subjects": []}
    return Attempt("POST", f"{RBAC}/namespaces/{namespace}/rolebindings", body)


def test_kinds_that_the_installation_allows_pass_and_others_do_not(limited: Limited, shop: str) -> None:
    limited.limit(TENANTS, allowed_kinds='["RoleBinding","ValidatingWebhookConfiguration"]')
    role = {"metadata": {"name": "made"}, "rules": EVERYTHING}

    assert limited.attempt(TENANTS, _role_binding(shop)).status == 201
    denied = limited.attempt(TENANTS, Attempt("POST", f"{RBAC}/namespaces/{shop}/roles", role))
    assert denied.status == 403
    assert "tenants.allowKinds" in denied.json()["message"]
    empty = {"metadata": {"name": limited.policy(TENANTS)}, "webhooks": []}
    for kind, status in (("validating", 201), ("mutating", 403)):
        path = f"{WEBHOOKS}/{kind}webhookconfigurations?dryRun=All"
        assert limited.attempt(TENANTS, Attempt("POST", path, empty)).status == status


def test_templates_of_the_whole_cluster_may_have_privileged_pods_but_no_tokens(
    limited: Limited, shop: str
) -> None:
    limited.limit(TENANTS, template_scope="cluster")
    token = {
        "metadata": {"name": "token", "annotations": {"kubernetes.io/service-account.name": "default"}},
        "type": "kubernetes.io/service-account-token",
    }

    assert limited.attempt(TENANTS, workload("Deployment", shop, PRIVILEGED)).status == 201
    labels = {"metadata": {"labels": {"a": "b"}}}
    assert limited.attempt(TENANTS, Attempt("PATCH", f"/api/v1/namespaces/{shop}", labels)).status == 200
    path = f"/api/v1/namespaces/{shop}/secrets"
    assert limited.attempt(TENANTS, Attempt("POST", path, token)).status == 403


def test_what_was_privileged_before_can_be_labelled_and_deleted_but_not_changed(
    limited: Limited, shop: str
) -> None:
    limited.limit(TENANTS)
    body: dict[str, Any] = workload("Deployment", shop, PRIVILEGED).body
    limited.kubectl("create", "-n", shop, "-f", "-", document=body)
    path = f"/apis/apps/v1/namespaces/{shop}/deployments/thief"
    another = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "another"}]}}}}

    labels = {"metadata": {"labels": {"a": "b"}}}
    assert limited.attempt(TENANTS, Attempt("PATCH", path, labels)).status == 200
    assert limited.attempt(TENANTS, Attempt("PATCH", path, another)).status == 403
    assert limited.attempt(TENANTS, Attempt("DELETE", path)).status == 200


@pytest.mark.parametrize(
    ("operator", "labels"),
    [(TENANTS, OF_TENANT), (MULTIGRES, {"app.kubernetes.io/managed-by": MULTIGRES.name})],
    ids=lambda part: getattr(part, "short_name", ""),
)
def test_what_an_operator_once_wrote_in_a_system_namespace_can_only_be_deleted(
    limited: Limited, operator: ShippedOperator, labels: dict[str, str]
) -> None:
    limited.limit(operator)
    name = limited.policy(operator)
    metadata = {"name": name, "namespace": "kube-public", "labels": labels}
    created = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    limited.kubectl("create", "-f", "-", document=created)
    path = f"/api/v1/namespaces/kube-public/configmaps/{name}"

    assert limited.attempt(operator, Attempt("PATCH", path, {"data": {"a": "b"}})).status == 403
    assert limited.attempt(operator, Attempt("DELETE", path)).status == 200


def test_a_namespace_of_a_tenant_is_changed_and_deleted(limited: Limited, shop: str) -> None:
    limited.limit(TENANTS)
    path = f"/api/v1/namespaces/{shop}"
    forged = Attempt("PATCH", path, {"metadata": {"labels": OF_TENANT}})

    assert limited.attempt(TENANTS, forged).status == 403
    limited.kubectl("label", "namespace", shop, f"{TENANT}=acme")
    assert limited.attempt(TENANTS, forged).status == 200
    assert limited.attempt(TENANTS, Attempt("DELETE", path)).status == 200


def test_an_object_without_our_label_belongs_to_multigres_by_its_owner(limited: Limited, shop: str) -> None:
    limited.limit(MULTIGRES)
    owner = {"apiVersion": "multigres.com/v1alpha1", "kind": "Shard", "name": "s", "uid": "1"}
    path = f"/api/v1/namespaces/{shop}/configmaps"
    labels = {"metadata": {"labels": {"a": "b"}}}
    # The garbage collector would delete an object whose owner does not exist: a dry run is enough.
    limited.kubectl("create", "configmap", "theirs", "-n", shop)
    owned = {"metadata": {"name": "ours", "ownerReferences": [owner], "finalizers": ["example.org/test"]}}
    assert limited.kubectl.server.call("POST", path, owned).status == 201

    assert limited.attempt(MULTIGRES, Attempt("PATCH", f"{path}/theirs", labels)).status == 403
    assert limited.attempt(MULTIGRES, Attempt("PATCH", f"{path}/ours?dryRun=All", labels)).status == 200
    limited.kubectl("patch", "configmap", "ours", "-n", shop, "-p", '{"metadata":{"finalizers":null}}')


def test_the_policies_know_the_certificates_of_the_operators() -> None:
    names = {MULTIGRES: CERTIFICATE_NAMES, TENANTS: CERTIFICATES}
    assert {
        operator: (each.ca_secret, each.server_secret) for operator, each in names.items()
    } == CERTIFICATE_SECRETS


def test_the_policy_is_evaluated_for_the_operator_alone() -> None:
    policy, binding = operator_policy(MULTIGRES, PolicySettings("operators"))
    [condition] = policy["spec"]["matchConditions"]

    assert condition["expression"].endswith("== 'system:serviceaccount:operators:multigres-operator'")
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}
