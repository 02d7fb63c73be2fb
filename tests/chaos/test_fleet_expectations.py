"""Differences between fleets that follow from their history."""

from typing import Any

from tests.chaos.fleet_expectations import comparable_fleets, held_approval, held_problems
from tests.chaos.snapshot import differences

NAMESPACES = ("space-one", "space-two")


def _object(kind: str, name: str, labels: dict[str, str] | None = None, **content: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "labels": labels or {}}, **content}


def _fleet(*tenants: str, held: int = 0) -> list[dict[str, Any]]:
    status = {"heldDeletion": {"count": held}} if held else {}
    return [_object("TenantRegistry", "prod", status=status), *(_object("Tenant", name) for name in tenants)]


def _differences(live: list[dict[str, Any]], reference: list[dict[str, Any]]) -> list[str]:
    return differences(*comparable_fleets(live, reference, NAMESPACES))


def test_tenants_without_a_row_must_be_held() -> None:
    reference = _fleet("t1-web")
    assert held_problems(_fleet("t1-web", "t2-web"), reference) == [
        "the registry holds the deletion of 0 Tenants, and these have no row: ['t2-web']"
    ]
    assert held_problems(_fleet("t1-web", "t2-web", held=1), reference) == []


def test_a_hold_without_tenants_is_a_problem() -> None:
    assert held_problems(_fleet("t1-web", held=2), _fleet("t1-web")) != []


def test_a_held_tenant_and_its_objects_are_no_difference() -> None:
    its_object = _object("ConfigMap", "t2-web-config", {"kubernetes-tenants.org/tenant": "t2-web"})
    assert _differences([*_fleet("t1-web", "t2-web", held=1), its_object], _fleet("t1-web")) == []


def test_a_retained_object_is_no_difference_once_it_is_orphaned() -> None:
    orphaned = _object("ConfigMap", "t2-web-retained", {"kubernetes-tenants.org/orphaned": "true"})
    kept = _object("ConfigMap", "t2-web-retained")
    assert _differences([*_fleet("t1-web"), orphaned], _fleet("t1-web")) == []
    assert _differences([*_fleet("t1-web"), kept], _fleet("t1-web")) != []


def test_only_objects_that_are_created_once_keep_old_content() -> None:
    def config_map(name: str, version: str) -> list[dict[str, Any]]:
        return [*_fleet(), _object("ConfigMap", name, data={"version": version})]

    assert _differences(config_map("t1-web-once", "1"), config_map("t1-web-once", "2")) == []
    assert _differences(config_map("t1-web-config", "1"), config_map("t1-web-config", "2")) != []


def test_the_approval_is_read_from_the_condition() -> None:
    message = 'approve the deletion of exactly these with the annotation x: "6-0123456789ab".'
    held = {"type": "DeletionHeld", "status": "True", "message": message}
    assert held_approval(_object("TenantTemplate", "jobs", status={"conditions": [held]})) == "6-0123456789ab"
    assert held_approval(_object("TenantTemplate", "jobs")) == ""
