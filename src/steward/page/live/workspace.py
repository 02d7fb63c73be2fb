"""What one identity sees: its watches, the latest snapshot, and the views that were rendered from it.

Readers of the same identity share a workspace. A snapshot is taken after a change, at most a fifth of the time.

Clusters, registries and templates are read first: they are few, and their statuses count what is below them. Views show
that while everything else is read, which takes seconds for ten thousand Tenants.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Final

from steward.cli.inspect.object_tree import ROOTS
from steward.kube.client.client import Client
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Kind, Ref
from steward.multigres.cache_rules import CLUSTER
from steward.page.inventory.inventory import Inventory
from steward.page.inventory.snapshot import Snapshot, take_first_snapshot, take_snapshot
from steward.page.live.event_feed import EventFeed
from steward.page.live.object_watches import ObjectWatches
from steward.page.live.rendered_views import RenderedView, ViewRenderer
from steward.page.live.watch_rules import Namespaces, watch_rules
from steward.page.models.addresses import ViewAddress

SHORTEST_PAUSE: Final = 0.1
PAUSE_PER_SECOND_OF_WORK: Final = 4.0
AGE_SECONDS: Final = 30.0
"""How often ages are formatted again while nothing changes."""
ROOTS_SECONDS: Final = 5.0
"""After this time views show the roots that have been read so far."""
WHOLE_SECONDS: Final = 0.3
"""If everything is read within this time after the roots, the first view shows all of it: a view that is drawn twice
flickers."""
PROGRESS_SECONDS: Final = 1.0
SILENT_SECONDS: Final = 20.0
"""After this time without another object views show what has been read: one list may fail for ever."""


class Workspace:
    def __init__(
        self, client: Client, allowed: Mapping[Kind, Namespaces], missing: tuple[str, ...] = ()
    ) -> None:
        """`missing` says what the reader may not see."""
        self._inventory = Inventory()
        self._missing = missing
        claims, clusters = (set(allowed.get(kind, ())) for kind in (PERSISTENT_VOLUME_CLAIM, CLUSTER))
        self._sees_owners_of_claims = claims <= clusters
        self._changed = asyncio.Event()
        self._are_trees_stale = True
        self._published = asyncio.Event()
        self._feed = EventFeed(client, self._changed.set)
        self._roots, self._parts = (
            ObjectWatches(client, watch_rules(chosen), self._add_object, self._remove)
            for chosen in (_only(allowed, is_root=True), _only(allowed, is_root=False))
        )
        self._renderer = ViewRenderer(client)
        self._tasks: list[asyncio.Task[None]] = []
        self.snapshot = Snapshot(self._inventory)

    async def start(self) -> None:
        await self._roots.start()
        self._tasks = [asyncio.create_task(self._take_snapshots()), asyncio.create_task(self._refresh_ages())]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._feed.stop()
        await self._roots.stop()
        await self._parts.stop()

    @asynccontextmanager
    async def follow(self, address: ViewAddress) -> AsyncIterator[None]:
        """While a view is open, the events of its namespace are watched."""
        if not address.key.namespace:
            yield
            return
        async with self._feed.follow(address.key.namespace):
            yield

    @property
    def objects_read(self) -> int:
        return len(self._inventory.objects)

    async def wait_first_snapshot(self) -> None:
        """Its trees may be roots alone."""
        while not self.snapshot.version:
            await self._published.wait()

    async def wait_complete(self) -> None:
        """Returns when the first lists have been read."""
        while not self.snapshot.version or self.snapshot.is_reading:
            await self._published.wait()

    async def wait_newer(self, version: int) -> None:
        """Returns when there is a snapshot after this version."""
        while self.snapshot.version <= version:
            await self._published.wait()

    async def render(self, address: ViewAddress) -> RenderedView:
        return await self._renderer.render(self.snapshot, address)

    def _add_object(self, kind: Kind, body: bytes) -> None:
        self._inventory.add_object(kind, body)
        self._mark_stale()

    def _remove(self, ref: Ref) -> None:
        self._inventory.remove(ref)
        self._mark_stale()

    def _mark_stale(self) -> None:
        self._are_trees_stale = True
        self._changed.set()

    async def _take_snapshots(self) -> None:
        await self._read_first_lists()
        while True:
            self._changed.clear()
            # Not the time on the wall: on a busy machine that would make changes arrive later still.
            began = time.thread_time()
            self._publish(self._next_snapshot())
            cost = time.thread_time() - began
            await asyncio.sleep(max(SHORTEST_PAUSE, cost * PAUSE_PER_SECOND_OF_WORK))
            await self._changed.wait()

    async def _read_first_lists(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(ROOTS_SECONDS):
                await self._roots.wait_synced()
        await self._parts.start()
        synced = asyncio.create_task(self._parts.wait_synced())
        try:
            await asyncio.wait([synced], timeout=WHOLE_SECONDS)
            await self._show_roots_until(synced)
        finally:
            synced.cancel()

    async def _show_roots_until(self, synced: asyncio.Task[None]) -> None:
        silent = 0.0
        while not synced.done() and silent < SILENT_SECONDS:
            before = self.objects_read
            self._publish(take_first_snapshot(self._inventory, self.snapshot.version + 1))
            await asyncio.wait([synced], timeout=PROGRESS_SECONDS)
            silent = 0.0 if self.objects_read > before else silent + PROGRESS_SECONDS

    def _next_snapshot(self) -> Snapshot:
        """New trees if objects have changed; an event alone leaves them as they are."""
        version, is_stale = self.snapshot.version + 1, self._are_trees_stale
        self._are_trees_stale = False
        return take_snapshot(self._inventory, version) if is_stale else self._same_trees(version)

    def _same_trees(self, version: int) -> Snapshot:
        return replace(self.snapshot, version=version, now=time.time())

    async def _refresh_ages(self) -> None:
        while True:
            await asyncio.sleep(AGE_SECONDS)
            if self.snapshot.version:
                self._publish(self._same_trees(self.snapshot.version + 1))

    def _publish(self, snapshot: Snapshot) -> None:
        problems = [*self._missing, *self._roots.problems, *self._parts.problems]
        if not snapshot.is_reading:
            problems += self._roots.unread + self._parts.unread
        known = self._sees_owners_of_claims and not (self._roots.problems or self._roots.unread)
        self.snapshot = replace(
            snapshot, problems=tuple(problems), events=self._feed.events, are_clusters_known=known
        )
        published, self._published = self._published, asyncio.Event()
        published.set()


def _only(allowed: Mapping[Kind, Namespaces], *, is_root: bool) -> dict[Kind, Namespaces]:
    return {kind: namespaces for kind, namespaces in allowed.items() if (kind in ROOTS) == is_root}
