"""The first seconds of a process: new rows do not wait until the objects of all other Tenants are listed."""

import asyncio
from pathlib import Path

from steward.local.control_plane import ControlPlane
from steward.testkit import Hold, Match, Rule
from tests.support.kubectl import Kubectl
from tests.support.operator_process import run_operator_process_async
from tests.tenants.support.customers import Customers, World, sqlite_registry, until
from tests.tenants.support.manifests import resource, template
from tests.tenants.support.operator import proxied_operator

TEMPLATE = template(configMaps=[resource("settings", nameTemplate="{{ .uid }}-settings")])


async def test_a_new_row_is_served_before_the_objects_of_other_tenants_are_listed(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    """The other Tenants are not touched before: without a cache the operator cannot tell what was changed."""
    world = World(kubectl, namespace)
    async with proxied_operator(control_plane, kubectl, namespace, tmp_path) as (proxy, operator):
        customers.add("acme")
        await asyncio.to_thread(world.apply, sqlite_registry(), TEMPLATE)
        async with run_operator_process_async(operator, sqlite_root=str(tmp_path)):
            await asyncio.to_thread(
                world.until_condition, "Ready", "True", kind="tenant", name="acme-web-app"
            )

        held = proxy.add(Rule(Match(verb="watch", resource="deployments"), Hold()))
        await asyncio.to_thread(kubectl, "delete", "configmap", "acme-settings", "-n", namespace)
        customers.add("bob")
        async with run_operator_process_async(operator, sqlite_root=str(tmp_path)):
            await asyncio.to_thread(until, lambda: world.get("configmap", "bob-settings"))
            assert world.get("configmap", "acme-settings") is None
            proxy.remove(held)
            await asyncio.to_thread(until, lambda: world.get("configmap", "acme-settings"))
