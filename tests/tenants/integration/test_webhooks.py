"""The webhooks of a running operator, called by a real API server."""

from pathlib import Path

from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.tenants.conftest import operator_with_webhooks
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry
from tests.tenants.support.manifests import resource


def test_a_user_is_told_at_once_what_is_wrong_and_what_will_wait(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    customers.add("acme", "umbrella")
    with operator_with_webhooks(control_plane, kubectl, namespace, tmp_path / "operator.log"):
        broken = config_template(configMaps=[resource(nameTemplate="{{ .uid | uper }}")])
        told = kubectl.refused("create", "-n", namespace, "-f", "-", document=broken)
        assert "spec.configMaps[config].nameTemplate: " in told
        assert 'function "uper" not defined' in told

        warned = kubectl.warned("apply", "-n", namespace, "-f", "-", document=config_template())
        assert "there is no TenantRegistry 'prod'" in warned
        world.apply(sqlite_registry())
        world.until_tenants("acme-web-app", "umbrella-web-app")

        warned = kubectl.warned("delete", "-n", namespace, "tenanttemplate", "web-app", "--wait=false")
        assert "waits: 2 Tenants would go with it" in warned
        approval = warned.split('approve-deletion: "')[1].split('"')[0]
        world.approve("tenanttemplate", "web-app", approval)
        world.until_tenants()
