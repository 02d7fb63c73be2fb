"""The webhooks of a running operator, called by a real API server."""

import signal
from pathlib import Path

from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import resource
from tests.tenants.support.operator import operator_with_webhooks

TOKEN = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token"}


def test_problems_are_denied_and_held_deletions_get_a_warning(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    customers.add("acme", "umbrella")
    with operator_with_webhooks(control_plane, kubectl, namespace, tmp_path / "operator.log"):
        broken = config_template(configMaps=[resource(nameTemplate="{{ .uid | uper }}")])
        message = kubectl.expect_rejection("create", "-n", namespace, "-f", "-", document=broken)
        assert "spec.configMaps[config].nameTemplate: " in message
        assert 'function "uper" not defined' in message

        nameless = config_template(configMaps=[resource(nameTemplate="")])
        message = kubectl.expect_rejection("create", "-n", namespace, "-f", "-", document=nameless)
        assert "spec.configMaps[config].nameTemplate: is missing" in message

        secrets = [resource("token", spec=TOKEN)]
        refused = config_template(secrets=secrets)
        message = kubectl.expect_rejection("create", "-n", namespace, "-f", "-", document=refused)
        assert "spec.secrets[token].spec.type: templates may not hold a Secret of type" in message

        elsewhere = config_template(configMaps=[resource(targetNamespace="elsewhere")])
        create = ("create", "--dry-run=server", "-n", namespace, "-f", "-")
        warned = kubectl.expect_warning(*create, document=elsewhere)
        assert f"kubernetes-tenants.org/allow-templates-from={namespace}" in warned

        warned = kubectl.expect_warning("apply", "-n", namespace, "-f", "-", document=config_template())
        assert "there is no TenantRegistry 'prod'" in warned
        world.apply(sqlite_registry())
        world.until_tenants("acme-web-app", "umbrella-web-app")

        warned = kubectl.expect_warning(
            "delete", "-n", namespace, "tenanttemplate", "web-app", "--wait=false"
        )
        assert "waits: 2 Tenants would be deleted with it" in warned
        approval = warned.split('approve-deletion: "')[1].split('"')[0]
        world.approve("tenanttemplate", "web-app", approval)
        world.until_tenants()


def test_registries_and_templates_can_be_deleted_while_no_operator_answers(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    with operator_with_webhooks(control_plane, kubectl, namespace, tmp_path / "operator.log") as operator:
        world.apply(config_template())
        operator.send_signal(signal.SIGSTOP)
        try:
            message = kubectl.expect_rejection(
                "create", "-n", namespace, "-f", "-", document=sqlite_registry()
            )
            assert "failed calling webhook" in message
            world.kubectl("delete", "tenanttemplate", "web-app", "--wait=false")
        finally:
            operator.send_signal(signal.SIGCONT)
        until(lambda: world.get("tenanttemplate", "web-app") is None)
