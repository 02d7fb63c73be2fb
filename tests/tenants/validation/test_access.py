from typing import Any

import msgspec
import pytest

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.objects.permissions import Permissions
from steward.tenants.validation.access import access_advice, refused_fields
from tests.tenants.support.manifests import resource, template

FLAGS = Permissions(operator_namespace="steward-system")
TOKEN = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token"}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace"}
CONTAINERS = [{"name": "app", "image": "app:1"}]


def spec(**lists: Any) -> TenantTemplateSpec:
    return msgspec.convert(template(**lists)["spec"], TenantTemplateSpec)


def deployment(**pod: Any) -> dict[str, Any]:
    pods = {"template": {"spec": {"containers": CONTAINERS, **pod}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "spec": pods}


@pytest.mark.parametrize(
    ("lists", "field"),
    [
        ({"secrets": [resource("s", spec=TOKEN)]}, "spec.secrets[s].spec.type"),
        (
            {"configMaps": [resource("c", targetNamespace="kube-system")]},
            "spec.configMaps[c].targetNamespace",
        ),
        (
            {"configMaps": [resource("c", targetNamespace="steward-system")]},
            "spec.configMaps[c].targetNamespace",
        ),
        (
            {"namespaces": [resource("n", spec=NAMESPACE, nameTemplate="kube-new")]},
            "spec.namespaces[n].nameTemplate",
        ),
    ],
)
def test_what_every_operator_refuses_is_a_problem_of_its_field(lists: dict[str, Any], field: str) -> None:
    assert [each.field for each in refused_fields(spec(**lists), FLAGS)] == [field]
    with_account = spec(**lists, serviceAccountName="root")
    assert [each.field for each in refused_fields(with_account, FLAGS)] == [field]


def test_nothing_else_is_refused() -> None:
    fine = spec(
        configMaps=[resource("c", targetNamespace="{{ .uid }}"), resource("d", targetNamespace="other")],
        namespaces=[resource("n", spec=NAMESPACE, nameTemplate="{{ .uid }}-kube-x")],
        secrets=[resource("s", spec={"apiVersion": "v1", "kind": "Secret"})],
        manifests=[resource("m", spec={"kind": 7})],
    )
    assert refused_fields(fine, FLAGS) == []


@pytest.mark.parametrize(
    ("lists", "field", "words"),
    [
        (
            {"configMaps": [resource("c", targetNamespace="other")]},
            "spec.configMaps[c].targetNamespace",
            "allow-templates-from=shop",
        ),
        (
            {"manifests": [resource("m", spec={"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"})]},
            "spec.manifests[m].spec.kind",
            "only Namespaces",
        ),
        (
            {"manifests": [resource("m", spec={"apiVersion": "apps/v1", "kind": "ControllerRevision"})]},
            "spec.manifests[m].spec.kind",
            "may not hold a ControllerRevision",
        ),
        (
            {"deployments": [resource("d", spec=deployment(hostNetwork=True))]},
            "spec.deployments[d].spec",
            "spec.template.spec.hostNetwork is true",
        ),
        (
            {"deployments": [resource("d", spec=deployment(serviceAccountName="root"))]},
            "spec.deployments[d].spec.spec.template.spec.serviceAccountName",
            "root, an account that the Tenant does not create",
        ),
    ],
)
def test_what_needs_a_label_or_an_account_is_advice(lists: dict[str, Any], field: str, words: str) -> None:
    (advice,) = access_advice(spec(**lists), "shop", FLAGS)
    assert (advice.field, words in advice.message) == (field, True)
    assert access_advice(spec(**lists, serviceAccountName="root"), "shop", FLAGS) == []
    assert access_advice(spec(**lists), "shop", FLAGS._replace(template_scope="cluster")) == []


def test_a_restricted_kind_is_advice_for_every_account() -> None:
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding"}
    found = spec(manifests=[resource("m", spec=binding)], serviceAccountName="root")
    (advice,) = access_advice(found, "shop", FLAGS)
    assert "--allow-kinds" in advice.message
    assert access_advice(found, "shop", FLAGS._replace(allow_kinds=("RoleBinding",))) == []


def test_what_the_template_creates_and_what_only_rows_decide_is_no_advice() -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount"}
    fine = spec(
        namespaces=[resource("n", spec=NAMESPACE, nameTemplate="shared")],
        serviceAccounts=[resource("a", spec=account, nameTemplate="{{ .uid }}-app")],
        configMaps=[
            resource("c", targetNamespace="shared"),
            resource("d", targetNamespace="{{ .plan }}"),
            resource("e", targetNamespace="shop"),
        ],
        deployments=[resource("w", spec=deployment(serviceAccountName="{{ .uid }}-app"))],
    )
    assert access_advice(fine, "shop", FLAGS) == []
