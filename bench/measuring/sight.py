"""One kind of object in one namespace, seen by a bare watch: how many are as they should be, and when all of them are.

Only what scenarios ask about is decoded, so that looking costs the measured side as little as can be.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from bench.measuring.bare import BareClient

_DELETED = "DELETED"


class SeenMeta(Struct, frozen=True):
    name: str = ""
    generation: int = 0


class SeenPort(Struct, frozen=True):
    port: int = 0


class SeenSpec(Struct, rename="camel", frozen=True):
    replicas: int | None = None
    ports: list[SeenPort] = []
    template_generation: int = 0


class SeenCondition(Struct, frozen=True):
    type: str = ""
    status: str = ""


class SeenStatus(Struct, rename="camel", frozen=True):
    observed_generation: int = 0
    phase: str = ""
    ready_replicas: int = 0
    conditions: list[SeenCondition] = []
    applied_template_generations: dict[str, int] = {}


class Seen(Struct, frozen=True):
    metadata: SeenMeta = SeenMeta()
    spec: SeenSpec = SeenSpec()
    status: SeenStatus = SeenStatus()
    data: dict[str, str] = {}

    @property
    def is_current(self) -> bool:
        return self.status.observed_generation == self.metadata.generation


class _Event(Struct):
    type: str
    object: Seen


IsRight = Callable[[Seen], bool]

_event = msgspec.json.Decoder(_Event)


class Sight:
    def __init__(self, is_right: IsRight) -> None:
        self._is_right = is_right
        self._latest: dict[str, Seen] = {}
        self._right: set[str] = set()
        self._wrong: set[str] = set()
        self._news = asyncio.Event()

    def expect(self, is_right: IsRight) -> None:
        """From now on this is what is right."""
        self._is_right = is_right
        self._right = {name for name, seen in self._latest.items() if is_right(seen)}
        self._wrong = set()
        self._news.set()

    async def until(self, count: int) -> None:
        """Until so many are right at the same time."""
        while len(self._right) < count:
            self._news.clear()
            await self._news.wait()

    async def until_wrong_once(self, names: Collection[str]) -> None:
        """Until each of these was seen wrong, or gone, since `expect`: news of an edit come after its answer."""
        while not self._wrong.issuperset(names):
            self._news.clear()
            await self._news.wait()

    async def follow(self, bare: BareClient, path: str) -> None:
        """Again from the start when the server ends the stream, as it does whenever a custom kind is defined anew."""
        while True:
            async with bare.lines(f"{path}?watch=1") as lines:
                async for line in lines:
                    self._take(_event.decode(line))

    def _take(self, event: _Event) -> None:
        name = event.object.metadata.name
        if event.type != _DELETED and self._is_right(event.object):
            self._right.add(name)
        else:
            self._right.discard(name)
            self._wrong.add(name)
        if event.type == _DELETED:
            self._latest.pop(name, None)
        else:
            self._latest[name] = event.object
        self._news.set()


@asynccontextmanager
async def sight(bare: BareClient, path: str, is_right: IsRight) -> AsyncIterator[Sight]:
    found = Sight(is_right)
    watching = asyncio.create_task(found.follow(bare, path))
    try:
        yield found
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


def has_ready_pods(workload: Seen) -> bool:
    return workload.is_current and workload.status.ready_replicas == workload.spec.replicas


def says_ready(custom: Seen) -> bool:
    return custom.is_current and any(
        (condition.type, condition.status) == ("Ready", "True") for condition in custom.status.conditions
    )
