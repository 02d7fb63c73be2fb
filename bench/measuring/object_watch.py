"""Watches the objects of one kind in one namespace with a bare watch, and waits until they match a predicate.

Only the fields that scenarios need are decoded, so that the watch affects the measurement as little as possible.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from bench.measuring.bare_client import BareClient

_DELETED = "DELETED"


class WatchedMeta(Struct, frozen=True):
    name: str = ""
    generation: int = 0


class WatchedPort(Struct, frozen=True):
    port: int = 0


class WatchedSpec(Struct, rename="camel", frozen=True):
    replicas: int | None = None
    ports: list[WatchedPort] = []
    template_generation: int = 0


class WatchedCondition(Struct, frozen=True):
    type: str = ""
    status: str = ""


class WatchedStatus(Struct, rename="camel", frozen=True):
    observed_generation: int = 0
    phase: str = ""
    ready_replicas: int = 0
    conditions: list[WatchedCondition] = []
    applied_template_generations: dict[str, int] = {}


class WatchedObject(Struct, frozen=True):
    metadata: WatchedMeta = WatchedMeta()
    spec: WatchedSpec = WatchedSpec()
    status: WatchedStatus = WatchedStatus()
    data: dict[str, str] = {}

    @property
    def is_current(self) -> bool:
        return self.status.observed_generation == self.metadata.generation


class _Event(Struct):
    type: str
    object: WatchedObject


ObjectPredicate = Callable[[WatchedObject], bool]

_event = msgspec.json.Decoder(_Event)


class ObjectWatch:
    def __init__(self, matches: ObjectPredicate) -> None:
        self._matches = matches
        self._latest: dict[str, WatchedObject] = {}
        self._matching: set[str] = set()
        self._mismatched: set[str] = set()
        self._matched_at: dict[str, float] = {}
        self._last_match = 0.0
        self._changed = asyncio.Event()

    def expect(self, matches: ObjectPredicate) -> None:
        """Replace the predicate."""
        self._matches = matches
        self._matching = {name for name, item in self._latest.items() if matches(item)}
        self._mismatched = set()
        self._matched_at = dict.fromkeys(self._matching, time.perf_counter())
        self._changed.set()

    async def until(self, count: int) -> None:
        """Wait until `count` objects match at the same time."""
        while len(self._matching) < count:
            self._changed.clear()
            await self._changed.wait()

    def match_times(self) -> list[float]:
        """When each object first matched since `expect`, on the clock of `time.perf_counter`."""
        return list(self._matched_at.values())

    def last_match(self) -> float:
        """When an object last began to match, on the same clock."""
        return self._last_match

    async def until_mismatched(self, names: Collection[str]) -> None:
        """Wait until each of these has mismatched, or was deleted, since `expect`: events follow the response."""
        while not self._mismatched.issuperset(names):
            self._changed.clear()
            await self._changed.wait()

    async def follow(self, bare: BareClient, path: str) -> None:
        """Watch, and restart when the server ends the stream, as it does when a CRD changes."""
        while True:
            async with bare.lines(f"{path}?watch=1") as lines:
                async for line in lines:
                    self._record_event(_event.decode(line))

    def _record_event(self, event: _Event) -> None:
        name = event.object.metadata.name
        if event.type != _DELETED and self._matches(event.object):
            if name not in self._matching:
                self._last_match = time.perf_counter()
            self._matching.add(name)
            self._matched_at.setdefault(name, self._last_match)
        else:
            self._matching.discard(name)
            self._mismatched.add(name)
        if event.type == _DELETED:
            self._latest.pop(name, None)
        else:
            self._latest[name] = event.object
        self._changed.set()


@asynccontextmanager
async def watch_objects(bare: BareClient, path: str, matches: ObjectPredicate) -> AsyncIterator[ObjectWatch]:
    found = ObjectWatch(matches)
    watching = asyncio.create_task(found.follow(bare, path))
    try:
        yield found
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def has_ready_pods(workload: WatchedObject) -> bool:
    return workload.is_current and workload.status.ready_replicas == workload.spec.replicas


def is_ready(custom: WatchedObject) -> bool:
    return custom.is_current and any(
        (condition.type, condition.status) == ("Ready", "True") for condition in custom.status.conditions
    )
