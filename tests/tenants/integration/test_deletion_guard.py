"""The deletion guard on a real control plane: holds, approvals and grace periods."""

from typing import Any

import pytest

from steward.cli.commands.hold import held_deletion
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until

FOUR = ("acme", "hooli", "initech", "umbrella")
APPROVAL = "kubernetes-tenants.org/approve-deletion"
FOUR_TENANTS = tuple(f"{uid}-web-app" for uid in FOUR)


@pytest.fixture
def fleet(world: World, customers: Customers) -> World:
    """Four customers with a Tenant each."""
    return _fleet(world, customers)


def _fleet(world: World, customers: Customers, **spec: Any) -> World:
    customers.add(*FOUR)
    world.apply(sqlite_registry(**spec), config_template())
    world.until_tenants(*FOUR_TENANTS)
    until(lambda: world.status().get("activeRows") == 4, world.status)
    return world


def test_the_tenant_of_one_missing_row_is_deleted_after_a_second_read(
    fleet: World, customers: Customers
) -> None:
    customers.remove("acme")
    fleet.until_tenants(*FOUR_TENANTS[1:])
    assert fleet.condition("DeletionHeld")["status"] == "False"


def test_an_emptied_table_deletes_nothing_and_its_rows_release_the_hold(
    fleet: World, customers: Customers
) -> None:
    customers.run("DELETE FROM customers")

    held = fleet.until_condition("DeletionHeld", "True")
    assert held["reason"] == "EmptyResult"
    assert "allowEmpty" in held["message"]
    assert fleet.status()["heldDeletion"]["count"] == 4
    assert until(lambda: fleet.events("DeletionHeld"))
    assert fleet.active_tenants() == set(FOUR_TENANTS)

    customers.add(*FOUR)
    fleet.until_condition("DeletionHeld", "False")
    assert fleet.active_tenants() == set(FOUR_TENANTS)


def test_deletions_over_the_limit_wait_until_exactly_they_are_approved(
    fleet: World, customers: Customers
) -> None:
    customers.remove("acme", "hooli")
    fleet.until_condition("DeletionHeld", "True")
    held = until(
        lambda: found if (found := fleet.status().get("heldDeletion", {})).get("count") == 2 else None
    )
    assert held["sample"] == ["acme-web-app", "hooli-web-app"]

    fleet.approve("tenantregistry", "prod", "2-000000000000")
    customers.run("UPDATE customers SET plan = 'seen' WHERE id = 'umbrella'")
    until(lambda: "seen" in str(fleet.tenants()["umbrella-web-app"]["spec"]))
    assert fleet.active_tenants() == set(FOUR_TENANTS)

    fleet.kubectl("annotate", "--overwrite", "tenantregistry", "prod", f"{APPROVAL}={held['approveWith']}")
    fleet.until_tenants("initech-web-app", "umbrella-web-app")
    until(lambda: APPROVAL not in fleet.get("tenantregistry", "prod")["metadata"].get("annotations", {}))
    fleet.until_condition("DeletionHeld", "False")


def test_a_row_that_returns_within_its_grace_cancels_the_deletion(world: World, customers: Customers) -> None:
    _fleet(world, customers, deletionGuard={"gracePeriod": "1h"})
    mark = "kubernetes-tenants.org/delete-after"

    customers.run("UPDATE customers SET active = '0' WHERE id = 'acme'")
    until(lambda: mark in world.tenants()["acme-web-app"]["metadata"].get("annotations", {}), world.tenants)

    customers.run("UPDATE customers SET active = '1' WHERE id = 'acme'")
    until(
        lambda: mark not in world.tenants()["acme-web-app"]["metadata"].get("annotations", {}), world.tenants
    )
    assert world.active_tenants() == set(FOUR_TENANTS)


def test_a_deleted_template_waits_for_the_approval_of_its_tenants(fleet: World) -> None:
    fleet.kubectl("delete", "tenanttemplate", "web-app", "--wait=false")

    condition = fleet.until_condition("DeletionHeld", "True", kind="tenanttemplate", name="web-app")
    assert fleet.active_tenants() == set(FOUR_TENANTS)

    held = held_deletion(fleet.get("tenanttemplate", "web-app"))
    assert held is not None
    assert (held.deletion["count"], held.deletion["sample"]) == (4, sorted(FOUR_TENANTS))
    assert f'approve-deletion: "{held.approve_with}"' in condition["message"]
    fleet.approve("tenanttemplate", "web-app", held.approve_with)
    until(lambda: fleet.get("tenanttemplate", "web-app") is None)
    assert fleet.active_tenants() == set()
    until(lambda: fleet.status()["referencingTemplates"] == 0, fleet.status)


@pytest.mark.parametrize("cascade", ["background", "foreground"])
def test_a_deleted_registry_waits_for_the_approval_of_its_tenants(fleet: World, cascade: str) -> None:
    uids = {name: item["metadata"]["uid"] for name, item in fleet.tenants().items()}
    fleet.kubectl("delete", "tenantregistry", "prod", "--wait=false", f"--cascade={cascade}")

    fleet.until_condition("DeletionHeld", "True")
    held = until(lambda: fleet.status().get("heldDeletion"))
    assert {name: item["metadata"]["uid"] for name, item in fleet.tenants().items()} == uids
    assert fleet.active_tenants() == set(FOUR_TENANTS)

    fleet.approve("tenantregistry", "prod", held["approveWith"])
    until(lambda: fleet.get("tenantregistry", "prod") is None)
    assert fleet.active_tenants() == set()
