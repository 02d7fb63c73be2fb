"""Records Kubernetes Events in the background, so that no reconcile waits for one or fails because of one.

`emit` returns at once. An event equal to the last one of its object is dropped. An event that occurs again after
another one increments the series of the first (`events.k8s.io`), and a series is written at most once a minute. Events
that cannot be written (terminating namespace, missing permission, full queue) are counted in a metric.

Warnings are sent at once. Other events wait while the process is busy with writes, for half a minute at most: of ten
writes of a new Tenant one is an event, and while hundreds of Tenants are created nobody reads it before they are ready.
An Event has the time at which it was emitted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from msgspec import Struct

from steward.kube.bounded_cache import LruCache
from steward.kube.client.client import Client
from steward.kube.clock import Clock
from steward.kube.errors import Forbidden, KubeError, NotFound
from steward.kube.objects.kinds import EVENT, Key, Manifest, Ref
from steward.kube.objects.patches import MergePatch
from steward.runtime.observability.metrics import Metrics
from steward.runtime.observability.redaction import redact_text
from steward.runtime.plan.steps import EventType

log = logging.getLogger(__name__)

QUEUE_CAPACITY = 10_000
CACHE_CAPACITY = 20_000
SERIES_SECONDS = 60.0
MAX_DELAY_SECONDS = 30.0
"""How long an event that is no warning waits for the end of other writes."""
CHECK_SECONDS = 0.1
NOTE_BYTES = 1024
NAME_LENGTH = 230
ACTION = "Reconcile"


class ObjectEvent(NamedTuple):
    """An event of one object; equal ones belong to the same series."""

    ref: Ref
    uid: str
    type: EventType
    reason: str
    message: str


class QueuedEvent(NamedTuple):
    event: ObjectEvent
    emitted_at: float
    """Wall clock."""
    send_until: float
    """Monotonic clock."""


class EventTimes(NamedTuple):
    """Wall clock; the name of an Event has the time of its request, which no other Event of its object has."""

    emitted_at: float
    sent_at: float


class EventSeries(Struct):
    """An Event on the server, and how often it has occurred."""

    event: Ref
    count: int = 1
    written_at: float = 0.0


class Reporter(NamedTuple):
    """The reporting controller: the operator and its replica."""

    controller: str
    instance: str


Queue = asyncio.Queue[QueuedEvent]


def _never() -> bool:
    return False


class EventRecorder:
    """`is_busy` says whether the process has more urgent writes than events."""

    def __init__(
        self,
        client: Client,
        reporter: Reporter,
        metrics: Metrics,
        clock: Clock,
        is_busy: Callable[[], bool] = _never,
    ) -> None:
        self._client = client
        self._reporter = reporter
        self._clock = clock
        self._is_busy = is_busy
        self._results = metrics.events
        self._last: LruCache[tuple[Ref, str], ObjectEvent] = LruCache(CACHE_CAPACITY)
        self._series: LruCache[ObjectEvent, EventSeries] = LruCache(CACHE_CAPACITY)
        self._warnings: Queue = asyncio.Queue(QUEUE_CAPACITY)
        self._others: Queue = asyncio.Queue(QUEUE_CAPACITY)
        self._stopping = asyncio.Event()
        self._senders: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._senders = [
            asyncio.create_task(self._send_all(self._warnings), name="warnings"),
            asyncio.create_task(self._send_all(self._others), name="events"),
        ]

    async def stop(self, seconds: float) -> None:
        """Sends the queued events, for at most this long."""
        if not self._senders:
            return
        self._stopping.set()
        try:
            async with asyncio.timeout(seconds):
                await self._warnings.join()
                await self._others.join()
        except TimeoutError:
            unsent = self._warnings.qsize() + self._others.qsize()
            log.warning("%d events were not sent before the process stopped", unsent)
        for sender in self._senders:
            sender.cancel()
        await asyncio.gather(*self._senders, return_exceptions=True)
        self._senders = []

    def emit(self, event: ObjectEvent) -> None:
        """Queues the event, unless it equals the last event of its object."""
        if self._is_unchanged(event):
            return
        is_warning = event.type is EventType.WARNING
        delay = 0.0 if is_warning else MAX_DELAY_SECONDS
        queued = QueuedEvent(event, self._clock.now(), self._clock.monotonic() + delay)
        try:
            (self._warnings if is_warning else self._others).put_nowait(queued)
        except asyncio.QueueFull:
            self._results.labels("dropped").inc()

    def _is_unchanged(self, event: ObjectEvent) -> bool:
        identity = (event.ref, event.uid)
        if self._last.get(identity) == event:
            return True
        self._last.set(identity, event)
        return False

    async def _send_all(self, queue: Queue) -> None:
        while True:
            queued = await queue.get()
            event = queued.event
            await self._wait_for_writes(queued)
            try:
                await self._send(queued)
            except (Forbidden, NotFound) as error:
                self._count_rejected(event, error)
            except KubeError as error:
                self._results.labels("failed").inc()
                log.warning("event %s of %s was not written: %s", event.reason, event.ref, error)
            finally:
                queue.task_done()

    async def _wait_for_writes(self, queued: QueuedEvent) -> None:
        while self._is_busy() and self._clock.monotonic() < queued.send_until and not self._stopping.is_set():
            await self._clock.sleep(CHECK_SECONDS)

    def _count_rejected(self, event: ObjectEvent, error: KubeError) -> None:
        # Usual in a terminating namespace: the API server rejects new objects there.
        self._results.labels("refused").inc()
        log.debug("event %s of %s was rejected: %s", event.reason, event.ref, error)

    async def _send(self, queued: QueuedEvent) -> None:
        series = self._series.get(queued.event)
        if series is None or not await self._increment(series, queued.emitted_at):
            await self._create(queued.event, queued.emitted_at)

    async def _create(self, event: ObjectEvent, emitted_at: float) -> None:
        manifest = event_manifest(event, self._reporter, EventTimes(emitted_at, self._clock.now()))
        await self._client.create(manifest)
        metadata = manifest["metadata"]
        self._series.set(event, EventSeries(Ref(EVENT, Key(metadata["namespace"], metadata["name"]))))
        self._results.labels("created").inc()

    async def _increment(self, series: EventSeries, emitted_at: float) -> bool:
        """Counts an occurrence; False if the Event has expired on the server."""
        series.count += 1
        now = self._clock.monotonic()
        if series.written_at and now - series.written_at < SERIES_SECONDS:
            self._results.labels("counted").inc()
            return True
        try:
            await self._client.patch(series.event, series_patch(series.count, emitted_at))
        except NotFound:
            return False
        series.written_at = now
        self._results.labels("series").inc()
        return True


def event_manifest(event: ObjectEvent, reporter: Reporter, times: EventTimes) -> Manifest:
    key = event.ref.key
    # Events of cluster-scoped objects are in `default`, as everywhere in Kubernetes.
    namespace = key.namespace or "default"
    return {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {
            "name": f"{key.name[:NAME_LENGTH]}.{int(times.sent_at * 1e9):x}",
            "namespace": namespace,
        },
        "eventTime": micro_time(times.emitted_at),
        "reportingController": reporter.controller,
        "reportingInstance": reporter.instance[:128],
        "action": ACTION,
        "reason": event.reason[:128],
        "note": _truncated(redact_text(event.message)),
        "type": event.type.value,
        "regarding": _regarding(event),
    }


def _regarding(event: ObjectEvent) -> dict[str, str]:
    kind, key = event.ref
    regarding = {"apiVersion": kind.api_version, "kind": kind.kind, "name": key.name, "uid": event.uid}
    return regarding | {"namespace": key.namespace} if key.namespace else regarding


def series_patch(count: int, now: float) -> MergePatch:
    return MergePatch({"series": {"count": count, "lastObservedTime": micro_time(now)}})


def micro_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _truncated(note: str) -> str:
    if len(note.encode()) <= NOTE_BYTES:
        return note
    return note.encode()[: NOTE_BYTES - 3].decode("utf-8", "ignore") + "…"
