"""Events of the namespaces that somebody looks at. A namespace is watched while a view of it is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec

from steward.cli.object_events import ObjectEvent, read_event
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.page.live.object_watches import ObjectWatches
from steward.page.live.watch_rules import event_rule

KEPT: Final = 5_000
"""Events of a namespace that are kept: the latest ones."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class EventFeed:
    def __init__(self, client: Client, on_change: Callable[[], None]) -> None:
        self._client = client
        self._on_change = on_change
        self._watches: dict[str, ObjectWatches] = {}
        self._readers: Counter[str] = Counter()
        self._events: dict[str, dict[Key, ObjectEvent]] = {}

    def events(self, namespace: str) -> Iterable[ObjectEvent]:
        return tuple(self._events.get(namespace, {}).values())

    @asynccontextmanager
    async def follow(self, namespace: str) -> AsyncIterator[None]:
        self._readers[namespace] += 1
        if namespace not in self._watches:
            await self._start(namespace)
        try:
            yield
        finally:
            self._readers[namespace] -= 1
            if not self._readers[namespace]:
                await self._stop(namespace)

    async def stop(self) -> None:
        for namespace in list(self._watches):
            await self._stop(namespace)

    async def _start(self, namespace: str) -> None:
        found = self._events[namespace] = {}

        def add_event(_: Kind, body: bytes) -> None:
            event = _decode(body)
            found[Key(namespace, event["metadata"]["name"])] = read_event(event)
            if len(found) > KEPT:
                del found[next(iter(found))]
            self._on_change()

        def remove(ref: Ref) -> None:
            found.pop(ref.key, None)

        watches = self._watches[namespace] = ObjectWatches(
            self._client, [event_rule(namespace)], add_event, remove
        )
        await watches.start()

    async def _stop(self, namespace: str) -> None:
        watches = self._watches.pop(namespace, None)
        self._events.pop(namespace, None)
        if watches is not None:
            await watches.stop()
