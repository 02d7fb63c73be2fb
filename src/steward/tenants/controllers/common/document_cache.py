"""Tenants and their payload, whole and packed, as the watches show them: a look at a Tenant asks the server nothing.

What is on the shelf is used only in the very version that the cache shows, a payload only if it is the one that the
Tenant names by its digest. Whatever is not there, or not any more, is read from the server.
"""

from typing import Any, Final

import msgspec
from msgspec import Struct

from steward.kube.cache.store import Change, Store
from steward.kube.cache.view_decoder import Body
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, key_of
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.common.compressed_cache import Archive
from steward.tenants.controllers.common.document import (
    Document,
    Unreadable,
    opened,
    read_document,
    read_payload,
)
from steward.tenants.labels import TENANT
from steward.tenants.names import values_secret
from steward.tenants.rendering.secret_payload import Payload
from steward.tenants.views import Tenant

PAYLOADS: Final = "payloads"


class _Parts(Struct):
    """What a Tenant holds beside its metadata, unread."""

    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: msgspec.Raw = msgspec.Raw(b"{}")


class _Data(Struct):
    data: dict[str, str] = {}


_parts = msgspec.json.Decoder(_Parts)
_data = msgspec.json.Decoder(_Data)


class Shelf:
    def __init__(self, client: Client, tenants: Store[Tenant]) -> None:
        self._client = client
        self._tenants = tenants
        self._documents = Archive()
        self._payloads = Archive()
        tenants.show_bodies(self._take_tenant)
        tenants.subscribe(lambda change: _forget_gone(self._documents, change))

    def watch_payloads(self, secrets: Store[Any]) -> None:
        secrets.show_bodies(self._take_secret)
        secrets.subscribe(lambda change: _forget_gone(self._payloads, change))

    def hand_over(self, tenant: Key, payload: Payload) -> None:
        """A payload that is about to be written: its Tenant need not wait for the Secret to come back by a watch."""
        if payload.entries:
            self._keep_payload(Key(tenant.namespace, values_secret(tenant.name)), payload)

    async def document(self, key: Key) -> Document | Unreadable | None:
        seen = self._tenants.get(key)
        if seen is None:
            return None
        kept = self._documents.get(key, seen.metadata.resource_version)
        if kept is None:
            return await read_document(self._client, key)
        parts = _parts.decode(kept)
        return opened(seen.metadata, parts.spec, parts.status)

    async def payload(self, document: Document) -> Payload | None:
        values = document.spec.values
        if values is UNSET:
            return Payload()
        kept = self._payloads.get(Key(document.metadata.namespace, values.secret_name), values.digest)
        if kept is None:
            return await read_payload(self._client, document)
        return Payload(msgspec.json.decode(kept, type=dict[str, bytes]))

    def _take_tenant(self, tenant: Tenant, body: Body) -> None:
        family = f"{tenant.metadata.namespace}/{tenant.spec.template_ref}/{tenant.spec.template_generation}"
        parts = msgspec.json.encode(_parts.decode(body))
        self._documents.keep(key_of(tenant), tenant.metadata.resource_version, parts, family)

    def _take_secret(self, secret: HasMetadata, body: Body) -> None:
        meta = secret.metadata
        if meta.name == values_secret(meta.labels.get(TENANT, "")):
            self._keep_payload(key_of(secret), Payload.from_data(_data.decode(body).data))

    def _keep_payload(self, key: Key, payload: Payload) -> None:
        self._payloads.keep(key, payload.digest, msgspec.json.encode(dict(payload.entries)), PAYLOADS)


def _forget_gone(archive: Archive, change: Change[Any]) -> None:
    if change.new is None:
        archive.forget(change.key)
