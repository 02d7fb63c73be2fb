"""A cache with network failures: the real API server behind a fault proxy."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from steward.kube.cache.caches import Caches
from steward.kube.cache.reflector import ReflectorOptions
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.client.client import Client, connect
from steward.kube.clock import SystemClock
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import CONFIG_MAP, Key, Manifest, Ref
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import DeleteOptions
from steward.kube.objects.patches import MergePatch
from steward.local.control_plane import ControlPlane
from steward.testkit import (
    Answer,
    CutWatch,
    DelayEvents,
    FakeClock,
    FaultProxy,
    HoldWatch,
    InsertLine,
    LoseEvents,
    Match,
    RepeatEvents,
    Rule,
    gone_event,
)
from tests.kube.support.applying import until

WATCHES = Match(verb="watch", resource="configmaps")
LISTS = Match(verb="list", resource="configmaps")
QUICK = ReflectorOptions(first_pause=0.01, longest_pause=0.05)


@dataclass
class Watched:
    """ConfigMaps of one namespace, written directly and watched through the proxy."""

    client: Client
    proxy: FaultProxy
    store: Store[Metadata]
    namespace: str

    def manifest(self, name: str, **data: str) -> Manifest:
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self.namespace, "labels": {"test": "reflector"}},
            "data": data,
        }

    def key(self, name: str) -> Key:
        return Key(self.namespace, name)

    async def create(self, name: str) -> None:
        await self.client.create(self.manifest(name))

    async def touch(self, name: str, value: str) -> None:
        await self.client.patch(
            Ref(CONFIG_MAP, self.key(name)), MergePatch({"metadata": {"annotations": {"at": value}}})
        )

    async def delete(self, name: str) -> None:
        await self.client.delete(Ref(CONFIG_MAP, self.key(name)), DeleteOptions())

    async def wait_until_cached(self, name: str) -> None:
        await until(self.store, self.key(name), lambda obj: obj is not None)

    async def wait_until_deleted(self, name: str) -> None:
        await until(self.store, self.key(name), lambda obj: obj is None)

    async def touched(self, name: str, value: str) -> None:
        await until(
            self.store, self.key(name), lambda obj: obj and obj.metadata.annotations.get("at") == value
        )

    def codes(self, match: Match) -> list[int]:
        return [seen.code for seen in self.proxy.calls(match)]


@pytest.fixture
async def proxy(control_plane: ControlPlane) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        yield proxy


class Watching:
    """Starts caches behind the proxy, and stops them after the test."""

    def __init__(self, client: Client, proxy: FaultProxy, namespace: str) -> None:
        self._client = client
        self._proxy = proxy
        self._namespace = namespace
        self._started: list[tuple[Caches, Client]] = []

    async def start(self, options: ReflectorOptions = QUICK) -> Watched:
        through = await connect(load_settings(ConfigSource(kubeconfig=str(self._proxy.kubeconfig))))
        caches = Caches(through, options)
        store = caches.store(CacheRule(CONFIG_MAP, Metadata, {self._namespace: "test=reflector"}))
        await caches.start()
        self._started.append((caches, through))
        return Watched(self._client, self._proxy, store, self._namespace)

    async def synced(self, options: ReflectorOptions = QUICK) -> Watched:
        watched = await self.start(options)
        async with asyncio.timeout(120):
            await watched.store.wait_synced()
        return watched

    async def stop(self) -> None:
        for caches, through in self._started:
            await caches.stop()
            await through.close()


@pytest.fixture
async def watching(client: Client, proxy: FaultProxy, namespace: str) -> AsyncIterator[Watching]:
    watching = Watching(client, proxy, namespace)
    yield watching
    await watching.stop()


async def test_the_first_list_is_a_stream_and_needs_no_other_request(watching: Watching) -> None:
    watched = await watching.synced()
    await watched.create("a")
    await watched.wait_until_cached("a")

    assert watched.codes(LISTS) == []
    assert len(watched.codes(WATCHES)) == 1


async def test_a_server_without_streaming_lists_is_read_in_pages(
    watching: Watching, proxy: FaultProxy
) -> None:
    proxy.add(Rule(WATCHES, Answer(422, message="sendInitialEvents is forbidden"), count=1))
    watched = await watching.start()
    await watched.create("a")
    await watched.wait_until_cached("a")
    await watched.delete("a")
    await watched.wait_until_deleted("a")

    assert watched.codes(LISTS) == [200]
    assert watched.store.synced


async def test_a_cut_stream_is_resumed_from_its_last_version(watching: Watching, proxy: FaultProxy) -> None:
    watched = await watching.synced()
    await watched.create("a")
    await watched.wait_until_cached("a")
    changes: list[ObjectChange[Metadata]] = []
    watched.store.subscribe(changes.append)

    proxy.cut(WATCHES)
    await watched.create("b")
    await watched.wait_until_cached("b")

    # One object, which shows the server's present version: after a restore, a resumed stream would be silent.
    assert watched.codes(LISTS) == [200]
    assert not any(change.key.name == "a" and not change.initial for change in changes)


async def test_a_stream_that_is_cut_in_place_of_an_event_loses_nothing(
    watching: Watching, proxy: FaultProxy
) -> None:
    watched = await watching.synced()
    proxy.add(Rule(WATCHES, CutWatch(type="ADDED"), count=1))

    await watched.create("a")

    await watched.wait_until_cached("a")


async def test_objects_that_were_deleted_before_a_relist_are_removed(
    watching: Watching, proxy: FaultProxy
) -> None:
    watched = await watching.synced()
    await watched.create("goes")
    await watched.create("stays")
    await watched.wait_until_cached("goes")
    await watched.wait_until_cached("stays")
    outage = proxy.add(Rule(WATCHES, Answer(503)))
    proxy.cut(WATCHES)
    await outage.until_hit()
    await watched.delete("goes")
    await watched.create("new")
    expired = proxy.add(Rule(WATCHES, Answer(410), count=1))
    proxy.remove(outage)

    await watched.wait_until_deleted("goes")
    await watched.wait_until_cached("new")

    assert expired.hits == 1
    assert watched.store.get(watched.key("stays")) is not None


async def test_a_410_inside_the_stream_means_relist(watching: Watching, proxy: FaultProxy) -> None:
    watched = await watching.synced()
    await watched.create("a")
    await watched.wait_until_cached("a")
    proxy.add(Rule(WATCHES, InsertLine(gone_event(), type="DELETED"), count=1))
    proxy.add(Rule(WATCHES, LoseEvents(type="DELETED"), count=1))

    await watched.delete("a")

    await watched.wait_until_deleted("a")


@pytest.mark.parametrize(
    "line", ["{", "no json", '{"type": "ADDED"}', '{"type": "WHAT", "object": {}}', "[]"]
)
async def test_an_unreadable_event_causes_a_new_list(
    watching: Watching, proxy: FaultProxy, line: str
) -> None:
    watched = await watching.synced()
    proxy.add(Rule(WATCHES, InsertLine(line, type="ADDED"), count=1))

    await watched.create("a")
    await watched.wait_until_cached("a")
    await watched.touch("a", "1")
    await watched.touched("a", "1")


async def test_a_silent_stream_is_replaced(watching: Watching, proxy: FaultProxy) -> None:
    clock = FakeClock()
    watched = await watching.synced(ReflectorOptions(silence=75, clock=clock))
    held = proxy.add(Rule(WATCHES, HoldWatch(type="ADDED"), count=1))
    await watched.create("a")
    await held.held.wait()
    assert watched.store.get(watched.key("a")) is None

    # The events of the list fall into the first period; the second period is silent.
    await clock.until_asleep()
    await clock.pass_time(75)
    await clock.until_asleep()
    await clock.pass_time(75)
    await clock.until_asleep()
    await clock.pass_time(1)

    await watched.wait_until_cached("a")


class LaterClock(SystemClock):
    """The system clock, plus an offset."""

    later = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.later


async def test_the_next_list_corrects_a_lost_event(watching: Watching, proxy: FaultProxy) -> None:
    # Streams outlive the test: a deletion between two streams would be found by the list, without an event to lose.
    clock = LaterClock()
    watched = await watching.synced(ReflectorOptions(relist=600.0, clock=clock))
    await watched.create("a")
    await watched.wait_until_cached("a")
    lost = proxy.add(Rule(WATCHES, LoseEvents(type="DELETED"), count=1))
    await watched.delete("a")
    await lost.until_hit()
    assert watched.store.get(watched.key("a")) is not None

    clock.later = 601.0
    proxy.cut(WATCHES)

    await watched.wait_until_deleted("a")


async def test_a_repeated_event_notifies_subscribers_once(watching: Watching, proxy: FaultProxy) -> None:
    watched = await watching.synced()
    changes: list[ObjectChange[Metadata]] = []
    watched.store.subscribe(changes.append)
    proxy.add(Rule(WATCHES, RepeatEvents(times=3)))

    await watched.create("a")
    await watched.wait_until_cached("a")
    await watched.touch("a", "1")
    await watched.touched("a", "1")
    await watched.delete("a")
    await watched.wait_until_deleted("a")

    assert [(change.old is None, change.new is None) for change in changes] == [
        (True, False),
        (False, False),
        (False, True),
    ]


async def test_events_out_of_order_never_bring_an_older_version_back(
    watching: Watching, proxy: FaultProxy
) -> None:
    watched = await watching.synced()
    await watched.create("a")
    await watched.wait_until_cached("a")
    values: list[str] = []
    watched.store.subscribe(
        lambda change: values.append(change.new.metadata.annotations.get("at", "")) if change.new else None
    )
    delayed = proxy.add(Rule(WATCHES, DelayEvents(type="MODIFIED", name="a", behind=1), count=1))

    await watched.touch("a", "1")
    await delayed.until_hit()
    await watched.touch("a", "2")
    await watched.touched("a", "2")
    await watched.create("later")
    await watched.wait_until_cached("later")

    assert values == ["", "2", ""]


async def test_an_event_behind_its_deletion_does_not_bring_the_object_back(
    watching: Watching, proxy: FaultProxy
) -> None:
    watched = await watching.synced()
    await watched.create("a")
    await watched.wait_until_cached("a")
    delayed = proxy.add(Rule(WATCHES, DelayEvents(type="MODIFIED", name="a", behind=1), count=1))

    await watched.touch("a", "1")
    await delayed.until_hit()
    await watched.delete("a")
    await watched.wait_until_deleted("a")
    await watched.create("later")
    await watched.wait_until_cached("later")

    assert watched.store.get(watched.key("a")) is None


@pytest.mark.parametrize("code", [401, 403, 429, 500, 503, 504])
async def test_a_rejected_watch_is_retried_and_its_problem_reported(
    watching: Watching, proxy: FaultProxy, code: int
) -> None:
    refused = proxy.add(Rule(WATCHES, Answer(code, message="not now")))
    watched = await watching.start()
    await refused.until_hit(2)

    assert not watched.store.synced
    assert "not now" in watched.store.problem

    proxy.remove(refused)
    async with asyncio.timeout(120):
        await watched.store.wait_synced()
    assert watched.store.problem == ""


async def test_a_dropped_connection_is_opened_again(watching: Watching, proxy: FaultProxy) -> None:
    watched = await watching.synced()
    for name in ("a", "b", "c"):
        proxy.cut()
        await watched.create(name)
        await watched.wait_until_cached(name)
