"""A complete Tenant: the informer cache holds only the fields that are read for the whole fleet."""

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
from steward.tenants.objects.desired import resources_of
from steward.tenants.objects.orphans import AppliedRef, TenantOwner, recorded_objects
from steward.tenants.rendering.secret_payload import SecretPayload
from steward.tenants.status.tenant import applied_fields, status_fields

_spec = msgspec.json.Decoder(TenantSpec)
_status = msgspec.json.Decoder(TenantStatus)


class TenantDocument(Struct, frozen=True):
    metadata: ObjectMeta
    spec: TenantSpec
    status: TenantStatus = msgspec.field(default_factory=TenantStatus)
    unreported: tuple[AppliedObject, ...] = ()
    """The records of a Tenant without a status."""

    @property
    def ref(self) -> Ref:
        return Ref(TENANT_KIND, Key(self.metadata.namespace, self.metadata.name))

    @property
    def owner(self) -> TenantOwner:
        return TenantOwner(self.metadata.name, self.metadata.namespace, self.metadata.uid)

    @property
    def is_terminating(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def has_finalizer(self) -> bool:
        return TENANT_FINALIZER in self.metadata.finalizers

    @property
    def service_account(self) -> str:
        name = self.spec.service_account_name
        return "" if name is UNSET else name

    @property
    def records(self) -> list[AppliedObject]:
        return [*self.unreported] if self.status.applied is UNSET else self.status.applied

    @property
    def is_reported(self) -> bool:
        """Whether this operator, or another one before it, has written a status. Until then the spec is the only record
        of what was applied: the registry controller does not change it before."""
        return bool(self.status.conditions or self.status.applied_resources)

    @property
    def recorded_status(self) -> TenantStatus:
        """The status, with the records that it does not have yet."""
        if not self.unreported:
            return self.status
        fields = {**status_fields(self.status), **applied_fields(self.unreported)}
        return msgspec.convert(fields, TenantStatus)

    def with_status(self, status: dict[str, Any]) -> "TenantDocument":
        """With this status, which was just written."""
        return structs.replace(self, status=msgspec.convert(status, TenantStatus))

    @property
    def recorded_objects(self) -> tuple[AppliedRef, ...]:
        """All objects that the status records, those of the Go operator included."""
        keys = self.status.applied_resources
        return recorded_objects(self.records, () if keys is UNSET else keys)


class _RawDocument(Struct, frozen=True):
    metadata: ObjectMeta
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: msgspec.Raw = msgspec.Raw(b"{}")


class UnreadableTenant(NamedTuple):
    """A Tenant whose spec or status cannot be decoded, and why."""

    metadata: ObjectMeta
    message: str


async def read_document(client: Client, key: Key) -> TenantDocument | UnreadableTenant | None:
    try:
        raw = await client.get(TENANT_KIND, key, _RawDocument)
    except NotFound:
        return None
    return decode_document(raw.metadata, raw.spec, raw.status)


def decode_document(
    metadata: ObjectMeta, spec: msgspec.Raw, status: msgspec.Raw
) -> TenantDocument | UnreadableTenant:
    try:
        return TenantDocument(metadata, _spec.decode(spec), _status.decode(status))
    except msgspec.ValidationError as error:
        return UnreadableTenant(metadata, str(error))


class _ValuesSecret(Struct):
    data: dict[str, str] = {}


async def read_payload(client: Client, document: TenantDocument) -> SecretPayload | None:
    """The payload that this version of the Tenant names by its digest; None while the Secret has another or is
    missing."""
    values = document.spec.values
    if values is UNSET:
        return SecretPayload()
    key = Key(document.metadata.namespace, values.secret_name)
    try:
        secret = await client.get(SECRET, key, _ValuesSecret)
    except NotFound:
        return None
    payload = SecretPayload.from_data(secret.data).of_resources(_secret_ids(document))
    return payload if payload.digest == values.digest else None


def _secret_ids(document: TenantDocument) -> list[str]:
    return [each.id for each in resources_of(document.spec) if each.spec.get("kind") == SECRET.kind]
