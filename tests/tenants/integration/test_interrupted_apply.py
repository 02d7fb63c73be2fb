"""A Tenant that an error keeps from being applied gets a status, so that a changed template can cure it."""

import asyncio
from pathlib import Path

from steward.install.operators import TENANTS
from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS
from steward.testkit import Answer, FaultProxy, Match, Rule
from tests.support import definitions
from tests.support.identities import operator_kubeconfig, operator_token
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process_async
from tests.tenants.support.customers import Customers, World, sqlite_registry, until
from tests.tenants.support.manifests import Manifest, resource, template

TENANT = "acme-web-app"


def template_of(name: str) -> Manifest:
    return template(configMaps=[resource("settings", nameTemplate=f"{{{{ .uid }}}}-{name}")])


async def test_a_changed_template_replaces_one_whose_objects_are_answered_with_errors(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    await asyncio.to_thread(definitions.install_crds, control_plane, kubectl, CUSTOM_KINDS)
    await asyncio.to_thread(operator_kubeconfig, TENANTS, control_plane)
    token = await asyncio.to_thread(operator_token, TENANTS, kubectl)
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        proxy.add(Rule(Match(write=True, path="/configmaps/acme-refused"), Answer(429)))
        operator = OperatorProcess(
            "tenants", proxy.write_kubeconfig(tmp_path / "kubeconfig", token), namespace, tmp_path / "log"
        )
        customers.add("acme")
        await asyncio.to_thread(world.apply, sqlite_registry(), template_of("refused"))
        async with run_operator_process_async(operator, sqlite_root=str(tmp_path)):
            await asyncio.to_thread(world.until_condition, "Ready", "False", kind="tenant", name=TENANT)
            (recorded,) = world.status("tenant", TENANT)["applied"]
            assert recorded["name"] == "acme-refused"
            await asyncio.to_thread(world.apply, template_of("accepted"))
            await asyncio.to_thread(until, lambda: world.get("configmap", "acme-accepted"))
            await asyncio.to_thread(world.until_condition, "Ready", "True", kind="tenant", name=TENANT)
