"""A Tenant as it is on the server, whole: the caches keep only what is asked of the whole fleet."""

from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, structs

from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import SECRET, Key, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.tenant import AppliedObject, TenantSpec, TenantStatus
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.labels import TENANT_FINALIZER
from steward.tenants.objects.orphans import Applied, Owner, recorded
from steward.tenants.rendering.secret_payload import Payload

_spec = msgspec.json.Decoder(TenantSpec)
_status = msgspec.json.Decoder(TenantStatus)


class Document(Struct, frozen=True):
    metadata: ObjectMeta
    spec: TenantSpec
    status: TenantStatus = msgspec.field(default_factory=TenantStatus)

    @property
    def ref(self) -> Ref:
        return Ref(TENANT_KIND, Key(self.metadata.namespace, self.metadata.name))

    @property
    def owner(self) -> Owner:
        return Owner(self.metadata.name, self.metadata.namespace, self.metadata.uid)

    @property
    def is_leaving(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def is_held(self) -> bool:
        return TENANT_FINALIZER in self.metadata.finalizers

    @property
    def account(self) -> str:
        found = self.spec.service_account_name
        return "" if found is UNSET else found

    @property
    def records(self) -> list[AppliedObject]:
        return [] if self.status.applied is UNSET else self.status.applied

    def saying(self, status: dict[str, Any]) -> "Document":
        """With this status, which was just written."""
        return structs.replace(self, status=msgspec.convert(status, TenantStatus))

    @property
    def recorded(self) -> tuple[Applied, ...]:
        """All that was ever written down, by us and by the operator before us."""
        keys = self.status.applied_resources
        return recorded(self.records, () if keys is UNSET else keys)


class _Unread(Struct, frozen=True):
    metadata: ObjectMeta
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: msgspec.Raw = msgspec.Raw(b"{}")


class Unreadable(NamedTuple):
    """A Tenant whose spec is none, and why."""

    metadata: ObjectMeta
    why: str


async def read_document(client: Client, key: Key) -> Document | Unreadable | None:
    try:
        unread = await client.get(TENANT_KIND, key, _Unread)
    except NotFound:
        return None
    return opened(unread.metadata, unread.spec, unread.status)


def opened(metadata: ObjectMeta, spec: msgspec.Raw, status: msgspec.Raw) -> Document | Unreadable:
    try:
        return Document(metadata, _spec.decode(spec), _status.decode(status))
    except msgspec.ValidationError as error:
        return Unreadable(metadata, str(error))


class _Values(Struct):
    data: dict[str, str] = {}


async def read_payload(client: Client, document: Document) -> Payload | None:
    """The payload that this version of the Tenant speaks of; None while another one, or none, is there."""
    values = document.spec.values
    if values is UNSET:
        return Payload()
    key = Key(document.metadata.namespace, values.secret_name)
    try:
        found = await client.get(SECRET, key, _Values)
    except NotFound:
        return None
    payload = Payload.from_data(found.data)
    return payload if payload.digest == values.digest else None
