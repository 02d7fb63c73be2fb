"""Limits for deleting a registry or a template together with its Tenants."""

from typing import Any

import pytest

from steward.tenants.api.registry import DeletionGuard
from steward.tenants.guard.approval import names_digest
from steward.tenants.guard.cascade import CascadeDeletion, cascade_hold, cascade_policy
from steward.tenants.guard.decision import GuardedTenant, guard_policy

FLEET = tuple(GuardedTenant(f"{uid}-web", uid, "web") for uid in ("acme", "bob", "cat"))


def deletion(approval: str = "", **guard: Any) -> CascadeDeletion:
    return CascadeDeletion(FLEET, FLEET, {"deletionGuard": guard}, approval)


@pytest.mark.parametrize("spec", [{}, {"deletionGuard": {"maxPercent": "many"}}, {"deletionGuard": []}])
def test_a_guard_that_is_missing_or_invalid_has_the_default_limits(spec: dict[str, Any]) -> None:
    assert cascade_policy(spec) == guard_policy(DeletionGuard(), 0.0)


def test_a_deletion_over_the_limit_is_held_until_exactly_this_set_is_approved() -> None:
    hold = cascade_hold(deletion())
    assert hold is not None
    assert hold.size == 3
    names = [tenant.name for tenant in FLEET]
    assert cascade_hold(deletion(f"3-{names_digest(names)}")) is None
    assert cascade_hold(deletion(f"2-{names_digest(names[:2])}")) is not None


def test_the_limits_of_the_registry_apply() -> None:
    assert cascade_hold(deletion(maxPercent=100)) is None
