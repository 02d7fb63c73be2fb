"""Random values of Secrets on a real control plane: made once, and kept through whatever happens to them."""

import base64

import pytest

from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import Manifest, resource

BODY = {"apiVersion": "v1", "kind": "Secret", "stringData": {"user": "{{ .uid }}", "plan": "{{ .plan }}"}}
KEYS = [{"key": "password"}, {"key": "pin", "length": 8, "characters": "digits"}]
VALUES = "acme-web-app-values"


def secret(**fields: object) -> Manifest:
    return resource("db", **{"spec": BODY, "nameTemplate": "{{ .uid }}-db", "generate": KEYS, **fields})


def data_of(world: World, name: str = "acme-db") -> dict[str, str]:
    found = world.get("secret", name) or {}
    return {key: base64.b64decode(value).decode() for key, value in (found.get("data") or {}).items()}


@pytest.fixture
def fleet(world: World, customers: Customers) -> World:
    customers.add("acme", "umbrella")
    world.apply(sqlite_registry(), config_template(secrets=[secret()]))
    until(lambda: data_of(world) and data_of(world, "umbrella-db"))
    return world


def test_every_tenant_has_its_own_values_and_only_in_secrets(fleet: World) -> None:
    ours, theirs = data_of(fleet), data_of(fleet, "umbrella-db")

    assert (ours["user"], len(ours["password"]), len(ours["pin"])) == ("acme", 32, 8)
    assert ours["pin"].isdecimal()
    assert ours["password"] != theirs["password"]
    assert ours["password"] not in str(fleet.tenants())


def test_values_outlive_changes_of_row_and_template(fleet: World, customers: Customers) -> None:
    before = data_of(fleet)

    customers.run("UPDATE customers SET plan = 'gold'")
    until(lambda: data_of(fleet)["plan"] == "gold")
    assert data_of(fleet) == {**before, "plan": "gold"}

    keys = [{"key": "password", "length": 64}, *KEYS[1:], {"key": "token"}]
    fleet.apply(config_template(secrets=[secret(generate=keys, labelsTemplate={"new": "label"})]))
    until(lambda: "token" in data_of(fleet))
    assert data_of(fleet) == {**before, "plan": "gold", "token": data_of(fleet)["token"]}


def test_a_lost_payload_changes_no_value_in_use(fleet: World) -> None:
    before = data_of(fleet)
    digest = fleet.tenants()["acme-web-app"]["spec"]["values"]["digest"]

    fleet.kubectl("delete", "secret", VALUES)

    until(lambda: fleet.tenants()["acme-web-app"]["spec"]["values"]["digest"] != digest)
    tenant = {"kind": "tenant", "name": "acme-web-app"}
    generation = fleet.get(**tenant)["metadata"]["generation"]
    until(lambda: fleet.status(**tenant).get("observedGeneration") == generation)
    fleet.until_condition("Ready", "True", **tenant)
    assert data_of(fleet) == before


def test_a_deleted_secret_comes_back_with_the_same_values(fleet: World) -> None:
    before = data_of(fleet)
    fleet.kubectl("delete", "secret", "acme-db")
    until(lambda: data_of(fleet))
    assert data_of(fleet) == before


def test_a_value_that_a_user_replaces_stays_and_other_keys_are_put_back(fleet: World) -> None:
    before = data_of(fleet)

    fleet.kubectl(
        "patch",
        "secret",
        "acme-db",
        "-p",
        '{"stringData": {"password": "rotated", "user": "somebody", "pin": null}}',
    )

    until(lambda: data_of(fleet)["user"] == "acme")
    assert data_of(fleet) == {**before, "password": "rotated"}


def test_a_retained_secret_keeps_its_values_when_the_row_returns(fleet: World, customers: Customers) -> None:
    fleet.apply(config_template(secrets=[secret(deletionPolicy="Retain")]))
    policy = "kubernetes-tenants.org/deletion-policy"
    until(lambda: fleet.get("secret", "acme-db")["metadata"]["annotations"][policy] == "Retain")
    before = data_of(fleet)

    customers.run("UPDATE customers SET active = '0' WHERE id = 'acme'")
    fleet.until_tenants("umbrella-web-app")
    until(lambda: "acme-web-app" not in fleet.tenants())
    customers.run("UPDATE customers SET active = '1' WHERE id = 'acme'")
    fleet.until_condition("Ready", "True", kind="tenant", name="acme-web-app")

    assert data_of(fleet) == before
