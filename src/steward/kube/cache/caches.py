"""All caches of a process: one store for each rule, one watch for each of its selectors.

Equal rules share one store. When the API server does not serve a kind, its store is empty and not `available` until the
kind appears; the other stores do not wait for it. Stores that fill last are listed when all others are: after a restart
the controllers begin with a part of the objects, and not after the last of tens of thousands. A controller can delay
these lists until its first work is done, because they would compete with it for the event loop and the API server.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeVar, cast

from steward.kube.cache.reflector import Reflector, ReflectorOptions
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import HasMetadata

T = TypeVar("T", bound=HasMetadata)

LAST_LISTS_DELAY: Final = 3.0
"""The longest delay of the last lists: a replica that stands by never does the work that they wait for."""


class Caches:
    def __init__(self, client: Client, options: ReflectorOptions | None = None) -> None:
        self._client = client
        self._options = options or ReflectorOptions()
        self._stores: dict[CacheRule[Any], Store[Any]] = {}
        self._by_kind: dict[Kind, tuple[Store[Any], ...]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._first_work: list[Callable[[], Awaitable[None]]] = []
        self._started = False

    def store(self, rule: CacheRule[T]) -> Store[T]:
        """The store of this rule; a store that is created after `start` begins to fill at once."""
        store = self._stores.get(rule)
        if store is None:
            store = self._stores[rule] = Store(rule)
            self._by_kind[rule.kind] = (*self.stores_of(rule.kind), store)
            if self._started:
                self._reflect(store)
        return cast(Store[T], store)

    @property
    def stores(self) -> tuple[Store[Any], ...]:
        return tuple(self._stores.values())

    def stores_of(self, kind: Kind) -> tuple[Store[Any], ...]:
        return self._by_kind.get(kind, ())

    def fill_last_after(self, first_work: Callable[[], Awaitable[None]]) -> None:
        """Stores that fill last are listed when this has returned, or `LAST_LISTS_DELAY` after the other lists."""
        self._first_work.append(first_work)

    async def start(self) -> None:
        self._started = True
        last = [store for store in self.stores if store.rule.fills_last]
        for store in self.stores:
            if store not in last:
                self._reflect(store)
        self._tasks.append(asyncio.create_task(self._start_last(last), name="last lists"))

    async def _start_last(self, stores: list[Store[Any]]) -> None:
        await self.wait_first_synced()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_LISTS_DELAY):
                await asyncio.gather(*(work() for work in self._first_work))
        for store in stores:
            self._reflect(store)

    async def wait_synced(self) -> None:
        """Returns when every store holds its first list, except for kinds that the server does not serve."""
        for store in self.stores:
            await store.wait_synced()

    async def wait_first_synced(self) -> None:
        """The same without the stores that fill last."""
        for store in self.stores:
            if not store.rule.fills_last:
                await store.wait_synced()

    async def stop(self) -> None:
        self._started = False
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _reflect(self, store: Store[Any]) -> None:
        for number in range(len(store.scopes)):
            reflector = Reflector(self._client, store, number, self._options)
            name = f"watch {store.kind} {store.scopes[number].selector.text}".rstrip()
            self._tasks.append(asyncio.create_task(reflector.run(), name=name))
