"""Watches the Secrets of a keeper, and says when one of them is not what the keeper left: edited, replaced or gone.

What the keeper itself wrote comes back as an event, too, sometimes after it has already read something newer: only what
is newer than the last thing it saw is news.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from steward.kube.cache.caches import Caches
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Change
from steward.kube.client.client import Client
from steward.kube.objects.kinds import SECRET
from steward.kube.objects.meta import Metadata


class Sighting(NamedTuple):
    """The version of a Secret that was last heard of, and whether that one is gone."""

    version: str
    is_gone: bool = False


def is_news(seen: Sighting, left: str | None) -> bool:
    """Whether `seen` came after the version that the keeper left; None when it found no Secret and made none."""
    if left is None:
        return not seen.is_gone
    return int(seen.version) >= int(left) if seen.is_gone else int(seen.version) > int(left)


class SecretWatch:
    def __init__(self, client: Client, namespace: str, names: Iterable[str]) -> None:
        self._caches = Caches(client)
        self._seen: dict[str, Sighting] = {}
        self._left: Mapping[str, str] | None = None
        self.has_news = asyncio.Event()
        for name in names:
            rule = CacheRule(SECRET, Metadata, {namespace: ""}, field_selector=f"metadata.name={name}")
            self._caches.store(rule).subscribe(self._heard)

    async def start(self) -> None:
        await self._caches.start()

    async def stop(self) -> None:
        await self._caches.stop()

    def settled(self, left: Mapping[str, str]) -> None:
        """The versions in which a check left the Secrets, by name."""
        self._left = dict(left)
        self._look()

    def _heard(self, change: Change[Metadata]) -> None:
        seen = change.new or change.old
        assert seen is not None, "a change has a before or an after"
        self._seen[change.key.name] = Sighting(seen.metadata.resource_version, change.new is None)
        self._look()

    def _look(self) -> None:
        left = self._left
        if left is not None and any(is_news(seen, left.get(name)) for name, seen in self._seen.items()):
            self.has_news.set()
        else:
            self.has_news.clear()
