"""The deletion of a template with its Tenants: held, approved, and interrupted at any moment."""

import pytest

from steward.kube.objects.conditions import Condition, Conditions
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.steps import Delete
from steward.tenants.cache_rules import TEMPLATE
from steward.tenants.controllers.common.cascade_guard import CascadeDecision, CascadeRequest, decide_cascade
from steward.tenants.guard.approval import names_digest
from steward.tenants.status.conditions import released_condition
from steward.tenants.views import Tenant, TenantSpecSummary

WEB = Ref(TEMPLATE, Key("shop", "web"))
NAMES = ("acme-web", "bob-web", "cat-web")
EMPTY = CascadeRequest(WEB, (), (), {}, "", ())


def tenants(*names: str, terminating: bool = False) -> list[Tenant]:
    stamp = "2026-01-01T00:00:00Z" if terminating else None
    return [
        Tenant(
            ObjectMeta(name=name, namespace="shop", uid=f"uid-{name}", deletion_timestamp=stamp),
            TenantSpecSummary(uid=name.removesuffix("-web"), template_ref="web"),
        )
        for name in names
    ]


def decide(fleet: list[Tenant], approval: str = "", previous: Conditions = ()) -> CascadeDecision:
    return decide_cascade(
        EMPTY._replace(tenants=fleet, fleet=fleet, approval=approval, previous_conditions=previous)
    )


def deleted(found: CascadeDecision) -> list[str]:
    return [step.ref.key.name for step in found.plan if isinstance(step, Delete)]


def approval_of(*names: str) -> str:
    return f"{len(names)}-{names_digest(names)}"


RELEASED = (
    Condition(released_condition().type, "False", released_condition().reason, released_condition().message),
)


def test_a_deletion_over_the_limit_is_held() -> None:
    found = decide(tenants(*NAMES))
    assert deleted(found) == []
    assert found.hold is not None
    assert not found.is_released


def test_the_tenant_of_one_row_is_deleted_without_approval() -> None:
    found = decide(tenants("acme-web"))
    assert deleted(found) == ["acme-web"]
    assert not found.is_released


def test_an_approval_of_exactly_this_set_releases_it() -> None:
    found = decide(tenants(*NAMES), approval_of(*NAMES))
    assert deleted(found) == list(NAMES)
    assert found.is_released


@pytest.mark.parametrize("approval", [approval_of(*NAMES[:2]), approval_of(*NAMES, "dan-web"), "3", "yes"])
def test_an_approval_of_another_set_releases_nothing(approval: str) -> None:
    found = decide(tenants(*NAMES), approval)
    assert deleted(found) == []
    assert not found.is_released


def test_the_rest_of_an_approved_set_needs_no_second_approval_after_a_crash() -> None:
    fleet = [*tenants(NAMES[0], terminating=True), *tenants(*NAMES[1:])]
    assert deleted(decide(fleet, approval_of(*NAMES))) == []
    found = decide(fleet, approval_of(*NAMES), RELEASED)
    assert deleted(found) == list(NAMES[1:])
    assert found.is_released


def test_a_rejected_deletion_stays_reported_until_it_succeeds() -> None:
    stalled = (Condition("Stalled", "True", "ApplyFailed", "tenants is forbidden"),)
    assert decide(tenants("acme-web"), previous=stalled).stall == "tenants is forbidden"
    assert decide(tenants("acme-web", terminating=True), previous=stalled).stall == ""
    assert decide(tenants(*NAMES), previous=stalled).stall == ""
