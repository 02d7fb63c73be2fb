"""Rows that go a few at a time: believed, and told when they are many."""

import pytest

from steward.kube.objects.kinds import Key, Ref
from steward.runtime.plan.steps import Emit, EventType
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.registry.guard_plan import Sentence, plan_of
from steward.tenants.guard.approval import digest_of
from steward.tenants.guard.attrition import FEWEST, Attrition, Minute
from steward.tenants.guard.judge import CleanRead, Known, Memory, Policy, Situation, Verdict, judge

FLEET = tuple(Known(f"t{number}-web", f"t{number}", "web") for number in range(100))
ROW_BY_ROW = 60.0


def judged(
    situation: Situation, gone: int, at: float, *, fleet: tuple[Known, ...] = FLEET
) -> tuple[Verdict, Situation]:
    """The verdict when the rows of the first so many are inactive, and the world after it was carried out."""
    inactive = frozenset(tenant.uid for tenant in fleet[:gone])
    active = frozenset(tenant.uid for tenant in fleet[gone:])
    verdict = judge(CleanRead(at, "db", len(fleet), active, inactive), situation)
    left = tuple(tenant for tenant in situation.known if tenant.name not in verdict.delete)
    return verdict, situation._replace(known=left, memory=verdict.memory)


def told(steps: range, seconds: float, policy: Policy = Policy()) -> list[int]:  # noqa: B008
    """After how many it was told, when so many rows are gone at each read, and reads are so far apart."""
    situation, found = Situation(FLEET, policy), []
    for number, gone in enumerate(steps):
        verdict, situation = judged(situation, gone, number * seconds)
        found += [verdict.gone_lately] * bool(verdict.gone_lately)
    return found


def test_a_walk_through_the_table_is_not_held_and_is_told_once() -> None:
    assert told(range(0, 91, 5), ROW_BY_ROW) == [35]


def test_what_goes_over_days_is_not_told() -> None:
    assert told(range(0, 91, 5), 3600.0) == []


def test_the_limit_is_the_share_that_may_go_at_once() -> None:
    assert told(range(0, 91, 5), ROW_BY_ROW, Policy(max_percent=50)) == [55]
    assert told(range(0, 91, 5), ROW_BY_ROW, Policy(max_percent=100)) == []


@pytest.mark.parametrize("size", range(1, FEWEST))
def test_a_fleet_of_a_few_may_go_row_by_row(size: int) -> None:
    fleet = FLEET[:size]
    situation = Situation(fleet, Policy())
    for gone in range(1, size + 1):
        verdict, situation = judged(situation, gone, gone * ROW_BY_ROW, fleet=fleet)
        assert not verdict.gone_lately
        assert not verdict.hold


def test_what_was_approved_is_nothing_to_be_told() -> None:
    names = [tenant.name for tenant in FLEET[:60]]
    situation = Situation(FLEET, Policy(), approval=f"{len(names)}-{digest_of(names)}")
    marked, _ = judged(situation, 60, 0.0)
    marks = {mark.name: mark.delete_after for mark in marked.mark}
    known = tuple(tenant._replace(delete_after=marks.get(tenant.name)) for tenant in FLEET)
    verdict, _ = judged(Situation(known, Policy(), memory=marked.memory), 60, 1.0)
    assert len(verdict.delete) == 60
    assert (marked.gone_lately, verdict.gone_lately) == (0, 0)


def test_a_row_that_comes_and_goes_while_its_tenant_is_marked_is_no_loss() -> None:
    policy = Policy(grace=86_400.0)
    situation = Situation(FLEET, policy)
    for number in range(200):
        verdict, situation = judged(situation, 20 * (number % 2), number * 10.0)
        marks = {mark.name: mark.delete_after for mark in verdict.mark}
        known = tuple(tenant._replace(delete_after=marks.get(tenant.name)) for tenant in FLEET)
        situation = situation._replace(known=known)
        assert not verdict.gone_lately


def test_an_hour_is_kept_and_no_more() -> None:
    found = Attrition()
    for second in range(0, 7200, 10):
        found = found.after(1, float(second))
    assert len(found.minutes) == 60
    assert found.gone == 360
    assert found.after(0, 9000.0).gone == 174
    assert found.after(0, 20_000.0) == Attrition()


def test_it_is_told_again_after_it_had_come_back_below_the_limit() -> None:
    much = Attrition((Minute(0, 40),)).told_if(staying=60, max_percent=30)
    calm = much.after(0, 4000.0).told_if(staying=60, max_percent=30)
    assert (much.is_told, calm.is_told) == (True, False)


def test_the_event_says_how_many_and_what_to_do() -> None:
    registry = Ref(REGISTRY, Key("shop", "prod"))
    [step] = plan_of(Sentence(registry, Verdict(Memory(), gone_lately=35), {}, ()))
    assert isinstance(step, Emit)
    assert (step.reason, step.type) == ("ManyTenantsDeleted", EventType.WARNING)
    assert step.message.startswith("35 Tenants went within the last hour")
    assert "gracePeriod" in step.message


def test_a_calm_hour_after_losses_costs_no_further_judgement() -> None:
    verdict, situation = judged(Situation(FLEET, Policy()), 5, 0.0)
    again, _ = judged(situation, 5, 10.0)
    assert verdict.delete
    assert again.is_calm
