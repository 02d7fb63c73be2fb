"""A Tenant that an error keeps from being applied gets a status, so that a changed template can cure it."""

import asyncio
from pathlib import Path

from steward.local.control_plane import ControlPlane
from steward.testkit import Answer, Match, Rule
from tests.support.kubectl import Kubectl
from tests.support.operator_process import run_operator_process_async
from tests.tenants.support.customers import Customers, World, sqlite_registry, until
from tests.tenants.support.manifests import Manifest, resource, template
from tests.tenants.support.operator import proxied_operator

TENANT = "acme-web-app"


def template_of(name: str) -> Manifest:
    return template(configMaps=[resource("settings", nameTemplate=f"{{{{ .uid }}}}-{name}")])


async def test_a_changed_template_replaces_one_whose_objects_are_answered_with_errors(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    async with proxied_operator(control_plane, kubectl, namespace, tmp_path) as (proxy, operator):
        proxy.add(Rule(Match(write=True, path="/configmaps/acme-refused"), Answer(429)))
        customers.add("acme")
        await asyncio.to_thread(world.apply, sqlite_registry(), template_of("refused"))
        async with run_operator_process_async(operator, sqlite_root=str(tmp_path)):
            await asyncio.to_thread(world.until_condition, "Ready", "False", kind="tenant", name=TENANT)
            (recorded,) = world.status("tenant", TENANT)["applied"]
            assert recorded["name"] == "acme-refused"
            await asyncio.to_thread(world.apply, template_of("accepted"))
            await asyncio.to_thread(until, lambda: world.get("configmap", "acme-accepted"))
            await asyncio.to_thread(world.until_condition, "Ready", "True", kind="tenant", name=TENANT)
