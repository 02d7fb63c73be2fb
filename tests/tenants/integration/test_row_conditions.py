"""A registry that reads some rows of a table, on a real control plane."""

from typing import Any

from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import FILE, Customers, World, config_template, sqlite_registry, until

EU = {"column": "plan", "values": ["eu", "eu-west"]}


def source(*where: dict[str, Any]) -> dict[str, Any]:
    table = {"file": FILE, "table": "customers"}
    return {"type": "sqlite", "syncInterval": "1s", "sqlite": table, "where": list(where)}


def test_only_rows_that_meet_the_conditions_become_tenants(world: World, customers: Customers) -> None:
    customers.add("acme", plan="eu")
    customers.add("umbrella", plan="eu-west")
    customers.add("hooli", plan="us")
    customers.add("initech", plan="EU")
    customers.add("nobody", plan=None)
    world.apply(sqlite_registry(source=source(EU)), config_template())

    world.until_tenants("acme-web-app", "umbrella-web-app")
    until(lambda: world.status().get("activeRows") == 2, world.status)

    customers.run("UPDATE customers SET plan = 'eu' WHERE id = 'hooli'")
    world.until_tenants("acme-web-app", "umbrella-web-app", "hooli-web-app")


def test_rows_that_a_condition_leaves_out_are_deleted_only_within_the_guard(
    world: World, customers: Customers
) -> None:
    uids = ("acme", "umbrella", "initech", "hooli")
    customers.add(*uids, plan="eu")
    world.apply(sqlite_registry(), config_template())
    everyone = {f"{uid}-web-app" for uid in uids}
    world.until_tenants(*everyone)

    customers.run("UPDATE customers SET plan = 'us' WHERE id <> 'acme'")
    world.apply(sqlite_registry(source=source(EU)))

    held = until(lambda: world.status().get("heldDeletion"), world.status)
    assert held["count"] == 3
    assert world.active_tenants() == everyone
    world.approve("tenantregistry", "prod", held["approveWith"])
    world.until_tenants("acme-web-app")


def test_a_condition_that_no_row_meets_deletes_nothing(world: World, customers: Customers) -> None:
    customers.add("acme", plan="eu")
    world.apply(sqlite_registry(source=source(EU)), config_template())
    world.until_tenants("acme-web-app")

    world.apply(sqlite_registry(source=source({"column": "plan", "values": ["EU"]})))

    held = world.until_condition("DeletionHeld", "True")
    assert held["reason"] == "EmptyResult"
    assert world.active_tenants() == {"acme-web-app"}


def test_a_missing_column_fails_the_read_and_an_invalid_condition_is_rejected(
    world: World, customers: Customers, kubectl: Kubectl
) -> None:
    customers.add("acme", plan="eu")
    world.apply(sqlite_registry(source=source({"column": "region", "values": ["eu"]})), config_template())

    message = world.until_condition("SourceReachable", "False")["message"]
    if "not been read yet" in message:
        until(lambda: "region" in world.condition("SourceReachable")["message"], world.status)

    create = ("create", "--dry-run=server", "-n", world.namespace, "-f", "-")
    for bad, words in [
        ({"column": "plan", "values": []}, "should have at least 1 items"),
        ({"column": "plan", "operator": "Like", "values": ["e%"]}, "Unsupported value"),
        ({"values": ["eu"]}, "column: Required value"),
        ({"column": "plan", "values": [1]}, "must be of type string"),
    ]:
        rejected = kubectl.expect_rejection(*create, document=sqlite_registry("other", source=source(bad)))
        assert words in rejected
