"""Reads of tables, beside the reconciles: a slow or silent database keeps no worker, and no status, from its work."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.tenants.errors import BrokenRead, SourceError
from steward.tenants.sources.rows import Rows

log = logging.getLogger(__name__)


class Inputs(NamedTuple):
    """What a sync depends on beside the table."""

    term: object
    """The time in which this process leads: what was read in an earlier one is old news."""
    uid: str
    generation: int
    approval: str
    templates: object

    def describes_the_table_of(self, other: "Inputs") -> bool:
        """Whether rows that were read with the one mean the same for the other."""
        return self[:3] == other[:3]

    def gives_the_tenants_of(self, other: "Inputs") -> bool:
        """Whether the same rows become the same Tenants with the one as with the other."""
        return self._replace(approval="") == other._replace(approval="")


class Finished(NamedTuple):
    """How a read ended. `inputs` is what it was begun with: when that has changed, another one is due."""

    began_at: float
    inputs: Inputs
    rows: Rows | None
    error: SourceError | None


class Readings:
    """By registry, at most one read at a time."""

    def __init__(self, clock: Clock, wake: Callable[[Key], None]) -> None:
        self._clock = clock
        self._wake = wake
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._finished: dict[Key, Finished] = {}

    def is_under_way(self, key: Key) -> bool:
        return key in self._tasks or key in self._finished

    def has_ended(self, key: Key) -> bool:
        return key in self._finished

    def begin(self, key: Key, inputs: Inputs, read: Callable[[], Awaitable[Rows]]) -> None:
        self._tasks[key] = asyncio.create_task(self._run(key, inputs, read), name=f"read {key}")

    def take(self, key: Key) -> Finished | None:
        return self._finished.pop(key, None)

    def forget(self, key: Key) -> None:
        self._finished.pop(key, None)
        if task := self._tasks.pop(key, None):
            task.cancel()

    async def _run(self, key: Key, inputs: Inputs, read: Callable[[], Awaitable[Rows]]) -> None:
        began_at = self._clock.now()
        rows, error = None, None
        try:
            rows = await read()
        except SourceError as found:
            error = found
        except Exception as found:
            # A driver's own fault is a failed read like any other: nothing may be deleted because of it.
            log.exception("the rows of registry %s could not be read", key)
            error = BrokenRead(f"the read failed ({type(found).__name__}); the log of the operator says more")
        finally:
            if self._tasks.get(key) is asyncio.current_task():
                del self._tasks[key]
        self._finished[key] = Finished(began_at, inputs, rows, error)
        self._wake(key)
