"""The sample is killed at each of its writes, and the next process recovers."""

from __future__ import annotations

import asyncio

import pytest

from steward.kube.objects.kinds import DEPLOYMENT
from steward.testkit import CrashPoint, CrashTiming, FaultProxy, LoseReply, Match, Rule, kill_at_write
from tests.runtime.integration.support.greetings import NO_ELECTION, GreetingClient, StartSample

MOST_WRITES = 20


@pytest.mark.parametrize("moment", list(CrashTiming))
async def test_a_kill_at_any_write_of_a_creation_is_recovered(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample, moment: CrashTiming
) -> None:
    for nth in range(1, MOST_WRITES):
        name = f"hello-{nth}"
        await greetings.create(name)
        async with start_sample(proxy, **NO_ELECTION) as first:
            at = CrashPoint(nth, moment)
            if not await kill_at_write(first, proxy, at, until=greetings.wait_until_reconciled(name)):
                break
        async with start_sample(proxy, **NO_ELECTION):
            await greetings.wait_until_reconciled(name)
    # At least a finalizer, two objects and two statuses.
    assert 5 < nth < MOST_WRITES


@pytest.mark.parametrize("moment", list(CrashTiming))
async def test_a_kill_at_any_write_of_a_deletion_is_recovered(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample, moment: CrashTiming
) -> None:
    for nth in range(1, MOST_WRITES):
        name = f"bye-{nth}"
        await greetings.create(name)
        async with start_sample(proxy, **NO_ELECTION) as first:
            await greetings.wait_until_reconciled(name)
            leaving = asyncio.ensure_future(_delete_and_wait(greetings, name))
            at = CrashPoint(nth, moment)
            if not await kill_at_write(first, proxy, at, until=leaving):
                break
        assert (
            await greetings.find(DEPLOYMENT, name) is None
            or await greetings.find(greetings.kind, name) is not None
        )
        async with start_sample(proxy, **NO_ELECTION):
            await greetings.wait_until_deleted(name)
    # The Deployment's delete and the finalizer.
    assert 2 < nth < MOST_WRITES


async def _delete_and_wait(greetings: GreetingClient, name: str) -> None:
    await greetings.delete(name)
    await greetings.wait_until_deleted(name)


async def test_writes_that_are_committed_without_a_response_are_recovered(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample
) -> None:
    lost = proxy.add(Rule(Match(write=True), LoseReply(), count=6))
    await greetings.create("hello")
    async with start_sample(proxy, **NO_ELECTION):
        await greetings.wait_until_reconciled("hello")
    assert lost.hits == 6
