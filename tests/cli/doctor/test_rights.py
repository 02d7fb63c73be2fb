"""`steward doctor` reviews the rights of the operators, and to act as the accounts that templates name."""

import pytest

from steward.cli.doctor.checks import Grade
from steward.cli.doctor.rights import check_accounts, installed_namespaces
from steward.install import manifests
from steward.install.operators import OPERATORS, TENANTS
from steward.install.values import NAMESPACE, OperatorValues, TenantsValues, Values
from steward.kube.client.client import Client
from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS
from tests.support import definitions
from tests.support.identities import operator_kubeconfig
from tests.support.kubectl import Kubectl
from tests.tenants.support.impersonation import allow_impersonation
from tests.tenants.support.manifests import template


async def test_an_account_that_the_operator_may_not_act_as_is_named_with_the_cure(
    client: Client, control_plane: ControlPlane, namespace: str
) -> None:
    kubectl = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, kubectl, CUSTOM_KINDS)
    operator_kubeconfig(TENANTS, control_plane)
    kubectl("create", "serviceaccount", "deployer", "-n", namespace)
    kubectl("create", "-n", namespace, "-f", "-", document=template(serviceAccountName="deployer"))

    found = await check_accounts(client, NAMESPACE)

    assert found.grade is Grade.BROKEN
    assert f"{namespace}/deployer" in found.message
    assert "tenants.impersonate" in found.cure
    allow_impersonation(kubectl, namespace, "deployer")
    assert f"{namespace}/deployer" not in (await check_accounts(client, NAMESPACE)).message


@pytest.mark.parametrize("namespaces", [[], ["shop"], ["shop", "web"]])
def test_the_namespaces_of_an_installation_are_read_from_its_deployment(namespaces: list[str]) -> None:
    values = Values(
        multigres=OperatorValues(namespaces=namespaces), tenants=TenantsValues(namespaces=namespaces)
    )
    for operator in OPERATORS:
        [deployment] = [each for each in manifests.core(operator, values) if each["kind"] == "Deployment"]
        assert installed_namespaces(deployment) == namespaces
    assert installed_namespaces(None) == []
