"""Registries, templates and Tenants that are paused: nothing is changed until the pause ends."""

from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until


def set_paused(world: World, kind: str, name: str, paused: str) -> None:
    world.kubectl("patch", kind, name, "--type=merge", "-p", f'{{"spec":{{"paused":{paused}}}}}')
    if paused == "true":
        found = world.until_condition("Paused", "True", kind=kind, name=name)
        assert found["lastTransitionTime"]


def test_nothing_is_changed_while_a_registry_a_template_or_a_tenant_is_paused(
    world: World, customers: Customers
) -> None:
    customers.add("acme", "umbrella", "initech")
    everyone = {"acme-web-app", "umbrella-web-app", "initech-web-app"}
    world.apply(sqlite_registry(), config_template(), config_template("marker"))
    everyone |= {name.replace("web-app", "marker") for name in everyone}
    world.until_tenants(*everyone)
    until(lambda: world.get("configmap", "acme-web-app"))

    set_paused(world, "tenant", "acme-web-app", "true")
    world.kubectl("delete", "configmap", "acme-web-app")
    set_paused(world, "tenanttemplate", "web-app", "true")
    customers.remove("umbrella")
    # The template that is not paused follows the table.
    world.until_tenants(*everyone - {"umbrella-marker"})
    assert world.get("configmap", "acme-web-app") is None

    set_paused(world, "tenantregistry", "prod", "true")
    customers.add("hooli")
    set_paused(world, "tenanttemplate", "web-app", "false")
    until(lambda: not world.condition("Paused", "tenanttemplate", "web-app")["status"])
    assert world.active_tenants() == everyone - {"umbrella-marker"}

    set_paused(world, "tenantregistry", "prod", "false")
    world.until_tenants(*everyone - {"umbrella-marker", "umbrella-web-app"}, "hooli-web-app", "hooli-marker")
    set_paused(world, "tenant", "acme-web-app", "false")
    until(lambda: world.get("configmap", "acme-web-app"))
