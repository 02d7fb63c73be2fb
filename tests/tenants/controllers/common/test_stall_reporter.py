"""The Stalled condition of registries and templates."""

from collections.abc import Callable
from typing import Any

import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.tenants.fleet.fleet import TenantCounts
from steward.tenants.status.conditions import previous_stall, read_conditions, stalled_status
from steward.tenants.status.registry import RegistryObservation, registry_status
from steward.tenants.status.template import TemplateObservation, template_status

NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"
FORBIDDEN = "deleting Tenant shop/acme-web: tenants is forbidden"
META = ObjectMeta(name="prod", namespace="shop", uid="r-1", generation=3)
HALF_READY = TenantCounts(2, 1, 0)
REGISTRY = RegistryObservation(META, templates=1, active_rows=2, counts=HALF_READY, last_sync=NOW)
TEMPLATE = TemplateObservation(META, active_generation=3, counts=HALF_READY)


def types_of(status: dict[str, Any]) -> set[str]:
    return {each["type"] for each in status["conditions"]}


def test_a_stall_keeps_the_rest_of_the_status() -> None:
    ready = {"type": "Ready", "status": "True", "reason": "Synced", "message": "", "lastTransitionTime": NOW}
    status = stalled_status({"ready": 3, "conditions": [ready]}, 2, "patch TenantRegistry is forbidden", NOW)
    assert (status["ready"], status["observedGeneration"]) == (3, 2)
    assert [condition["type"] for condition in status["conditions"]] == ["Ready", "Stalled"]
    stalled = status["conditions"][1]
    assert (stalled["status"], stalled["reason"]) == ("True", "ApplyFailed")
    assert stalled["message"] == "patch TenantRegistry is forbidden"
    assert stalled["observedGeneration"] == 2


@pytest.mark.parametrize(
    ("build_status", "observation"),
    [(registry_status, REGISTRY), (template_status, TEMPLATE)],
    ids=["registry", "template"],
)
def test_a_stalled_object_is_not_reconciling_and_its_status_is_the_same_at_every_attempt(
    build_status: Callable[..., dict[str, Any]], observation: RegistryObservation | TemplateObservation
) -> None:
    first = build_status(observation, {}, NOW)
    assert "Reconciling" in types_of(first)
    stalled = stalled_status(first, 3, FORBIDDEN, NOW)
    assert "Reconciling" not in types_of(stalled)
    again = build_status(observation._replace(stall=FORBIDDEN), stalled, LATER)
    assert again == stalled == stalled_status(again, 3, FORBIDDEN, LATER)


def test_a_status_without_a_stall_removes_the_condition() -> None:
    stalled = stalled_status(registry_status(REGISTRY, {}, NOW), 3, FORBIDDEN, NOW)
    assert previous_stall(read_conditions(stalled)) == FORBIDDEN
    recovered = registry_status(REGISTRY, stalled, LATER)
    assert "Stalled" not in types_of(recovered)
    assert previous_stall(read_conditions(recovered)) == ""


def test_an_invalid_spec_is_another_stall() -> None:
    held = {
        "type": "Stalled",
        "status": "True",
        "reason": "InvalidSpec",
        "message": "spec.source: is missing",
    }
    assert previous_stall(read_conditions({"conditions": [held]})) == ""
