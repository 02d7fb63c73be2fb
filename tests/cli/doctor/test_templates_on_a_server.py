"""`steward doctor` reads templates and Tenants from a real server, before an operator limits them there."""

from steward.cli.doctor.templates import check_templates
from steward.kube.client.client import Client
from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS
from tests.support import definitions
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import Fleet, config_map, resource

PRIORITY = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "first"},
    "value": 7,
}


async def test_templates_with_objects_elsewhere_are_named_until_their_namespaces_are_open(
    control_plane: ControlPlane, client: Client, namespace: str
) -> None:
    kubectl = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, kubectl, CUSTOM_KINDS)
    fleet = Fleet(kubectl, namespace)
    fleet.tenant("acme", configMaps=[resource("there", config_map("there", "default"))])
    fleet.tenant("bolt", configMaps=[resource("here", config_map("here"))])
    fleet.tenant("cog", templateRef="outside", manifests=[resource("priority", PRIORITY)])
    found = {result.subject: result for result in await check_templates(client, "steward-system")}
    there = found[f"template {namespace}/web-app"]
    assert "one of its Tenants has an object that templates may not write" in there.message
    assert f"allow-templates-from={namespace}" in there.message
    assert (
        "of such kinds templates may hold only Namespaces" in found[f"template {namespace}/outside"].message
    )
