"""Runs the watches of some rules, and gives every change to callbacks. The stores keep identifying metadata only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from types import MappingProxyType
from typing import Final

from msgspec.structs import force_setattr

from steward.kube.cache.caches import Caches
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.cache.view_decoder import Body
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Kind, Ref
from steward.kube.objects.meta import Metadata

_NOTHING: Final = MappingProxyType[str, str]({})

OnBody = Callable[[Kind, bytes], None]
OnDeleted = Callable[[Ref], None]


class ObjectWatches:
    def __init__(
        self, client: Client, rules: Iterable[CacheRule[Metadata]], on_body: OnBody, on_deleted: OnDeleted
    ) -> None:
        self._caches = Caches(client)
        self._on_body = on_body
        self._on_deleted = on_deleted
        for rule in rules:
            store = self._caches.store(rule)
            store.add_body_listener(partial(self._receive, rule.kind))
            store.subscribe(self._forget)

    async def start(self) -> None:
        await self._caches.start()

    async def wait_synced(self) -> None:
        await self._caches.wait_synced()

    async def stop(self) -> None:
        await self._caches.stop()

    @property
    def problems(self) -> tuple[str, ...]:
        """Why watches fail, as messages."""
        return tuple(dict.fromkeys(store.problem for store in self._stores if store.problem))

    @property
    def unread(self) -> tuple[str, ...]:
        """The kinds whose first list has not ended, as messages."""
        waited_for = (store for store in self._stores if store.available and not store.problem)
        kinds = (store.kind.kind for store in waited_for if not store.synced)
        return tuple(f"The list of {kind} has not been read yet." for kind in dict.fromkeys(kinds))

    @property
    def _stores(self) -> tuple[Store[Metadata], ...]:
        return self._caches.stores

    def _receive(self, kind: Kind, view: Metadata, body: Body) -> None:
        self._on_body(kind, bytes(body))
        _strip(view)

    def _forget(self, change: ObjectChange[Metadata]) -> None:
        if change.new is None:
            self._on_deleted(Ref(change.kind, change.key))


def _strip(view: Metadata) -> None:
    """The store compares versions and uids; of thousands of objects the rest would only take memory."""
    meta = view.metadata
    for name in ("labels", "annotations"):
        force_setattr(meta, name, _NOTHING)
    for name in ("owner_references", "finalizers"):
        force_setattr(meta, name, ())
    force_setattr(meta, "namespace", sys.intern(meta.namespace))
