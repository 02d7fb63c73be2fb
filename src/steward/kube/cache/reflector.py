"""Keeps one watch of a store running: list, watch, resume, and list again when the resourceVersion is too old.

Network failures do not reach the store. After a stream was cut or fell silent, the reflector resumes from the last
resourceVersion. After a 410 (as a response or in the stream), or an event that cannot be read, it lists again, and
objects that are missing in the new list were deleted. Only cancellation ends a reflector.

A server whose etcd was restored from a backup has older versions than the cache. It answers a watch from a version that
it has not reached with silence: no error, no event, no bookmark. After a stream was cut, the reflector therefore reads
the server's present version before it resumes.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace as changed

from steward.kube.cache.store import Store
from steward.kube.cache.watch_events import (
    UnreadableEvent,
    WatchEvent,
    WatchEventType,
    ends_initial_list,
    read_event,
    read_metadata,
)
from steward.kube.client.client import Client, ListQuery, WatchQuery
from steward.kube.client.depth_limit import CUT_VALUE
from steward.kube.clock import Clock, Random, SystemClock
from steward.kube.errors import BadRequest, Gone, Invalid, KubeError, NoSuchKind
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import Metadata, ObjectMeta, is_after
from steward.kube.transport.status_errors import watch_error

# After so many events in a row the reflector yields to other tasks.
_BURST = 200
_MISSES = 3

log = logging.getLogger(__name__)


class ReflectorOptions(Struct, frozen=True, kw_only=True):
    silence: float = 75.0
    """A stream without an event for this long (at most twice as long) is dead; bookmarks come every minute."""
    lifetime: float = 240.0
    """The server is asked to end a stream after this time, plus up to half of it as jitter."""
    relist: float = 1800.0
    """A list older than this is repeated when its stream ends, in case an event was ever lost."""
    first_pause: float = 0.5
    longest_pause: float = 30.0
    missing_kind_pause: float = 5.0
    """The longest wait before another attempt to watch a kind that the server does not serve."""
    clock: Clock = SystemClock()
    random: Random = random.random
    on_restored: Callable[[str], None] = lambda message: None
    """Called before the cache is emptied, when the server turns out to be older than the cache."""


class Reflector:
    def __init__(self, client: Client, store: Store[Any], scope: int, options: ReflectorOptions) -> None:
        self._client = client
        self._store = store
        self._scope = scope
        self._options = options
        self._version = ""
        self._epoch = -1
        self._listed: set[Key] | None = None
        self._listed_at = 0.0
        self._streams_lists = True
        self._newest = ""
        self._lines = self._lines_before = 0
        self._failures = 0
        self._misses = 0
        self._retry_after = 0.0
        self._is_cut = False

    async def run(self) -> None:
        while True:
            self._lines_before = self._lines
            failed = await self._attempt()
            # A server that ends every stream without an event is retried no faster than one that fails.
            self._failures = int(failed) if self._lines > self._lines_before else self._failures + 1
            await self._options.clock.sleep(self._pause())

    async def _attempt(self) -> bool:
        began = self._options.clock.monotonic()
        try:
            await self._list_or_watch()
        except Exception as error:
            self._is_cut = True
            self._handle_error(error)
            return True
        # The server ends a stream by itself only after its lifetime.
        self._is_cut = self._options.clock.monotonic() - began < self._shortest_lifetime() - 1
        return False

    async def _list_or_watch(self) -> None:
        """One stream from beginning to end, with a list before it where one is due."""
        if self._is_cut and self._newest:
            await self._require_history()
        if self._store.epoch != self._epoch or self._age() > self._options.relist:
            self._version = ""
        if self._version:
            await self._watch(self._query(resource_version=self._version))
        elif self._streams_lists:
            await self._list_by_stream()
        else:
            await self._list_by_pages()

    async def _require_history(self) -> None:
        """Raises if the server has not reached the version of the cache."""
        query = changed(self._list_query(), limit=1)
        page = await self._client.first_page(self._store.kind, query, Metadata)
        self._require_not_before(self._newest, page.resource_version)

    def _require_not_before(self, newest: str, version: str) -> None:
        if not is_after(newest, version):
            return
        self._newest = ""
        message = (
            f"the API server went back from version {newest} to {version}: it was restored from a backup"
        )
        self._options.on_restored(message)
        self._store.reset()
        raise UnreadableEvent(message)

    async def _list_by_stream(self) -> None:
        self._begin_list()
        try:
            await self._watch(self._query(match="NotOlderThan", initial_events=True))
        except (Invalid, BadRequest):
            # Servers without streaming lists reject the parameters; list in pages instead.
            self._streams_lists = False
            await self._list_by_pages()

    async def _list_by_pages(self) -> None:
        self._begin_list()
        listing = await self._client.list(self._store.kind, self._list_query(), msgspec.Raw)
        for number, body in enumerate(listing.items, start=1):
            self._put_object(body)
            if number % _BURST == 0:
                await asyncio.sleep(0)
        self._finish_list(listing.resource_version)
        await self._watch(self._query(resource_version=self._version))

    async def _watch(self, query: WatchQuery) -> None:
        async with self._cancelled_when_silent(), self._client.watch(self._store.kind, query) as lines:
            self._misses = 0
            self._store.report_problem(self._scope, "")
            async for line in lines:
                self._lines += 1
                self._handle_event(read_event(line))
                if self._lines % _BURST == 0:
                    await asyncio.sleep(0)

    def _list_query(self) -> ListQuery:
        scope = self._store.scopes[self._scope]
        return ListQuery(
            namespace=scope.namespace,
            label_selector=scope.selector.text,
            field_selector=self._store.rule.field_selector,
        )

    def _query(self, **options: Any) -> WatchQuery:
        scope = self._store.scopes[self._scope]
        return WatchQuery(
            namespace=scope.namespace,
            label_selector=scope.selector.text,
            field_selector=self._store.rule.field_selector,
            timeout_seconds=self._lifetime(),
            **options,
        )

    def _lifetime(self) -> int:
        return max(1, int(self._shortest_lifetime() * (1 + self._options.random() / 2)))

    def _shortest_lifetime(self) -> float:
        return min(self._options.lifetime, self._options.relist)

    @asynccontextmanager
    async def _cancelled_when_silent(self) -> AsyncIterator[None]:
        """Raises TimeoutError inside when no event has arrived for too long."""
        async with asyncio.timeout(None) as limit:
            watchdog = asyncio.create_task(self._end_when_silent(limit))
            try:
                yield
            finally:
                watchdog.cancel()
                # Not `suppress(CancelledError)`: this task may be cancelled at the same moment, which must not be lost.
                await asyncio.gather(watchdog, return_exceptions=True)

    async def _end_when_silent(self, limit: asyncio.Timeout) -> None:
        seen_lines = -1
        while seen_lines != self._lines:
            seen_lines = self._lines
            await self._options.clock.sleep(self._options.silence)
        limit.reschedule(asyncio.get_running_loop().time())

    def _handle_event(self, event: WatchEvent) -> None:
        match event.type:
            case WatchEventType.ADDED | WatchEventType.MODIFIED:
                meta = self._put_object(event.object)
            case WatchEventType.DELETED:
                meta = read_metadata(event.object)
                self._store.remove_watched(self._scope, meta)
            case WatchEventType.BOOKMARK:
                meta = read_metadata(event.object)
                if self._listed is not None and ends_initial_list(meta):
                    self._finish_list(meta.resource_version)
            case WatchEventType.ERROR:
                raise watch_error(bytes(event.object))
        if self._listed is None:
            self._version = self._newest = meta.resource_version

    def _put_object(self, body: msgspec.Raw) -> ObjectMeta:
        try:
            meta = self._store.put_watched(self._scope, body)
        except Exception as error:
            # One object that does not fit its view must not stop the others; its last good version stays cached.
            meta = read_metadata(body)
            why = "it is nested too deeply" if CUT_VALUE in bytes(body) else error
            log.warning(
                "%s %s/%s is left out of the cache: %s", self._store.kind, meta.namespace, meta.name, why
            )
        if self._listed is not None:
            self._listed.add(Key(meta.namespace, meta.name))
        return meta

    def _age(self) -> float:
        return self._options.clock.monotonic() - self._listed_at

    def _begin_list(self) -> None:
        self._listed = set()
        self._epoch = self._store.epoch

    def _finish_list(self, version: str) -> None:
        listed, self._listed = self._listed or set(), None
        # A list is never older than earlier events, unless etcd was restored from a backup.
        self._require_not_before(self._newest, version)
        self._version = self._newest = version
        self._listed_at = self._options.clock.monotonic()
        self._store.finish_list(self._scope, listed, version)

    def _handle_error(self, error: Exception) -> None:
        """Decides what a failure means for the next attempt."""
        where = f"watch of {self._store.kind}"
        self._retry_after = getattr(error, "retry_after", None) or 0.0
        match error:
            case Gone() | UnreadableEvent():
                self._version = ""
                log.info("%s: %s; listing again", where, error)
            case NoSuchKind():
                self._version = ""
                self._handle_missing_kind(where, error)
            case TimeoutError():
                # Not even a bookmark: the server may have been restored to an earlier resourceVersion than ours.
                self._version = self._version if self._lines > self._lines_before else ""
                log.info("%s: silent for %.0f s; connecting anew", where, self._options.silence)
            case KubeError():
                self._store.report_problem(self._scope, f"{where}: {error}")
                log.warning("%s: %s", where, error)
            case _:
                self._version = ""
                self._store.report_problem(self._scope, f"{where}: {error}")
                log.error("%s: %s", where, error, exc_info=error)

    def _handle_missing_kind(self, where: str, error: NoSuchKind) -> None:
        # A server that is starting does not serve custom resources yet: one miss is no proof.
        self._misses += 1
        if len(self._store) and self._misses < _MISSES:
            return
        if self._store.available:
            log.info("%s: waiting for the kind: %s", where, error)
        self._store.mark_kind_missing()

    def _pause(self) -> float:
        """Seconds before the next attempt: 0 after a stream with events, else exponential backoff."""
        if self._failures == 0:
            return 0.0
        options = self._options
        longest = options.longest_pause if self._store.available else options.missing_kind_pause
        pause: float = min(longest, options.first_pause * 2.0 ** min(self._failures - 1, 16))
        return max(pause * (0.5 + options.random() / 2), self._retry_after)
