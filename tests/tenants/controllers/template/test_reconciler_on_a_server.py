"""A template on a real control plane: problems are reported, and the last valid revision stays active."""

from pathlib import Path

from steward.local.control_plane import ControlPlane
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import resource
from tests.tenants.support.operator import running_operator

OF_TEMPLATE = {"kind": "tenanttemplate", "name": "web-app"}


def _broken(text: str = "{{ .uid | uper }}") -> dict:  # type: ignore[type-arg]
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"host": text}}
    return config_template(configMaps=[resource(spec=body)])


def test_a_template_reports_its_problems_and_recovers(world: World, customers: Customers) -> None:
    customers.add("acme")
    world.apply(sqlite_registry(), _broken())

    condition = world.until_condition("Valid", "False", **OF_TEMPLATE)
    assert condition["reason"] == "ValidationFailed"
    assert "spec.configMaps[config].spec.data.host, line 1, column" in condition["message"]
    assert 'function "uper" not defined' in condition["message"]
    assert "no version of it is active yet" in condition["message"]
    assert world.condition("Stalled", **OF_TEMPLATE)["status"] == "True"
    assert until(lambda: world.events("ValidationFailed"))
    until(lambda: world.status().get("desired") == 1, world.status)
    assert world.tenants() == {}

    world.apply(config_template())
    world.until_condition("Valid", "True", **OF_TEMPLATE)
    world.until_tenants("acme-web-app")
    until(lambda: world.status(**OF_TEMPLATE)["totalTenants"] == 1, world.status)


def test_the_last_valid_revision_stays_active_after_a_restart(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    customers.add("acme")
    with running_operator(control_plane, namespace, tmp_path / "first.log"):
        world.apply(sqlite_registry(), config_template())
        world.until_tenants("acme-web-app")
        world.apply(_broken())
        condition = world.until_condition("Valid", "False", **OF_TEMPLATE)
        assert "version 1 stays active" in condition["message"]
    previous = world.tenants()["acme-web-app"]["metadata"]["generation"]

    customers.add("umbrella")
    with running_operator(control_plane, namespace, tmp_path / "second.log"):
        world.until_tenants("acme-web-app", "umbrella-web-app")
    spec = world.tenants()["umbrella-web-app"]["spec"]
    assert spec["templateGeneration"] == 1
    assert spec["configMaps"][0]["spec"]["data"]["host"] == "umbrella.example.com"
    assert world.tenants()["acme-web-app"]["metadata"]["generation"] == previous


def test_a_template_waits_for_its_registry(world: World, customers: Customers) -> None:
    customers.add("acme")
    world.apply(config_template())
    condition = world.until_condition("Valid", "False", **OF_TEMPLATE)
    assert "no TenantRegistry 'prod'" in condition["message"]
    world.apply(sqlite_registry())
    world.until_condition("Valid", "True", **OF_TEMPLATE)
    world.until_tenants("acme-web-app")


def test_an_edited_template_reaches_its_tenants(world: World, customers: Customers) -> None:
    customers.add("acme")
    world.apply(sqlite_registry(), config_template())
    world.until_tenants("acme-web-app")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"greeting": "hello {{ .uid }}"}}
    world.apply(config_template(configMaps=[resource(spec=body)]))
    until(lambda: "hello acme" in str(world.tenants()["acme-web-app"]["spec"]), world.tenants)
    assert world.tenants()["acme-web-app"]["spec"]["templateGeneration"] == 2
