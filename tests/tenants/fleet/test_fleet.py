"""What Tenants are, taken together."""

import pytest

from steward.kube.objects.conditions import Condition
from steward.kube.objects.meta import ObjectMeta
from steward.tenants import labels
from steward.tenants.fleet.fleet import Counts, counted, known, registry_of, registry_value
from steward.tenants.guard.judge import Known
from steward.tenants.views import Tenant, TenantSpecSummary, TenantStatusSummary

READY = (Condition("Ready", "True"), Condition("Degraded", "False"))
DEGRADED = (Condition("Ready", "False"), Condition("Degraded", "True"))
STARTING = (Condition("Ready", "False"), Condition("Degraded", "False"))


def tenant(conditions: tuple[Condition, ...] = (), seen: int = 2, **meta: object) -> Tenant:
    metadata = ObjectMeta(name="acme-web", namespace="shop", generation=2, **meta)  # type: ignore[arg-type]
    spec = TenantSpecSummary(uid="acme", template_ref="web")
    return Tenant(metadata, spec, TenantStatusSummary(observed_generation=seen, conditions=conditions))


@pytest.mark.parametrize(
    ("found", "counts"),
    [
        ([], Counts(0, 0, 0)),
        ([tenant(READY), tenant(DEGRADED), tenant(STARTING)], Counts(3, 1, 1)),
        ([tenant(READY, seen=1), tenant(DEGRADED, seen=1)], Counts(2, 0, 0)),
        ([tenant(READY, deletion_timestamp="2026-01-01T00:00:00Z")], Counts(1, 0, 0)),
    ],
    ids=["nobody", "each-kind", "said-of-an-earlier-spec", "on-its-way-out"],
)
def test_only_what_was_said_of_the_latest_spec_counts(found: list[Tenant], counts: Counts) -> None:
    assert counted(found) == counts


@pytest.mark.parametrize(
    ("mark", "delete_after"), [("1970-01-01T00:01:00Z", 60.0), ("soon", None), ("", None)]
)
def test_a_mark_that_cannot_be_read_is_none(mark: str, delete_after: float | None) -> None:
    marked = tenant(annotations={labels.DELETE_AFTER: mark})
    assert known([marked]) == (Known("acme-web", "acme", "web", delete_after),)


def test_a_tenant_that_is_being_deleted_is_nobodys_decision_any_more() -> None:
    assert known([tenant(deletion_timestamp="2026-01-01T00:00:00Z")]) == ()


def test_a_registry_whose_name_no_label_can_hold_finds_its_tenants() -> None:
    name = "r" * 100
    value = registry_value("shop", name)
    label = value.removeprefix("shop/")
    assert len(label) <= 63
    assert registry_of(tenant(labels={labels.REGISTRY: label})) == [value]
