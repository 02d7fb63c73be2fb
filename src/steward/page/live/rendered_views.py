"""Renders views as sections of JSON. Streams of the same view share what was rendered for a snapshot."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from steward.cli.inspect.selection import missing_message
from steward.kube.client.client import Client
from steward.kube.errors import KubeError, NotFound
from steward.kube.objects.kinds import Key, Manifest
from steward.page.inventory.inventory import TENANT
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.action import digest_of
from steward.page.models.actions import available_actions
from steward.page.models.addresses import ViewAddress, ViewKind
from steward.page.models.cluster import cluster_sections
from steward.page.models.now import now_sections
from steward.page.models.registry import registry_sections
from steward.page.models.tenant import tenant_sections

_KEPT_VIEWS: Final = 64
_KEPT_TENANTS: Final = 32
_WORDS: Final = {
    ViewKind.CLUSTER: "multigrescluster",
    ViewKind.REGISTRY: "tenantregistry",
    ViewKind.TENANT: "tenant",
}
MISSING: Final = "missing"
READING: Final = "reading"
"""The section that a view has until the first lists have been read."""
ACTIONS: Final = "actions"
"""The section with the digest of the possible actions: the front end reads the actions again when it changes."""


class RenderedView(NamedTuple):
    """JSON by section; `digest` identifies the whole content."""

    version: int
    sections: dict[str, bytes]
    digest: str


class ViewRenderer:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._views: dict[ViewAddress, RenderedView] = {}
        self._tenants: dict[tuple[Key, str], Manifest] = {}

    async def render(self, snapshot: Snapshot, address: ViewAddress) -> RenderedView:
        known = self._views.get(address)
        if known is not None and known.version == snapshot.version:
            return known
        found = await self._sections(snapshot, address)
        shown = _missing(address) if found is None else {**found, ACTIONS: _actions_digest(snapshot, address)}
        rendered = encode_sections(snapshot.version, {**shown, **_reading(snapshot)})
        self._views.pop(address, None)
        self._views[address] = rendered
        _drop_oldest(self._views, _KEPT_VIEWS)
        return rendered

    async def _sections(self, snapshot: Snapshot, address: ViewAddress) -> dict[str, Any] | None:
        match address.kind:
            case ViewKind.NOW:
                return now_sections(snapshot)
            case ViewKind.CLUSTER:
                return cluster_sections(snapshot, address.key)
            case ViewKind.REGISTRY:
                return registry_sections(snapshot, address)
            case ViewKind.TENANT:
                tenant = await self._tenant(snapshot, address.key)
                return None if tenant is None else tenant_sections(snapshot, address.key, tenant)

    async def _tenant(self, snapshot: Snapshot, key: Key) -> Manifest | None:
        """The whole Tenant, read when its version is new: the inventory has only its counts, and not even them while
        the first list is read."""
        facts = snapshot.inventory.tenants.get(key)
        if facts is None and not snapshot.is_reading:
            return None
        version = facts.version if facts else ""
        known = self._tenants.get((key, version))
        if known is not None:
            return known
        try:
            tenant = await self._client.get(TENANT, key)
        except NotFound:
            return None
        except KubeError:
            return next((each for (kept, _), each in self._tenants.items() if kept == key), None)
        self._tenants[key, version] = tenant
        _drop_oldest(self._tenants, _KEPT_TENANTS)
        return tenant


def _actions_digest(snapshot: Snapshot, address: ViewAddress) -> str:
    return digest_of(available_actions(snapshot, address, datetime.fromtimestamp(snapshot.now, UTC)))


def _drop_oldest(kept: dict[Any, Any], most: int) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]


def _reading(snapshot: Snapshot) -> dict[str, Any]:
    return {READING: {"objects": snapshot.objects_read}} if snapshot.is_reading else {}


def _missing(address: ViewAddress) -> dict[str, Any]:
    what = f"{_WORDS.get(address.kind, '')}/{address.key.name}"
    return {MISSING: missing_message(what, address.key.namespace, [])}


def encode_sections(version: int, sections: dict[str, Any]) -> RenderedView:
    encoded = {name: msgspec.json.encode(section) for name, section in sections.items()}
    digest = hashlib.blake2b(b"\0".join(encoded.values()), digest_size=12).hexdigest()
    return RenderedView(version, encoded, digest)
