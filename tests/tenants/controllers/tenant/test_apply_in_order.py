"""Which objects of a Tenant are brought up, and in which order, with a hand that only writes down what it is given."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import msgspec

from steward.runtime.plan.executor import PlanExecutor
from steward.tenants.api.resource import TResource
from steward.tenants.controllers.tenant.apply import Hand, Job
from steward.tenants.controllers.tenant.apply_in_order import AT_ONCE, bring_up
from steward.tenants.controllers.tenant.state import Brought, TenantMemory, brought_up
from steward.tenants.objects.desired import Scope, Wanted, wanted_objects
from steward.tenants.objects.orphans import Owner
from steward.tenants.status.progress import Progress, State
from tests.tenants.support.fleet import config_map, resource

OWNER = Owner("acme", "saas", "u")
GENERATION = 4


class WritingHand:
    """Every object ends in the state that the test names; the others are ready."""

    def __init__(self, states: dict[str, State], there: set[str] | None = None) -> None:
        self.brought: list[str] = []
        self.at_once = self.most_at_once = 0
        self._states = states
        names = there or set()
        self.eyes = SimpleNamespace(cached=lambda ref: ref if ref.key.name in names else None)

    async def bring(self, wanted: Wanted, job: Job) -> Progress:
        self.brought.append(wanted.id)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return Progress(wanted.id, self._states.get(wanted.id, State.READY))


CHAIN = [
    resource("c", config_map("c"), dependIds=["b"]),
    resource("a", config_map("a")),
    resource("b", config_map("b"), dependIds=["a"]),
]


def wanted(found: list[dict[str, Any]]) -> tuple[Wanted, ...]:
    return wanted_objects([msgspec.convert(each, TResource) for each in found], Scope(OWNER, (), None))


def job(*settled: Wanted) -> Job:
    memory = TenantMemory("u")
    for each in settled:
        done = Brought("o", changed=True, generation=GENERATION, now="2026-01-01T00:00:00Z")
        memory.records[each.ref] = brought_up(each.record(), None, done)
    tenant = wanted(CHAIN)[0].ref
    return Job(tenant, OWNER, GENERATION, cast(PlanExecutor, None), cast(Any, None), memory, {}, {})


async def brought(hand: WritingHand, *settled: Wanted) -> list[State]:
    return [each.state for each in await bring_up(cast(Hand, hand), wanted(CHAIN), job(*settled))]


async def test_objects_come_in_the_order_of_their_dependencies_and_are_told_in_that_of_the_template() -> None:
    hand = WritingHand({})
    assert await brought(hand) == [State.READY] * 3
    assert hand.brought == ["a", "b", "c"]


async def test_no_more_than_so_many_objects_of_a_tenant_go_out_together() -> None:
    hand = WritingHand({})
    many = [resource(f"c{number}", config_map(f"c{number}")) for number in range(3 * AT_ONCE)]
    assert len(await bring_up(cast(Hand, hand), wanted(many), job())) == len(many)
    assert hand.most_at_once == AT_ONCE


async def test_what_is_not_ready_holds_its_dependents_back() -> None:
    hand = WritingHand({"a": State.WAITING})
    assert await brought(hand) == [State.BLOCKED, State.WAITING, State.BLOCKED]
    assert hand.brought == ["a"]


async def test_what_failed_skips_its_dependents() -> None:
    hand = WritingHand({"a": State.FAILED})
    assert await brought(hand) == [State.SKIPPED, State.FAILED, State.SKIPPED]


async def test_who_goes_on_in_spite_of_a_failure_names_it() -> None:
    parts = [
        resource("a", config_map("a")),
        resource("b", config_map("b"), dependIds=["a"], skipOnDependencyFailure=False),
        resource("c", config_map("c"), dependIds=["b"]),
    ]
    hand = WritingHand({"a": State.FAILED})
    found = await bring_up(cast(Hand, hand), wanted(parts), job())
    assert [(each.state, each.despite) for each in found] == [
        (State.FAILED, ()),
        (State.READY, ("a",)),
        (State.READY, ()),
    ]


async def test_a_dependent_that_is_there_in_this_version_is_kept_up_while_a_dependency_restarts() -> None:
    hand = WritingHand({"a": State.WAITING}, there={"b"})
    assert await brought(hand, *wanted(CHAIN)) == [State.READY, State.WAITING, State.READY]
    assert hand.brought == ["a", "b", "c"]


async def test_a_dependent_that_is_gone_waits_like_a_new_one() -> None:
    hand = WritingHand({"a": State.WAITING})
    assert await brought(hand, *wanted(CHAIN)) == [State.BLOCKED, State.WAITING, State.BLOCKED]
