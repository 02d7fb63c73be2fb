"""Two copies and one lease: who may write, and how a leader leaves."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import FaultProxy, Hold, Match, Rule
from tests.runtime.integration.conftest import StartSample
from tests.runtime.integration.support.greetings import SHORT_LEASE, USUAL_LEASE, World, eventually

LEASE_WRITES = Match(write=True, resource="leases")
STATUS_WRITES = Match(write=True, resource="greetings", subresource="status")
WORKERS = 4


@pytest.fixture
async def other_proxy(control_plane: ControlPlane) -> AsyncIterator[FaultProxy]:
    """A way of its own for the second copy, so that the writes of both can be told apart."""
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        yield proxy


def writes(proxy: FaultProxy, after: int = 0) -> list[str]:
    """Every write but those of the lease that got through to the API server, in order."""
    return [
        f"{seen.call.verb} {seen.call.resource} {seen.call.subresource}"
        for seen in proxy.calls(Match(write=True))
        if seen.number > after and seen.call.resource != "leases" and seen.upstream_code
    ]


async def test_a_paused_leader_that_wakes_up_after_another_took_the_lease_writes_nothing(
    world: World, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    await world.greet("hello")
    async with start_sample(proxy, **SHORT_LEASE) as paused:
        first = await world.until_led()
        await world.until_greeted("hello")
        async with start_sample(other_proxy, **SHORT_LEASE):
            paused.signal(signal.SIGSTOP)
            before = proxy.seen[-1].number
            await world.until_led(besides=first)
            # News for the sleeper too: it will want to act on this the moment it wakes.
            await world.change("hello", "meanwhile")
            await world.until_greeted("hello", "meanwhile")
            paused.signal(signal.SIGCONT)
            assert await paused.ended() == 1
            assert writes(proxy, after=before) == []
            assert "the lease" in paused.log
            assert "was lost" in paused.log
            await world.change("hello", "later")
            await world.until_greeted("hello", "later")


async def test_of_a_paused_leader_only_what_was_past_the_check_gets_through(
    world: World, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **SHORT_LEASE) as paused:
        first = await world.until_led()
        held = proxy.add(Rule(Match(write=True, namespace=world.namespace, resource="configmaps"), Hold()))
        await world.greet("hello")
        await held.held.wait()
        paused.signal(signal.SIGSTOP)
        before = proxy.seen[-1].number
        async with start_sample(other_proxy, **SHORT_LEASE):
            await world.until_led(besides=first)
            await world.until_greeted("hello")
            proxy.remove(held)
            paused.signal(signal.SIGCONT)
            assert await paused.ended() == 1
            assert len(writes(proxy, after=before)) <= WORKERS
            await world.until_greeted("hello")


async def test_a_standby_takes_over_when_the_leader_is_killed(
    world: World, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **SHORT_LEASE) as leader:
        first = await world.until_led()
        async with start_sample(other_proxy, **SHORT_LEASE):
            leader.signal(signal.SIGKILL)
            await leader.ended()
            await world.greet("hello")
            assert await world.until_led(besides=first) != first
            await world.until_greeted("hello")


async def test_a_standby_writes_nothing(
    world: World, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **USUAL_LEASE):
        await world.until_led()
        async with start_sample(other_proxy, **USUAL_LEASE) as standby:
            await eventually_standing_by(other_proxy)
            await world.greet("hello")
            await world.until_greeted("hello")
            assert writes(other_proxy) == []
            assert standby.runs


async def eventually_standing_by(proxy: FaultProxy) -> None:
    async def looked() -> bool:
        return bool(list(proxy.calls(Match(verb="get", resource="leases"))))

    await eventually(looked, "the second copy looks at the lease")


async def test_a_leader_told_to_stand_by_goes_on_after_a_lost_lease(
    world: World, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, STEWARD_ON_LEASE_LOST="standby", **SHORT_LEASE) as patient:
        first = await world.until_led()
        async with start_sample(other_proxy, **SHORT_LEASE) as second:
            patient.signal(signal.SIGSTOP)
            holder = await world.until_led(besides=first)
            patient.signal(signal.SIGCONT)
            await world.greet("hello")
            await world.until_greeted("hello")
            second.signal(signal.SIGTERM)
            assert await second.ended() == 0
        assert await world.until_led(besides=holder) == first
        await world.change("hello", "I am back")
        await world.until_greeted("hello", "I am back")
        assert patient.runs


async def test_sigterm_finishes_what_is_in_hand_and_releases_the_lease_last(
    world: World, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **USUAL_LEASE) as sample:
        await world.until_led()
        held = proxy.add(Rule(STATUS_WRITES, Hold(), count=1))
        await world.greet("hello")
        await held.held.wait()
        sample.signal(signal.SIGTERM)
        await eventually_logged(sample, "SIGTERM: stopping")
        proxy.remove(held)
        assert await sample.ended() == 0
    *_, last = proxy.calls(Match(write=True))
    assert last.call.resource == "leases"
    assert b'"holderIdentity":""' in last.body
    assert [seen.code for seen in proxy.calls(STATUS_WRITES)] == [200]
    assert await world.holder() == ""


async def eventually_logged(sample: object, text: str) -> None:
    async def logged() -> bool:
        return text in sample.log  # type: ignore[attr-defined]

    await eventually(logged, f"the log says {text!r}")


async def test_a_second_signal_ends_the_process_at_once(
    world: World, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **USUAL_LEASE) as sample:
        await world.until_led()
        held = proxy.add(Rule(STATUS_WRITES, Hold(), count=1))
        await world.greet("hello")
        await held.held.wait()
        sample.signal(signal.SIGTERM)
        await eventually_logged(sample, "SIGTERM: stopping")
        sample.signal(signal.SIGTERM)
        assert await sample.ended() == 128 + signal.SIGTERM


async def test_sigterm_before_anything_is_synced_ends_cleanly(
    world: World, proxy: FaultProxy, start_sample: StartSample
) -> None:
    held = proxy.add(Rule(Match(verb="watch"), Hold()))
    async with start_sample(proxy, **USUAL_LEASE) as sample:
        await held.held.wait()
        sample.signal(signal.SIGTERM)
        assert await sample.ended() == 0
