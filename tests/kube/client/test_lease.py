"""Leader election of two replicas with a clock each, on the real API server."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from steward.kube import errors
from steward.kube.client.client import Client, MergePatch, connect
from steward.kube.client.lease import (
    LeaseHolder,
    LeaseSettings,
    ObservedLease,
    claimed_lease,
    is_free,
    new_lease,
    observe_lease,
)
from steward.kube.config.settings import ConnectionSettings
from steward.kube.objects.kinds import LEASE, Key, Ref
from steward.kube.objects.meta import OwnerReference
from steward.kube.transport.request import Request
from steward.kube.transport.transport import Hooks, TransportOptions
from steward.testkit.clock import FakeClock
from tests.kube.support.connect_proxy import proxying

SETTINGS = LeaseSettings(key=Key("a", "lead"), identity="me")


def lease(holder: str, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "lead"},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, **spec},
    }


def test_an_unchanged_record_keeps_the_time_of_its_first_observation() -> None:
    first = observe_lease(None, lease("other", renewTime="1"), 100.0)
    again = observe_lease(first, lease("other", renewTime="1"), 110.0)
    renewed = observe_lease(again, lease("other", renewTime="2"), 112.0)
    assert [seen.since for seen in (first, again, renewed)] == [100.0, 100.0, 112.0]


@pytest.mark.parametrize(
    ("holder", "lasts", "age", "free"),
    [
        ("", 15, 0.0, True),
        ("me", 15, 0.0, True),
        ("other", 15, 14.9, False),
        ("other", 15, 15.0, True),
        ("other", 60, 59.0, False),
        ("other", 1, 1.0, True),
        ("other", None, 14.9, False),
        ("other", None, 15.0, True),
    ],
)
def test_a_lease_is_free_when_it_is_ours_released_or_expired(
    holder: str, lasts: int | None, age: float, free: bool
) -> None:
    seen = ObservedLease(lease(holder, leaseDurationSeconds=lasts), 100.0)
    assert is_free(seen, SETTINGS, 100.0 + age) is free


def test_taking_over_counts_a_transition_and_renewing_does_not() -> None:
    taken = claimed_lease(
        ObservedLease(lease("other", leaseTransitions=4, acquireTime="old"), 0.0), SETTINGS, "now"
    )
    kept = claimed_lease(
        ObservedLease(lease("me", leaseTransitions=4, acquireTime="old"), 0.0), SETTINGS, "now"
    )
    assert (taken["spec"]["leaseTransitions"], taken["spec"]["acquireTime"]) == (5, "now")
    assert (kept["spec"]["leaseTransitions"], kept["spec"]["acquireTime"]) == (4, "old")
    assert taken["spec"]["holderIdentity"] == kept["spec"]["holderIdentity"] == "me"


def test_every_lease_that_is_written_belongs_to_its_owner() -> None:
    owner = OwnerReference("apps/v1", "Deployment", "operator", "uid-1", controller=True)
    owned = replace(SETTINGS, owner=owner)
    before = ObservedLease(lease("other"), 0.0)
    for written in (new_lease(owned, "now"), claimed_lease(before, owned, "now")):
        (reference,) = written["metadata"]["ownerReferences"]
        assert (reference["kind"], reference["uid"]) == ("Deployment", "uid-1")
    assert "ownerReferences" not in claimed_lease(before, SETTINGS, "now")["metadata"]


@pytest.mark.parametrize(
    "times",
    [{"duration": 10.0}, {"renew_deadline": 2.0}, {"retry_period": 9.0}, {"retry_period": 0.0}],
    ids=str,
)
def test_durations_that_contradict_each_other_are_rejected(times: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="lease: duration must be longer"):
        replace(SETTINGS, **times)


class Candidate:
    """One replica: its lease holder, its clock, and its callbacks."""

    def __init__(self, client: Client, key: Key, name: str, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        settings = LeaseSettings(key=key, identity=name)
        self.holder = LeaseHolder(client, settings, self.clock, random=lambda: 0.0)
        self.told: list[str] = []
        self.task = asyncio.create_task(
            self.holder.run(lambda: self.told.append("started"), lambda: self.told.append("stopped"))
        )

    async def settle(self) -> None:
        """Waits until it sleeps or has ended."""
        asleep = asyncio.create_task(self.clock.until_asleep())
        await asyncio.wait((asleep, self.task), return_when=asyncio.FIRST_COMPLETED)
        asleep.cancel()

    async def live(self, seconds: float) -> None:
        """Advances its clock from one sleep to the next, with real requests."""
        end = self.clock.monotonic() + seconds
        await self.settle()
        while not self.task.done() and (wait := self.clock.next_wake) is not None:
            if self.clock.monotonic() + wait > end:
                break
            self.clock.advance(wait)
            await asyncio.sleep(0)
            await self.settle()
        self.clock.advance(max(0.0, end - self.clock.monotonic()))

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


Enter = Callable[[str], Candidate]


@pytest.fixture
def key(namespace: str) -> Key:
    return Key(namespace, f"lead-{secrets.token_hex(3)}")


@pytest.fixture
async def enter(client: Client, key: Key) -> AsyncIterator[Enter]:
    entered: list[Candidate] = []

    def new(name: str) -> Candidate:
        entered.append(Candidate(client, key, name))
        return entered[-1]

    yield new
    for candidate in entered:
        await candidate.stop()


async def spec_of(client: Client, key: Key) -> dict[str, Any]:
    spec: dict[str, Any] = (await client.get(LEASE, key))["spec"]
    return spec


async def test_the_first_to_come_makes_the_lease_and_leads(client: Client, key: Key, enter: Enter) -> None:
    a = enter("a")
    await a.settle()
    spec = await spec_of(client, key)
    assert a.holder.holds()
    assert a.told == ["started"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("a", 15, 0)
    assert spec["renewTime"] == spec["acquireTime"] == "2027-01-15T08:00:00.000000Z"


async def test_of_many_that_come_at_once_one_leads(client: Client, key: Key, enter: Enter) -> None:
    candidates = [enter(f"c{number}") for number in range(10)]
    for candidate in candidates:
        await candidate.settle()
    leaders = [candidate for candidate in candidates if candidate.holder.holds()]
    assert [leader.told for leader in leaders] == [["started"]]
    assert (await spec_of(client, key))["holderIdentity"] == leaders[0].holder.identity


async def test_a_leader_that_renews_is_never_overtaken(client: Client, key: Key, enter: Enter) -> None:
    a = enter("a")
    await a.settle()
    b = enter("b")
    for _ in range(20):
        await b.live(5)
        await a.live(5)
    assert a.holder.holds()
    assert b.told == []
    assert not b.holder.holds()
    assert b.holder.holder == "a"
    assert (await spec_of(client, key))["leaseTransitions"] == 0


async def test_a_silent_leader_stops_before_another_takes_over(
    client: Client, key: Key, enter: Enter
) -> None:
    a = enter("a")
    await a.settle()
    b = enter("b")
    await b.live(14)
    assert not b.holder.holds()
    a.clock.advance(10)
    assert not a.holder.holds()
    await b.live(2)
    assert b.holder.holds()
    spec = await spec_of(client, key)
    assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("b", 1)
    await asyncio.wait_for(a.task, 60)
    assert a.told == ["started", "stopped"]


async def test_clocks_of_others_are_not_trusted(client: Client, key: Key, enter: Enter) -> None:
    await client.create(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": key.name, "namespace": key.namespace},
            "spec": {
                "holderIdentity": "from-1970",
                "leaseDurationSeconds": 15,
                "acquireTime": "1970-01-01T00:00:00.000000Z",
                "renewTime": "1970-01-01T00:00:00.000000Z",
            },
        }
    )
    b = enter("b")
    await b.settle()
    b.clock.jump(1e9)
    await b.live(14)
    assert not b.holder.holds()
    await b.live(2)
    assert b.holder.holds()


@pytest.mark.parametrize("seconds", [1e8, -1e8], ids=["forward", "back"])
async def test_a_wall_clock_that_is_set_gives_the_lease_to_no_other_replica(
    client: Client, key: Key, enter: Enter, seconds: float
) -> None:
    """Neither the leader's clock nor the other's decides: both count monotonic seconds."""
    a = enter("a")
    await a.settle()
    b = enter("b")
    await b.settle()
    for jumping in (a, b):
        jumping.clock.jump(seconds)
        for _ in range(4):
            await a.live(5)
            await b.live(5)
            assert a.holder.holds()
            assert not b.holder.holds()
    assert (await spec_of(client, key))["leaseTransitions"] == 0


@pytest.mark.parametrize("name", ["a", "b"], ids=["leader", "standby"])
async def test_a_lease_that_is_older_than_before_ends_the_replica(
    client: Client, key: Key, enter: Enter, name: str
) -> None:
    """As after a restore of the API server: the replica has read a version that the server has not reached."""
    replicas = {"a": enter("a")}
    await replicas["a"].settle()
    replicas["b"] = enter("b")
    await replicas["b"].settle()
    observed = replicas[name].holder._observed
    assert observed is not None
    observed.lease["metadata"]["resourceVersion"] = "999999999999"
    await replicas[name].live(5)
    assert not replicas[name].holder.holds()
    with pytest.raises(errors.ServerRestored, match="the API server was restored from a backup"):
        await asyncio.wait_for(replicas[name].task, 60)


async def test_a_clean_stop_gives_the_lease_up_and_the_next_need_not_wait(
    client: Client, key: Key, enter: Enter
) -> None:
    a = enter("a")
    await a.settle()
    b = enter("b")
    await b.settle()
    await a.stop()
    assert a.told == ["started", "stopped"]
    assert not a.holder.holds()
    assert (await spec_of(client, key)).get("holderIdentity", "") == ""
    await b.live(2)
    assert b.holder.holds()


async def test_a_process_that_never_led_releases_nothing(client: Client, key: Key, enter: Enter) -> None:
    a = enter("a")
    await a.settle()
    b = enter("b")
    await b.settle()
    await b.stop()
    assert (await spec_of(client, key))["holderIdentity"] == "a"
    assert b.told == []


async def test_a_lease_taken_by_force_is_lost_at_the_next_renewal(
    client: Client, key: Key, enter: Enter
) -> None:
    a = enter("a")
    await a.settle()
    await client.patch(Ref(LEASE, key), MergePatch({"spec": {"holderIdentity": "thief"}}))
    await a.live(2)
    await asyncio.wait_for(a.task, 60)
    assert a.told == ["started", "stopped"]
    assert not a.holder.holds()
    assert (await spec_of(client, key))["holderIdentity"] == "thief"


async def test_a_foreign_edit_of_the_object_costs_no_leadership(
    client: Client, key: Key, enter: Enter
) -> None:
    a = enter("a")
    await a.settle()
    await client.patch(Ref(LEASE, key), MergePatch({"metadata": {"labels": {"x": "y"}}}))
    await a.live(4)
    found = await client.get(LEASE, key)
    assert a.holder.holds()
    assert found["metadata"]["labels"] == {"x": "y"}
    assert found["spec"]["leaseTransitions"] == 0
    assert found["spec"]["renewTime"] == "2027-01-15T08:00:04.000000Z"


async def test_a_deleted_lease_is_created_again(client: Client, key: Key, enter: Enter) -> None:
    a = enter("a")
    await a.settle()
    await client.delete(Ref(LEASE, key))
    await a.live(2)
    assert a.holder.holds()
    assert (await spec_of(client, key))["holderIdentity"] == "a"


async def test_a_stop_without_a_server_ends_all_the_same(
    settings: ConnectionSettings, key: Key, caplog: pytest.LogCaptureFixture
) -> None:
    async with proxying() as proxy:
        through = replace(settings, proxy=f"http://{proxy.address}")
        async with _connected(through, TransportOptions()) as client:
            a = Candidate(client, key, "a")
            await a.settle()
            await proxy.stop()
            await a.stop()
    assert a.told == ["started", "stopped"]
    assert "was not released and will expire" in caplog.text


@asynccontextmanager
async def _connected(settings: ConnectionSettings, options: TransportOptions) -> AsyncIterator[Client]:
    client = await connect(settings, options)
    try:
        yield client
    finally:
        await client.close()


async def test_a_leader_that_cannot_reach_the_server_stops_at_its_deadline(
    settings: ConnectionSettings, key: Key
) -> None:
    async with proxying() as proxy:
        through = replace(settings, proxy=f"http://{proxy.address}")
        async with _connected(through, TransportOptions()) as client:
            a = Candidate(client, key, "a")
            await a.settle()
            assert a.holder.holds()
            await proxy.stop()
            await a.live(9.9)
            assert a.holder.holds()
            await a.live(0.2)
            assert not a.holder.holds()
            await asyncio.wait_for(a.task, 60)
    assert a.told == ["started", "stopped"]


async def test_the_deadline_counts_from_the_beginning_of_the_renewal(
    settings: ConnectionSettings, key: Key
) -> None:
    clock = FakeClock()

    def slow(method: str, host: str, code: str, seconds: float) -> None:
        if method == "POST":
            clock.advance(3)

    async with _connected(settings, TransportOptions(hooks=Hooks(on_request=slow))) as client:
        a = Candidate(client, key, "a", clock)
        await a.settle()
        clock.advance(6.9)
        assert a.holder.holds()
        clock.advance(0.1)
        assert not a.holder.holds()
        await a.stop()


async def test_lease_requests_skip_before_write(settings: ConnectionSettings, key: Key) -> None:
    def refuse(request: Request) -> None:
        raise errors.LeaseLost("not the leader")

    async with _connected(settings, TransportOptions(hooks=Hooks(before_write=refuse))) as client:
        a = Candidate(client, key, "a")
        await a.live(6)
        assert a.holder.holds()
        await a.stop()
        assert (await spec_of(client, key)).get("holderIdentity", "") == ""
