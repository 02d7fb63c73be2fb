"""Caches complete Tenants and their payloads, compressed, as the watches receive them, so a reconcile needs no request.

A cached Tenant is used only in the version that the informer cache has, a payload only if it has the digest that the
Tenant names. Everything else is read from the API server. Of the stores that it listens to, only Tenants of this part
of the fleet are kept: the stores of part 0 hold others, too, which another process applies.
"""

from typing import Any, Final

import msgspec
from msgspec import Struct

from steward.kube.cache.store import ObjectChange, Store
from steward.kube.cache.view_decoder import Body
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, key_of
from steward.tenants.api.scalars import UNSET
from steward.tenants.cache_rules import WHOLE_FLEET, FleetPart
from steward.tenants.controllers.common.compressed_cache import CompressedCache
from steward.tenants.controllers.common.document import (
    TenantDocument,
    UnreadableTenant,
    decode_document,
    read_document,
    read_payload,
)
from steward.tenants.names import values_secret
from steward.tenants.rendering.secret_payload import SecretPayload
from steward.tenants.views import Tenant, is_named_as_values

PAYLOADS: Final = "payloads"


class _RawTenant(Struct):
    """What a Tenant holds beside its metadata, undecoded."""

    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: msgspec.Raw = msgspec.Raw(b"{}")


class _SecretData(Struct):
    data: dict[str, str] = {}


_raw_tenants = msgspec.json.Decoder(_RawTenant)
_secret_data = msgspec.json.Decoder(_SecretData)


class DocumentCache:
    def __init__(self, client: Client, tenants: Store[Tenant], part: FleetPart = WHOLE_FLEET) -> None:
        self._client = client
        self._tenants = tenants
        self._part = part
        self._documents = CompressedCache()
        self._payloads = CompressedCache()
        tenants.add_body_listener(self._add_tenant)
        tenants.subscribe(lambda change: _forget_deleted(self._documents, change))

    def watch_payloads(self, secrets: Store[Any]) -> None:
        secrets.add_body_listener(self._add_secret)
        secrets.subscribe(lambda change: _forget_deleted(self._payloads, change))

    def add_payload(self, tenant: Key, payload: SecretPayload) -> None:
        """Adds a payload that is about to be written, so its Tenant does not wait until the watch receives the
        Secret."""
        if payload.entries and self._part.has_named(tenant.name):
            self._set_payload(Key(tenant.namespace, values_secret(tenant.name)), payload)

    async def get_document(self, key: Key) -> TenantDocument | UnreadableTenant | None:
        tenant = self._tenants.get(key)
        if tenant is None:
            return None
        cached = self._documents.get(key, tenant.metadata.resource_version)
        if cached is None:
            return await read_document(self._client, key)
        raw = _raw_tenants.decode(cached)
        return decode_document(tenant.metadata, raw.spec, raw.status)

    async def get_payload(self, document: TenantDocument) -> SecretPayload | None:
        values = document.spec.values
        if values is UNSET:
            return SecretPayload()
        cached = self._payloads.get(Key(document.metadata.namespace, values.secret_name), values.digest)
        if cached is None:
            return await read_payload(self._client, document)
        return SecretPayload(msgspec.json.decode(cached, type=dict[str, bytes]))

    def _add_tenant(self, tenant: Tenant, body: Body) -> None:
        if not self._part.has(tenant.metadata):
            self._documents.forget(key_of(tenant))  # it belonged to this part before its label was edited
            return
        family = f"{tenant.metadata.namespace}/{tenant.spec.template_ref}/{tenant.spec.template_generation}"
        raw = msgspec.json.encode(_raw_tenants.decode(body))
        self._documents.set(key_of(tenant), tenant.metadata.resource_version, raw, family)

    def _add_secret(self, secret: HasMetadata, body: Body) -> None:
        meta = secret.metadata
        if is_named_as_values(meta) and self._part.has(meta):
            self._set_payload(key_of(secret), SecretPayload.from_data(_secret_data.decode(body).data))

    def _set_payload(self, key: Key, payload: SecretPayload) -> None:
        self._payloads.set(key, payload.digest, msgspec.json.encode(dict(payload.entries)), PAYLOADS)


def _forget_deleted(cache: CompressedCache, change: ObjectChange[Any]) -> None:
    if change.new is None:
        cache.forget(change.key)
