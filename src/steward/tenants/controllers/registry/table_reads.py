"""Reads tables in the background: a slow or silent database blocks no worker and no status."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key, Ref
from steward.runtime.observability import tracing
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.errors import BrokenRead, SourceError
from steward.tenants.sources.rows import Rows

log = logging.getLogger(__name__)


class SyncInputs(NamedTuple):
    """What a sync depends on beside the table: a change of it does not wait for the next interval."""

    term: int
    """Counts the times that this process has become the leader: rows that were read in an earlier term may be stale."""
    uid: str
    generation: int
    approval: str
    templates: object
    request: str = ""
    """The value of the annotation by which a user asks for a read now."""

    def reads_same_table(self, other: "SyncInputs") -> bool:
        """Whether rows that were read with these inputs are those of the other inputs, too."""
        return self[:3] == other[:3]

    def makes_same_tenants(self, other: "SyncInputs") -> bool:
        """Whether the same rows make the same Tenants with both inputs."""
        return self._replace(approval="", request="") == other._replace(approval="", request="")


class FinishedRead(NamedTuple):
    """The result of a read. `inputs` are those at its start: when they have changed, another read is due."""

    started_at: float
    inputs: SyncInputs
    rows: Rows | None
    error: SourceError | None
    seconds: float = 0.0
    """How long the read took."""


class TableReads:
    """At most one read at a time for each registry."""

    def __init__(self, clock: Clock, wake: Callable[[Key], None]) -> None:
        self._clock = clock
        self._wake = wake
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._finished: dict[Key, FinishedRead] = {}
        self._timers: dict[Key, asyncio.Task[None]] = {}

    def is_pending(self, key: Key) -> bool:
        return key in self._tasks or key in self._finished

    def is_finished(self, key: Key) -> bool:
        return key in self._finished

    def start(self, key: Key, inputs: SyncInputs, read: Callable[[], Awaitable[Rows]]) -> None:
        self._tasks[key] = asyncio.create_task(self._run(key, inputs, read), name=f"read {key}")

    def take_finished(self, key: Key) -> FinishedRead | None:
        return self._finished.pop(key, None)

    def forget(self, key: Key) -> None:
        self._finished.pop(key, None)
        for tasks in (self._tasks, self._timers):
            if task := tasks.pop(key, None):
                task.cancel()

    def wake_after(self, key: Key, seconds: float) -> None:
        """Wakes the registry when its next read is due, also while the work queue delays it after a failure."""
        if key not in self._timers:
            self._timers[key] = asyncio.create_task(
                self._wake_after(key, seconds), name=f"next read of {key}"
            )

    async def _wake_after(self, key: Key, seconds: float) -> None:
        await self._clock.sleep(max(0.0, seconds))
        del self._timers[key]
        self._wake(key)

    async def _run(self, key: Key, inputs: SyncInputs, read: Callable[[], Awaitable[Rows]]) -> None:
        started_at, began = self._clock.now(), self._clock.monotonic()
        rows, error = None, None
        try:
            with tracing.span("TenantRegistry.ReadTable", Ref(REGISTRY, key)):
                rows = await read()
        except SourceError as found:
            error = found
        except Exception as found:
            # An error of the driver is a failed read like any other: it must not delete anything.
            log.exception("the rows of registry %s could not be read", key)
            error = BrokenRead(
                f"the read failed ({type(found).__name__}); the operator's log has the details"
            )
        finally:
            if self._tasks.get(key) is asyncio.current_task():
                del self._tasks[key]
        seconds = self._clock.monotonic() - began
        self._finished[key] = FinishedRead(started_at, inputs, rows, error, seconds)
        self._wake(key)
