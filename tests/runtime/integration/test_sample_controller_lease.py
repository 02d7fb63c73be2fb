"""Two replicas and one lease: which one writes, and how a leader stops."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import pytest

from steward.local.control_plane import ControlPlane
from steward.testkit import FaultProxy, Hold, Match, Rule
from tests.runtime.integration.support.greetings import (
    SHORT_LEASE,
    USUAL_LEASE,
    GreetingClient,
    StartSample,
    eventually,
)

LEASE_WRITES = Match(write=True, resource="leases")
STATUS_WRITES = Match(write=True, resource="greetings", subresource="status")
WORKERS = 4


@pytest.fixture
async def other_proxy(control_plane: ControlPlane) -> AsyncIterator[FaultProxy]:
    """A proxy of its own for the second replica, so that the writes of both can be distinguished."""
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        yield proxy


def writes(proxy: FaultProxy, after: int = 0) -> list[str]:
    """Every write that reached the API server, except those of the lease, in order."""
    return [
        f"{seen.call.verb} {seen.call.resource} {seen.call.subresource}"
        for seen in proxy.calls(Match(write=True))
        if seen.number > after and seen.call.resource != "leases" and seen.upstream_code
    ]


async def test_a_paused_leader_that_resumes_after_losing_the_lease_writes_nothing(
    greetings: GreetingClient, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    await greetings.create("hello")
    async with start_sample(proxy, **SHORT_LEASE) as paused:
        first = await greetings.wait_until_led()
        await greetings.wait_until_reconciled("hello")
        async with start_sample(other_proxy, **SHORT_LEASE):
            paused.signal(signal.SIGSTOP)
            before = proxy.recorded[-1].number
            await greetings.wait_until_led(other_than=first)
            # A change for the paused process, too: it will try to reconcile it when it resumes.
            await greetings.change("hello", "meanwhile")
            await greetings.wait_until_reconciled("hello", "meanwhile")
            paused.signal(signal.SIGCONT)
            assert await paused.ended() == 1
            assert writes(proxy, after=before) == []
            assert "the lease" in paused.log
            assert "was lost" in paused.log
            await greetings.change("hello", "later")
            await greetings.wait_until_reconciled("hello", "later")


async def test_of_a_paused_leader_only_requests_past_the_check_are_sent(
    greetings: GreetingClient, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **SHORT_LEASE) as paused:
        first = await greetings.wait_until_led()
        held = proxy.add(
            Rule(Match(write=True, namespace=greetings.namespace, resource="configmaps"), Hold())
        )
        await greetings.create("hello")
        await held.held.wait()
        paused.signal(signal.SIGSTOP)
        before = proxy.recorded[-1].number
        async with start_sample(other_proxy, **SHORT_LEASE):
            await greetings.wait_until_led(other_than=first)
            await greetings.wait_until_reconciled("hello")
            proxy.remove(held)
            paused.signal(signal.SIGCONT)
            assert await paused.ended() == 1
            assert len(writes(proxy, after=before)) <= WORKERS
            await greetings.wait_until_reconciled("hello")


async def test_a_standby_takes_over_when_the_leader_is_killed(
    greetings: GreetingClient, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **SHORT_LEASE) as leader:
        first = await greetings.wait_until_led()
        async with start_sample(other_proxy, **SHORT_LEASE):
            leader.signal(signal.SIGKILL)
            await leader.ended()
            await greetings.create("hello")
            assert await greetings.wait_until_led(other_than=first) != first
            await greetings.wait_until_reconciled("hello")


async def test_a_standby_writes_nothing(
    greetings: GreetingClient, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **USUAL_LEASE):
        await greetings.wait_until_led()
        async with start_sample(other_proxy, **USUAL_LEASE) as standby:
            await eventually_standing_by(other_proxy)
            await greetings.create("hello")
            await greetings.wait_until_reconciled("hello")
            assert writes(other_proxy) == []
            assert standby.runs


async def eventually_standing_by(proxy: FaultProxy) -> None:
    async def is_standing_by() -> bool:
        return bool(list(proxy.calls(Match(verb="get", resource="leases"))))

    await eventually(is_standing_by, "the second copy looks at the lease")


async def test_a_leader_configured_to_stand_by_continues_after_a_lost_lease(
    greetings: GreetingClient, proxy: FaultProxy, other_proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, STEWARD_ON_LEASE_LOST="standby", **SHORT_LEASE) as patient:
        first = await greetings.wait_until_led()
        async with start_sample(other_proxy, **SHORT_LEASE) as second:
            patient.signal(signal.SIGSTOP)
            holder = await greetings.wait_until_led(other_than=first)
            patient.signal(signal.SIGCONT)
            await greetings.create("hello")
            await greetings.wait_until_reconciled("hello")
            second.signal(signal.SIGTERM)
            assert await second.ended() == 0
        assert await greetings.wait_until_led(other_than=holder) == first
        await greetings.change("hello", "I am back")
        await greetings.wait_until_reconciled("hello", "I am back")
        assert patient.runs


async def test_sigterm_finishes_running_reconciles_and_releases_the_lease_last(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **USUAL_LEASE) as sample:
        await greetings.wait_until_led()
        held = proxy.add(Rule(STATUS_WRITES, Hold(), count=1))
        await greetings.create("hello")
        await held.held.wait()
        sample.signal(signal.SIGTERM)
        await eventually_logged(sample, "SIGTERM: stopping")
        proxy.remove(held)
        assert await sample.ended() == 0
    *_, last = proxy.calls(Match(write=True))
    assert last.call.resource == "leases"
    assert b'"holderIdentity":""' in last.body
    assert [seen.code for seen in proxy.calls(STATUS_WRITES)] == [200]
    assert await greetings.holder() == ""


async def eventually_logged(sample: object, text: str) -> None:
    async def logged() -> bool:
        return text in sample.log  # type: ignore[attr-defined]

    await eventually(logged, f"the log says {text!r}")


async def test_a_second_signal_ends_the_process_at_once(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample
) -> None:
    async with start_sample(proxy, **USUAL_LEASE) as sample:
        await greetings.wait_until_led()
        held = proxy.add(Rule(STATUS_WRITES, Hold(), count=1))
        await greetings.create("hello")
        await held.held.wait()
        sample.signal(signal.SIGTERM)
        await eventually_logged(sample, "SIGTERM: stopping")
        sample.signal(signal.SIGTERM)
        assert await sample.ended() == 128 + signal.SIGTERM


async def test_sigterm_before_anything_is_synced_ends_cleanly(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample
) -> None:
    held = proxy.add(Rule(Match(verb="watch"), Hold()))
    async with start_sample(proxy, **USUAL_LEASE) as sample:
        await held.held.wait()
        sample.signal(signal.SIGTERM)
        assert await sample.ended() == 0
