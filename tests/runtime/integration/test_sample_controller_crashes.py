"""The sample is killed at every one of its writes, and the next life of it makes the world right."""

from __future__ import annotations

import asyncio

import pytest

from steward.kube.objects.kinds import DEPLOYMENT
from steward.testkit import FaultProxy, LoseReply, Match, Moment, Rule, WriteMoment, kill_at_write
from tests.runtime.integration.conftest import StartSample
from tests.runtime.integration.support.greetings import NO_ELECTION, World

MOST_WRITES = 20


@pytest.mark.parametrize("moment", list(Moment))
async def test_a_kill_at_any_write_of_a_welcome_is_made_good(
    world: World, proxy: FaultProxy, start_sample: StartSample, moment: Moment
) -> None:
    for nth in range(1, MOST_WRITES):
        name = f"hello-{nth}"
        await world.greet(name)
        async with start_sample(proxy, **NO_ELECTION) as first:
            at = WriteMoment(nth, moment)
            if not await kill_at_write(first.process, proxy, at, until=world.until_greeted(name)):
                break
        async with start_sample(proxy, **NO_ELECTION):
            await world.until_greeted(name)
    # A finalizer, two objects and two statuses at the least.
    assert 5 < nth < MOST_WRITES


@pytest.mark.parametrize("moment", list(Moment))
async def test_a_kill_at_any_write_of_a_farewell_is_made_good(
    world: World, proxy: FaultProxy, start_sample: StartSample, moment: Moment
) -> None:
    for nth in range(1, MOST_WRITES):
        name = f"bye-{nth}"
        await world.greet(name)
        async with start_sample(proxy, **NO_ELECTION) as first:
            await world.until_greeted(name)
            leaving = asyncio.ensure_future(_dismissed(world, name))
            at = WriteMoment(nth, moment)
            if not await kill_at_write(first.process, proxy, at, until=leaving):
                break
        assert await world.find(DEPLOYMENT, name) is None or await world.find(world.kind, name) is not None
        async with start_sample(proxy, **NO_ELECTION):
            await world.until_left(name)
    # The Deployment's delete and the finalizer.
    assert 2 < nth < MOST_WRITES


async def _dismissed(world: World, name: str) -> None:
    await world.dismiss(name)
    await world.until_left(name)


async def test_writes_that_are_committed_but_never_answered_are_made_good(
    world: World, proxy: FaultProxy, start_sample: StartSample
) -> None:
    lost = proxy.add(Rule(Match(write=True), LoseReply(), count=6))
    await world.greet("hello")
    async with start_sample(proxy, **NO_ELECTION):
        await world.until_greeted("hello")
    assert lost.hits == 6
