"""Rows that are deleted a few at a time: not held, and reported when they are many."""

import pytest

from steward.kube.objects.kinds import Key, Ref
from steward.runtime.plan.steps import Emit, EventType
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.registry.guard_plan import RegistryDecision, guard_plan
from steward.tenants.guard.approval import names_digest
from steward.tenants.guard.decision import (
    CleanRead,
    GuardDecision,
    GuardedTenant,
    GuardInput,
    GuardPolicy,
    GuardState,
    decide_deletions,
)
from steward.tenants.guard.deletion_rate import MIN_DELETIONS, DeletionRate, MinuteCount

FLEET = tuple(GuardedTenant(f"t{number}-web", f"t{number}", "web") for number in range(100))
ROW_BY_ROW = 60.0


def apply_read(
    given: GuardInput, inactive_rows: int, at: float, *, fleet: tuple[GuardedTenant, ...] = FLEET
) -> tuple[GuardDecision, GuardInput]:
    """The decision when the first rows of the fleet are inactive, and the input after it was executed."""
    inactive = frozenset(tenant.uid for tenant in fleet[:inactive_rows])
    active = frozenset(tenant.uid for tenant in fleet[inactive_rows:])
    decision = decide_deletions(CleanRead(at, "db", len(fleet), active, inactive), given)
    left = tuple(tenant for tenant in given.tenants if tenant.name not in decision.delete)
    return decision, given._replace(tenants=left, state=decision.state)


def reported_counts(steps: range, seconds: float, policy: GuardPolicy = GuardPolicy()) -> list[int]:  # noqa: B008
    """The reported counts, for the number of inactive rows at each read and the seconds between reads."""
    given, found = GuardInput(FLEET, policy), []
    for number, inactive_rows in enumerate(steps):
        decision, given = apply_read(given, inactive_rows, number * seconds)
        found += [decision.deleted_last_hour] * bool(decision.deleted_last_hour)
    return found


def test_deleting_row_by_row_is_not_held_and_is_reported_once() -> None:
    assert reported_counts(range(0, 91, 5), ROW_BY_ROW) == [35]


def test_deletions_over_days_are_not_reported() -> None:
    assert reported_counts(range(0, 91, 5), 3600.0) == []


def test_the_limit_is_the_share_that_may_be_deleted_at_once() -> None:
    assert reported_counts(range(0, 91, 5), ROW_BY_ROW, GuardPolicy(max_percent=50)) == [55]
    assert reported_counts(range(0, 91, 5), ROW_BY_ROW, GuardPolicy(max_percent=100)) == []


def test_marked_tenants_count_as_deleted() -> None:
    given, reported = GuardInput(FLEET, GuardPolicy(grace=86_400.0)), []
    for number, inactive_rows in enumerate(range(0, 91, 5)):
        decision, given = apply_read(given, inactive_rows, number * ROW_BY_ROW)
        reported += [decision.deleted_last_hour] * bool(decision.deleted_last_hour)
        marks = {mark.name: mark.delete_after for mark in decision.mark}
        tenants = (
            each._replace(delete_after=marks.get(each.name, each.delete_after)) for each in given.tenants
        )
        given = given._replace(tenants=tuple(tenants))
    assert reported == [35]


@pytest.mark.parametrize("size", range(1, MIN_DELETIONS))
def test_a_small_fleet_may_be_deleted_row_by_row(size: int) -> None:
    fleet = FLEET[:size]
    given = GuardInput(fleet, GuardPolicy())
    for inactive_rows in range(1, size + 1):
        decision, given = apply_read(given, inactive_rows, inactive_rows * ROW_BY_ROW, fleet=fleet)
        assert not decision.deleted_last_hour
        assert not decision.hold


def test_approved_deletions_are_not_reported() -> None:
    names = [tenant.name for tenant in FLEET[:60]]
    given = GuardInput(FLEET, GuardPolicy(), approval=f"{len(names)}-{names_digest(names)}")
    marked, _ = apply_read(given, 60, 0.0)
    marks = {mark.name: mark.delete_after for mark in marked.mark}
    tenants = tuple(tenant._replace(delete_after=marks.get(tenant.name)) for tenant in FLEET)
    decision, _ = apply_read(GuardInput(tenants, GuardPolicy(), state=marked.state), 60, 1.0)
    assert len(decision.delete) == 60
    assert (marked.deleted_last_hour, decision.deleted_last_hour) == (0, 0)


def test_a_row_that_returns_while_its_tenant_is_marked_does_not_count() -> None:
    policy = GuardPolicy(grace=86_400.0)
    given = GuardInput(FLEET, policy)
    for number in range(200):
        decision, given = apply_read(given, 20 * (number % 2), number * 10.0)
        marks = {mark.name: mark.delete_after for mark in decision.mark}
        tenants = tuple(tenant._replace(delete_after=marks.get(tenant.name)) for tenant in FLEET)
        given = given._replace(tenants=tenants)
        assert not decision.deleted_last_hour


def test_only_the_last_hour_is_counted() -> None:
    found = DeletionRate()
    for second in range(0, 7200, 10):
        found = found.with_deletions(1, float(second))
    assert len(found.minutes) == 60
    assert found.deleted == 360
    assert found.with_deletions(0, 9000.0).deleted == 174
    assert found.with_deletions(0, 20_000.0) == DeletionRate()


@pytest.mark.parametrize(
    ("deleted", "remaining", "is_high"), [(4, 0, False), (5, 0, True), (30, 70, False), (31, 69, True)]
)
def test_five_deletions_or_more_above_the_share_are_a_high_rate(
    deleted: int, remaining: int, is_high: bool
) -> None:
    rate = DeletionRate((MinuteCount(0, deleted),))
    assert rate.reported_if_high(remaining, max_percent=30).is_reported is is_high


def test_without_deletions_and_with_rows_that_returned_nothing_is_deleted() -> None:
    assert (DeletionRate().deleted, DeletionRate().is_reported) == (0, False)
    assert DeletionRate((MinuteCount(0, -3),)).deleted == 0


def test_it_is_reported_again_after_it_has_been_below_the_limit() -> None:
    high = DeletionRate((MinuteCount(0, 40),)).reported_if_high(remaining=60, max_percent=30)
    low = high.with_deletions(0, 4000.0).reported_if_high(remaining=60, max_percent=30)
    assert (high.is_reported, low.is_reported) == (True, False)


def test_the_event_says_how_many_and_what_to_do() -> None:
    registry = Ref(REGISTRY, Key("shop", "prod"))
    [step] = guard_plan(RegistryDecision(registry, GuardDecision(GuardState(), deleted_last_hour=35), {}, ()))
    assert isinstance(step, Emit)
    assert (step.reason, step.type) == ("ManyTenantsDeleted", EventType.WARNING)
    assert step.message.startswith("35 Tenants were deleted within the last hour")
    assert "gracePeriod" in step.message


def test_after_deletions_the_same_read_leads_to_an_idle_decision() -> None:
    decision, given = apply_read(GuardInput(FLEET, GuardPolicy()), 5, 0.0)
    again, _ = apply_read(given, 5, 10.0)
    assert decision.delete
    assert again.is_idle
