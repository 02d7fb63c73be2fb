"""Counts and index values of the Tenants of a registry."""

import pytest
from msgspec.structs import replace

from steward.kube.objects.conditions import ConditionSummary
from steward.kube.objects.meta import ObjectMeta
from steward.tenants import labels
from steward.tenants.fleet.fleet import (
    TenantCounts,
    count_tenant,
    guarded_tenants,
    is_status_change,
    registry_index_value,
    registry_index_values,
)
from steward.tenants.guard.decision import GuardedTenant
from steward.tenants.views import Tenant, TenantSpecSummary, TenantStatusSummary

READY = (ConditionSummary("Ready", "True"), ConditionSummary("Degraded", "False"))
DEGRADED = (ConditionSummary("Ready", "False"), ConditionSummary("Degraded", "True"))
STARTING = (ConditionSummary("Ready", "False"), ConditionSummary("Degraded", "False"))


def tenant(conditions: tuple[ConditionSummary, ...] = (), observed: int = 2, **meta: object) -> Tenant:
    metadata = ObjectMeta(name="acme-web", namespace="shop", generation=2, **meta)  # type: ignore[arg-type]
    spec = TenantSpecSummary(uid="acme", template_ref="web")
    return Tenant(metadata, spec, TenantStatusSummary(observed_generation=observed, conditions=conditions))


@pytest.mark.parametrize(
    ("found", "counts"),
    [
        (tenant(READY), TenantCounts(1, 1, 0)),
        (tenant(DEGRADED), TenantCounts(1, 0, 1)),
        (tenant(STARTING), TenantCounts(1, 0, 0)),
        (tenant(READY, observed=1), TenantCounts(1, 0, 0)),
        (tenant(DEGRADED, observed=1), TenantCounts(1, 0, 0)),
        (tenant(READY, deletion_timestamp="2026-01-01T00:00:00Z"), TenantCounts(1, 0, 0)),
    ],
    ids=[
        "ready",
        "degraded",
        "starting",
        "ready-in-an-earlier-spec",
        "degraded-in-an-earlier-spec",
        "terminating",
    ],
)
def test_only_a_status_of_the_latest_spec_counts(found: Tenant, counts: TenantCounts) -> None:
    assert count_tenant(found) == counts


NEWER = {"resource_version": "9"}


@pytest.mark.parametrize(
    ("new", "is_alone"),
    [
        (tenant(READY, **NEWER), True),
        (tenant(STARTING, **NEWER), False),
        (tenant(READY, deletion_timestamp="2026-01-01T00:00:00Z"), False),
        (tenant(READY, annotations={labels.DELETE_AFTER: "1970-01-01T00:01:00Z"}), False),
        (replace(tenant(READY), spec=TenantSpecSummary(uid="acme", template_ref="db")), False),
    ],
    ids=["status", "nothing-that-is-cached", "terminating", "marked", "another-spec"],
)
def test_a_change_of_the_status_alone_is_recognized(new: Tenant, is_alone: bool) -> None:
    assert is_status_change(tenant(STARTING), new) is is_alone


@pytest.mark.parametrize(
    ("mark", "delete_after"), [("1970-01-01T00:01:00Z", 60.0), ("soon", None), ("", None)]
)
def test_a_mark_that_cannot_be_parsed_is_ignored(mark: str, delete_after: float | None) -> None:
    marked = tenant(annotations={labels.DELETE_AFTER: mark})
    assert guarded_tenants([marked]) == (GuardedTenant("acme-web", "acme", "web", delete_after),)


def test_the_guard_does_not_decide_about_terminating_tenants() -> None:
    assert guarded_tenants([tenant(deletion_timestamp="2026-01-01T00:00:00Z")]) == ()


def test_a_registry_whose_name_no_label_can_hold_finds_its_tenants() -> None:
    name = "r" * 100
    value = registry_index_value("shop", name)
    label = value.removeprefix("shop/")
    assert len(label) <= 63
    assert registry_index_values(tenant(labels={labels.REGISTRY: label})) == [value]
