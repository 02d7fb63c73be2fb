"""Events that tell a person what changed: written on transitions only, beside the reconcile, never in its way.

`emit` returns at once. What was said last about an object is not said again while nothing else was; what comes back
after something else becomes a series of the first event, as `events.k8s.io` means it, and a series is written at most
once a minute. Whoever cannot be told (a namespace that is being deleted, a missing right, a full queue) is counted:
an event is a courtesy, and a reconcile does not fail for one.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec import Struct

from steward.kube.client.client import Client
from steward.kube.clock import Clock
from steward.kube.errors import Forbidden, KubeError, NotFound
from steward.kube.objects.kinds import EVENT, Key, Manifest, Ref
from steward.kube.objects.patches import MergePatch
from steward.runtime.observability.metrics import Metrics
from steward.runtime.observability.redaction import redact_text
from steward.runtime.plan.steps import EventType

log = logging.getLogger(__name__)

QUEUED = 10_000
REMEMBERED = 20_000
SERIES_SECONDS = 60.0
NOTE_BYTES = 1024
NAME_LENGTH = 230
ACTION = "Reconcile"


class Note(NamedTuple):
    """What is said about one object; equal notes are one event."""

    ref: Ref
    uid: str
    type: EventType
    reason: str
    message: str


class Series(Struct):
    """An event that exists, and how often it was meant."""

    event: Ref
    count: int = 1
    written_at: float = 0.0


class Reporter(NamedTuple):
    """Who speaks: the operator, and which copy of it."""

    controller: str
    instance: str


class EventRecorder:
    def __init__(self, client: Client, reporter: Reporter, metrics: Metrics, clock: Clock) -> None:
        self._client = client
        self._reporter = reporter
        self._clock = clock
        self._results = metrics.events
        self._last: OrderedDict[tuple[Ref, str], Note] = OrderedDict()
        self._series: OrderedDict[Note, Series] = OrderedDict()
        self._queue: asyncio.Queue[Note] = asyncio.Queue(QUEUED)
        self._sender: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._sender = asyncio.create_task(self._send_all(), name="events")

    async def stop(self, seconds: float) -> None:
        """Sends what waits, for so long and no longer."""
        if self._sender is None:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._queue.join()
        except TimeoutError:
            log.warning("%d events were not sent before the end", self._queue.qsize())
        self._sender.cancel()
        await asyncio.gather(self._sender, return_exceptions=True)
        self._sender = None

    def emit(self, note: Note) -> None:
        """Says it, unless it was the last thing said about this object."""
        if self._is_unchanged(note):
            return
        try:
            self._queue.put_nowait(note)
        except asyncio.QueueFull:
            self._results.labels("dropped").inc()

    def _is_unchanged(self, note: Note) -> bool:
        about = (note.ref, note.uid)
        if self._last.get(about) == note:
            return True
        self._last[about] = note
        self._last.move_to_end(about)
        _forget_oldest(self._last)
        return False

    async def _send_all(self) -> None:
        while True:
            note = await self._queue.get()
            try:
                await self._send(note)
            except (Forbidden, NotFound) as error:
                self._refused(note, error)
            except KubeError as error:
                self._results.labels("failed").inc()
                log.warning("event %s about %s was not written: %s", note.reason, note.ref, error)
            finally:
                self._queue.task_done()

    def _refused(self, note: Note, error: KubeError) -> None:
        # Usual where a namespace is being deleted: nothing can be made in it, and nobody is left to read it.
        self._results.labels("refused").inc()
        log.debug("event %s about %s was refused: %s", note.reason, note.ref, error)

    async def _send(self, note: Note) -> None:
        known = self._series.get(note)
        if known is None or not await self._continued(known):
            await self._begin(note)

    async def _begin(self, note: Note) -> None:
        manifest = event_manifest(note, self._reporter, self._clock.now())
        await self._client.create(manifest)
        name = manifest["metadata"]
        self._series[note] = Series(Ref(EVENT, Key(name["namespace"], name["name"])))
        _forget_oldest(self._series)
        self._results.labels("created").inc()

    async def _continued(self, series: Series) -> bool:
        """Counts the event into its series; False when the server has forgotten it by now."""
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


def event_manifest(note: Note, reporter: Reporter, now: float) -> Manifest:
    key = note.ref.key
    # Events about cluster-scoped objects live in `default`, as everywhere in Kubernetes.
    namespace = key.namespace or "default"
    return {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {"name": f"{key.name[:NAME_LENGTH]}.{int(now * 1e9):x}", "namespace": namespace},
        "eventTime": micro_time(now),
        "reportingController": reporter.controller,
        "reportingInstance": reporter.instance[:128],
        "action": ACTION,
        "reason": note.reason[:128],
        "note": _shortened(redact_text(note.message)),
        "type": note.type.value,
        "regarding": _regarding(note),
    }


def _regarding(note: Note) -> dict[str, str]:
    kind, key = note.ref
    regarding = {"apiVersion": kind.api_version, "kind": kind.kind, "name": key.name, "uid": note.uid}
    return regarding | {"namespace": key.namespace} if key.namespace else regarding


def series_patch(count: int, now: float) -> MergePatch:
    return MergePatch({"series": {"count": count, "lastObservedTime": micro_time(now)}})


def micro_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _shortened(note: str) -> str:
    if len(note.encode()) <= NOTE_BYTES:
        return note
    return note.encode()[: NOTE_BYTES - 3].decode("utf-8", "ignore") + "…"


def _forget_oldest(memory: OrderedDict[Any, Any]) -> None:
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)
