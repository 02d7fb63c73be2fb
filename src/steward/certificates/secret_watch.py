"""Watches the Secrets of a keeper for changes by others: edited, replaced or deleted.

The keeper's own writes arrive as watch events, too, sometimes after it has read a newer version: only versions newer
than the last one that it read or wrote count as changes.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from steward.kube.cache.caches import Caches
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange
from steward.kube.client.client import Client
from steward.kube.objects.kinds import SECRET
from steward.kube.objects.meta import Metadata


class ObservedVersion(NamedTuple):
    """The version of a Secret in its last watch event, and whether that was its deletion."""

    version: str
    is_gone: bool = False


def is_newer(observed: ObservedVersion, checked: str | None) -> bool:
    """Whether `observed` is newer than the version after the last check; `checked` is None if there was no Secret."""
    if checked is None:
        return not observed.is_gone
    return int(observed.version) >= int(checked) if observed.is_gone else int(observed.version) > int(checked)


class SecretWatch:
    def __init__(self, client: Client, namespace: str, names: Iterable[str]) -> None:
        self._caches = Caches(client)
        self._observed: dict[str, ObservedVersion] = {}
        self._checked: Mapping[str, str] | None = None
        self.has_changes = asyncio.Event()
        for name in names:
            rule = CacheRule(SECRET, Metadata, {namespace: ""}, field_selector=f"metadata.name={name}")
            self._caches.store(rule).subscribe(self._handle_change)

    async def start(self) -> None:
        await self._caches.start()

    async def stop(self) -> None:
        await self._caches.stop()

    def record_checked(self, checked: Mapping[str, str]) -> None:
        """Records the versions of the Secrets after a check, by name."""
        self._checked = dict(checked)
        self._update_has_changes()

    def _handle_change(self, change: ObjectChange[Metadata]) -> None:
        observed = change.new or change.old
        assert observed is not None, "a change has an old or a new object"
        self._observed[change.key.name] = ObservedVersion(
            observed.metadata.resource_version, change.new is None
        )
        self._update_has_changes()

    def _update_has_changes(self) -> None:
        checked = self._checked
        if checked is not None and any(
            is_newer(observed, checked.get(name)) for name, observed in self._observed.items()
        ):
            self.has_changes.set()
        else:
            self.has_changes.clear()
