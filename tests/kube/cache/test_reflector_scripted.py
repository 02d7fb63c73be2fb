"""A reflector with scripted watch streams, for events that a real server does not send on demand."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import cast

import msgspec

from steward.kube.cache.reflector import Reflector, ReflectorOptions
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.client.decode import Page
from steward.kube.errors import Gone, NoSuchKind, TooManyRequests, Unavailable
from steward.kube.objects.kinds import CONFIG_MAP, Kind
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import ListQuery, WatchQuery
from steward.testkit import let_others_run
from tests.kube.support.instant_clock import InstantClock


class PauseClock(InstantClock):
    """Pauses end at once; the longer timeout for silent streams never ends."""

    async def sleep(self, seconds: float) -> None:
        if seconds >= ReflectorOptions().silence:
            await asyncio.Event().wait()
        await super().sleep(seconds)


Stream = list[bytes]


class Scripted:
    """A fake client with scripted watch streams; the last one stays open."""

    def __init__(self, *streams: Stream | Exception, versions: Iterable[int] = ()) -> None:
        """`versions` are those of the server at each check whether it was restored; after them, it was not."""
        self._streams = list(streams)
        self._versions = list(versions)
        self.queries: list[WatchQuery] = []
        self.all_read = asyncio.Event()

    @asynccontextmanager
    async def watch(self, kind: Kind, query: WatchQuery) -> AsyncIterator[AsyncIterator[bytes]]:
        self.queries.append(query)
        said = self._streams.pop(0)
        if isinstance(said, Exception):
            raise said
        yield self._lines(said)

    async def first_page(self, kind: Kind, query: ListQuery, view: type[Metadata]) -> Page[Metadata]:
        assert query.limit == 1
        return Page([], str(self._versions.pop(0) if self._versions else 1_000_000), "")

    async def _lines(self, stream: Stream) -> AsyncIterator[bytes]:
        for line in stream:
            yield line
        if not self._streams:
            self.all_read.set()
            await asyncio.Event().wait()


def event(type_: str, version: int, name: str = "a", **metadata: object) -> bytes:
    meta = {"name": name, "namespace": "n", "uid": name, "resourceVersion": str(version), **metadata}
    return msgspec.json.encode({"type": type_, "object": {"metadata": meta}})


def end_of_list(version: int) -> bytes:
    return event("BOOKMARK", version, annotations={"k8s.io/initial-events-end": "true"})


async def read_all(client: Scripted, options: ReflectorOptions | None = None) -> Store[Metadata]:
    """Reads all scripted streams."""
    store = Store(CacheRule(CONFIG_MAP, Metadata))
    options = options or ReflectorOptions(clock=PauseClock())
    task = asyncio.create_task(Reflector(cast(Client, client), store, 0, options).run())
    async with asyncio.timeout(120):
        await client.all_read.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return store


def names(store: Store[Metadata]) -> dict[str, str]:
    return {obj.metadata.name: obj.metadata.resource_version for obj in store.list()}


async def test_a_stream_is_resumed_from_its_last_bookmark() -> None:
    client = Scripted([event("ADDED", 1), end_of_list(5), event("BOOKMARK", 9)], [event("MODIFIED", 10)])

    store = await read_all(client)

    assert names(store) == {"a": "10"}
    first, second = client.queries
    assert (first.initial_events, first.resource_version) == (True, "")
    assert (second.initial_events, second.resource_version) == (False, "9")


async def test_a_list_that_was_cut_begins_again() -> None:
    client = Scripted([event("ADDED", 1)], [event("ADDED", 2, "b"), end_of_list(5)])

    store = await read_all(client)

    assert store.synced
    assert [query.initial_events for query in client.queries] == [True, True]


async def test_after_a_restore_from_a_backup_everything_is_listed_again() -> None:
    before = [event("ADDED", 90), event("ADDED", 91, "lost"), end_of_list(100)]
    restored = [event("ADDED", 40), end_of_list(50)]
    client = Scripted(before, Gone(410, "Expired", "too old"), restored, restored)

    store = await read_all(client)

    assert names(store) == {"a": "40"}
    assert store.synced


async def test_a_cut_stream_is_not_resumed_on_a_server_that_went_back() -> None:
    """A real server answers a watch from a version that it has not reached with silence."""
    reported: list[str] = []
    before = [event("ADDED", 90), event("ADDED", 91, "lost"), end_of_list(100)]
    client = Scripted(before, [event("ADDED", 40), end_of_list(50)], versions=[50])
    options = ReflectorOptions(clock=PauseClock(), on_restored=reported.append)

    store = await read_all(client, options)

    assert names(store) == {"a": "40"}
    assert [query.resource_version for query in client.queries] == ["", ""]
    assert reported == [
        "the API server went back from version 100 to 50: it was restored from a backup",
    ]


async def test_a_restore_is_reported_before_the_cache_is_emptied() -> None:
    """So that no reconcile writes while the caches are empty."""
    store = Store(CacheRule(CONFIG_MAP, Metadata))
    client = Scripted([event("ADDED", 90), end_of_list(100)], [end_of_list(50)], versions=[50])
    held: list[int] = []
    options = ReflectorOptions(clock=PauseClock(), on_restored=lambda message: held.append(len(store)))
    task = asyncio.create_task(Reflector(cast(Client, client), store, 0, options).run())
    async with asyncio.timeout(120):
        await client.all_read.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert held == [1]
    assert len(store) == 0


async def test_a_stream_that_ends_in_time_is_resumed_without_a_check() -> None:
    clock = PauseClock()
    client = Scripted([end_of_list(5)], [event("ADDED", 6)], versions=[1])
    read = client._lines

    async def long_stream(stream: Stream) -> AsyncIterator[bytes]:
        async for line in read(stream):
            yield line
        clock.advance(ReflectorOptions().lifetime)

    client._lines = long_stream  # type: ignore[method-assign]
    store = await read_all(client, ReflectorOptions(clock=clock))
    assert names(store) == {"a": "6"}


async def test_one_404_does_not_mark_the_kind_as_missing() -> None:
    client = Scripted(
        [event("ADDED", 1), end_of_list(5)], NoSuchKind("starting"), [event("ADDED", 1), end_of_list(6)]
    )

    store = await read_all(client)

    assert store.epoch == 0
    assert names(store) == {"a": "1"}


async def test_repeated_404s_mark_the_kind_as_missing() -> None:
    missing = [NoSuchKind("gone")] * 3
    client = Scripted([event("ADDED", 1), end_of_list(5)], *missing, [end_of_list(9)])

    store = await read_all(client)

    assert (store.epoch, names(store), store.available) == (1, {}, True)


async def test_retry_after_of_the_server_is_respected() -> None:
    clock = PauseClock()
    busy = TooManyRequests(429, "TooManyRequests", "busy")
    busy.retry_after = 7.0

    await read_all(Scripted(busy, [end_of_list(1)]), ReflectorOptions(clock=clock))

    assert 7.0 in clock.slept


async def test_pauses_grow_and_end_with_the_first_line() -> None:
    clock = PauseClock()
    down = [Unavailable(503, "", "down")] * 4
    options = ReflectorOptions(clock=clock, random=lambda: 1.0)

    await read_all(Scripted(*down, [end_of_list(1)], [event("BOOKMARK", 2)]), options)

    assert clock.slept == [0.5, 1.0, 2.0, 4.0, 0.0]


class LingeringClock(PauseClock):
    """Records cancelled long sleeps, and takes a few turns of the loop to end them."""

    def __init__(self) -> None:
        super().__init__()
        self.ending = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        try:
            await super().sleep(seconds)
        except asyncio.CancelledError:
            self.ending.set()
            await let_others_run()
            raise


class Failing(Scripted):
    @asynccontextmanager
    async def watch(self, kind: Kind, query: WatchQuery) -> AsyncIterator[AsyncIterator[bytes]]:
        await let_others_run()
        async with super().watch(kind, query) as lines:
            yield lines


async def test_a_cancellation_while_a_failed_stream_is_closed_is_not_lost() -> None:
    clock, store = LingeringClock(), Store(CacheRule(CONFIG_MAP, Metadata))
    client = Failing(Unavailable(503, "ServiceUnavailable", "later"), [event("ADDED", 1)])
    reflector = Reflector(cast(Client, client), store, 0, ReflectorOptions(clock=clock))
    task = asyncio.create_task(reflector.run())
    async with asyncio.timeout(120):
        await clock.ending.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert len(client.queries) == 1
