"""What leaves with its Tenants: held, approved, and interrupted at any moment."""

import pytest

from steward.kube.objects.conditions import Condition, Conditions
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.runtime.plan.steps import Delete
from steward.tenants.cache_rules import TEMPLATE
from steward.tenants.controllers.common.cascade_guard import Departure, Leaving, departing
from steward.tenants.guard.approval import digest_of
from steward.tenants.status.conditions import released
from steward.tenants.views import Tenant, TenantSpecSummary

WEB = Ref(TEMPLATE, Key("shop", "web"))
NAMES = ("acme-web", "bob-web", "cat-web")
NOBODY = Departure(WEB, (), (), {}, "", ())


def tenants(*names: str, leaving: bool = False) -> list[Tenant]:
    stamp = "2026-01-01T00:00:00Z" if leaving else None
    return [
        Tenant(
            ObjectMeta(name=name, namespace="shop", uid=f"uid-{name}", deletion_timestamp=stamp),
            TenantSpecSummary(uid=name.removesuffix("-web"), template_ref="web"),
        )
        for name in names
    ]


def leave(fleet: list[Tenant], approval: str = "", before: Conditions = ()) -> Leaving:
    return departing(NOBODY._replace(leaving=fleet, fleet=fleet, approval=approval, before=before))


def deleted(found: Leaving) -> list[str]:
    return [step.ref.key.name for step in found.plan if isinstance(step, Delete)]


def approval_of(*names: str) -> str:
    return f"{len(names)}-{digest_of(names)}"


RELEASED = (Condition(released().type, "False", released().reason, released().message),)


def test_too_many_wait_and_nothing_is_released() -> None:
    found = leave(tenants(*NAMES))
    assert deleted(found) == []
    assert found.hold is not None
    assert not found.is_released


def test_one_row_goes_without_being_named_and_needs_no_release() -> None:
    found = leave(tenants("acme-web"))
    assert deleted(found) == ["acme-web"]
    assert not found.is_released


def test_an_approval_of_exactly_this_set_releases_it() -> None:
    found = leave(tenants(*NAMES), approval_of(*NAMES))
    assert deleted(found) == list(NAMES)
    assert found.is_released


@pytest.mark.parametrize("approval", [approval_of(*NAMES[:2]), approval_of(*NAMES, "dan-web"), "3", "yes"])
def test_an_approval_of_another_set_releases_nothing(approval: str) -> None:
    found = leave(tenants(*NAMES), approval)
    assert deleted(found) == []
    assert not found.is_released


def test_what_is_left_of_an_approved_set_after_a_crash_needs_no_second_approval() -> None:
    fleet = [*tenants(NAMES[0], leaving=True), *tenants(*NAMES[1:])]
    assert deleted(leave(fleet, approval_of(*NAMES))) == []
    found = leave(fleet, approval_of(*NAMES), RELEASED)
    assert deleted(found) == list(NAMES[1:])
    assert found.is_released
