"""Records Kubernetes Events in the background, so that no reconcile waits for one or fails because of one.

`emit` returns at once. An event equal to the last one of its object is dropped. An event that occurs again after
another one increments the series of the first (`events.k8s.io`), and a series is written at most once a minute. Events
that cannot be written (terminating namespace, missing permission, full queue) are counted in a metric.
"""

from __future__ import annotations

import asyncio
import logging
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


class EventSeries(Struct):
    """An Event on the server, and how often it has occurred."""

    event: Ref
    count: int = 1
    written_at: float = 0.0


class Reporter(NamedTuple):
    """The reporting controller: the operator and its replica."""

    controller: str
    instance: str


class EventRecorder:
    def __init__(self, client: Client, reporter: Reporter, metrics: Metrics, clock: Clock) -> None:
        self._client = client
        self._reporter = reporter
        self._clock = clock
        self._results = metrics.events
        self._last: LruCache[tuple[Ref, str], ObjectEvent] = LruCache(CACHE_CAPACITY)
        self._series: LruCache[ObjectEvent, EventSeries] = LruCache(CACHE_CAPACITY)
        self._queue: asyncio.Queue[ObjectEvent] = asyncio.Queue(QUEUE_CAPACITY)
        self._sender: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._sender = asyncio.create_task(self._send_all(), name="events")

    async def stop(self, seconds: float) -> None:
        """Sends the queued events, for at most this long."""
        if self._sender is None:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._queue.join()
        except TimeoutError:
            log.warning("%d events were not sent before the process stopped", self._queue.qsize())
        self._sender.cancel()
        await asyncio.gather(self._sender, return_exceptions=True)
        self._sender = None

    def emit(self, event: ObjectEvent) -> None:
        """Queues the event, unless it equals the last event of its object."""
        if self._is_unchanged(event):
            return
        try:
            self._queue.put_nowait(event)
        except asyncio.QueueFull:
            self._results.labels("dropped").inc()

    def _is_unchanged(self, event: ObjectEvent) -> bool:
        identity = (event.ref, event.uid)
        if self._last.get(identity) == event:
            return True
        self._last.set(identity, event)
        return False

    async def _send_all(self) -> None:
        while True:
            event = await self._queue.get()
            try:
                await self._send(event)
            except (Forbidden, NotFound) as error:
                self._count_rejected(event, error)
            except KubeError as error:
                self._results.labels("failed").inc()
                log.warning("event %s of %s was not written: %s", event.reason, event.ref, error)
            finally:
                self._queue.task_done()

    def _count_rejected(self, event: ObjectEvent, error: KubeError) -> None:
        # Usual in a terminating namespace: the API server rejects new objects there.
        self._results.labels("refused").inc()
        log.debug("event %s of %s was rejected: %s", event.reason, event.ref, error)

    async def _send(self, event: ObjectEvent) -> None:
        series = self._series.get(event)
        if series is None or not await self._increment(series):
            await self._create(event)

    async def _create(self, event: ObjectEvent) -> None:
        manifest = event_manifest(event, self._reporter, self._clock.now())
        await self._client.create(manifest)
        metadata = manifest["metadata"]
        self._series.set(event, EventSeries(Ref(EVENT, Key(metadata["namespace"], metadata["name"]))))
        self._results.labels("created").inc()

    async def _increment(self, series: EventSeries) -> bool:
        """Counts an occurrence; False if the Event has expired on the server."""
        series.count += 1
        now = self._clock.monotonic()
        if series.written_at and now - series.written_at < SERIES_SECONDS:
            self._results.labels("counted").inc()
            return True
        try:
            await self._client.patch(series.event, series_patch(series.count, self._clock.now()))
        except NotFound:
            return False
        series.written_at = now
        self._results.labels("series").inc()
        return True


def event_manifest(event: ObjectEvent, reporter: Reporter, now: float) -> Manifest:
    key = event.ref.key
    # Events of cluster-scoped objects are in `default`, as everywhere in Kubernetes.
    namespace = key.namespace or "default"
    return {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {"name": f"{key.name[:NAME_LENGTH]}.{int(now * 1e9):x}", "namespace": namespace},
        "eventTime": micro_time(now),
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
