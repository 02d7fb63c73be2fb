"""The manifest of a Tenant and of its values Secret. Pure.

Every default of the schema is written out: defaults that the API server adds inside an atomic list would otherwise be
a difference between the live and the desired object.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import structs

from steward.kube.objects.kinds import SECRET, Manifest
from steward.kube.objects.meta import ObjectMeta
from steward.tenants import labels
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.errors import RenderError
from steward.tenants.names import TenantKey, bucket, label_value, values_secret
from steward.tenants.rendering.prepared_template import PreparedResource
from steward.tenants.rendering.render import RenderedTenant, TenantIdentity
from steward.tenants.sources.rows import Row

MESSAGE_LENGTH: Final = 4000
"""Of a render failure: errors of templates quote values of the row, which may be long."""
_DIGEST_BYTES: Final = 16
_FIELDS: Final = tuple((field.name, field.encode_name) for field in structs.fields(TResource))


class ActiveTemplate(NamedTuple):
    """The parsed active revision of a template."""

    name: str
    generation: int
    version: str
    """Identifies the content and how it is rendered: equal versions render equal objects."""
    spec: TenantTemplateSpec
    prepared: tuple[PreparedResource, ...]
    is_repeatable: bool = True
    """Whether rendering twice gives the same Tenant: not with functions that read the clock or random values, unless
    their results are kept."""

    @property
    def has_kept_values(self) -> bool:
        """Whether rendering a Tenant needs its earlier rendering."""
        return any(each.has_kept_values for each in self.prepared)


class DesiredTenant(NamedTuple):
    """A row and a template that make a Tenant."""

    name: str
    row: Row
    template: ActiveTemplate

    @property
    def key(self) -> TenantKey:
        return TenantKey(self.row.uid, self.template.name)

    def fingerprint(self, registry: ObjectMeta) -> bytes:
        """Equal fingerprints render to the same Tenant."""
        content = [registry.uid, self.name, self.template.version, *self.row[:3], self.row.extra]
        return blake2b(msgspec.json.encode(content), digest_size=_DIGEST_BYTES).digest()


def tenant_manifest(desired: DesiredTenant, registry: ObjectMeta, rendered: RenderedTenant) -> Manifest:
    lists: dict[str, Any] = {name: resource_manifests(found) for name, found in rendered.lists.items()}
    if rendered.payload.entries:
        lists["values"] = {"secretName": values_secret(desired.name), "digest": rendered.payload.digest}
    return _manifest(desired, registry, lists)


def render_failure_manifest(desired: DesiredTenant, registry: ObjectMeta, error: RenderError) -> Manifest:
    """A Tenant without objects that reports why its row cannot be rendered."""
    failure: dict[str, Any] = {
        "resource": error.resource,
        "field": error.field,
        "line": error.line,
        "message": error.text[:MESSAGE_LENGTH],
    }
    if error.column is not None:
        failure["column"] = error.column
    return _manifest(desired, registry, {"renderFailure": failure})


def _manifest(desired: DesiredTenant, registry: ObjectMeta, content: dict[str, Any]) -> Manifest:
    """Without an owner reference: a foreground deletion of the registry would delete its Tenants without the guard,
    even before the registry's finalizer. A label names the registry, and the finalizer deletes the Tenants."""
    template = desired.template
    account = template.spec.service_account_name
    return {
        "apiVersion": TENANT_KIND.api_version,
        "kind": TENANT_KIND.kind,
        "metadata": {
            "name": desired.name,
            "namespace": registry.namespace,
            "labels": {
                labels.REGISTRY: label_value(registry.name),
                labels.UID: label_value(desired.row.uid),
                labels.TEMPLATE: label_value(template.name),
                labels.BUCKET: bucket(desired.name),
            },
            "annotations": {labels.TEMPLATE_GENERATION: str(template.generation)},
            # With the first apply, which saves a write for each Tenant. Terminating Tenants are never applied.
            "finalizers": [labels.TENANT_FINALIZER],
        },
        "spec": {
            "uid": desired.row.uid,
            "templateRef": template.name,
            "templateGeneration": template.generation,
            **({} if account is UNSET else {"serviceAccountName": account}),
            **content,
        },
    }


def resource_manifests(resources: Iterable[TResource]) -> list[dict[str, Any]]:
    return [
        {
            name: _to_builtins(value)
            for field, name in _FIELDS
            if (value := getattr(resource, field)) is not UNSET
        }
        for resource in resources
    ]


def _to_builtins(value: Any) -> Any:
    """Objects are plain already, and large."""
    is_typed = isinstance(value, list) and bool(value) and isinstance(value[0], msgspec.Struct)
    return msgspec.to_builtins(value) if is_typed else value


def values_manifest(tenant: ObjectMeta, rendered: RenderedTenant) -> Manifest:
    """The Secret with the payload, which the spec must not contain."""
    owner = {"apiVersion": TENANT_KIND.api_version, "kind": TENANT_KIND.kind}
    return {
        "apiVersion": SECRET.api_version,
        "kind": SECRET.kind,
        "metadata": {
            "name": values_secret(tenant.name),
            "namespace": tenant.namespace,
            "labels": {
                labels.TENANT: tenant.name,
                labels.TENANT_NAMESPACE: tenant.namespace,
                labels.BUCKET: bucket(tenant.name),
            },
            "ownerReferences": [owner | {"name": tenant.name, "uid": tenant.uid, "controller": True}],
        },
        "type": "Opaque",
        "data": rendered.payload.data,
    }


def is_values_secret(secret: ObjectMeta, tenant: ObjectMeta) -> bool:
    """Whether it is the values Secret of the Tenant. A Secret that a Tenant applies has a deletion policy."""
    tracked = (secret.labels.get(labels.TENANT), secret.labels.get(labels.TENANT_NAMESPACE))
    return tracked == (tenant.name, tenant.namespace) and labels.DELETION_POLICY not in secret.annotations


def tenant_identity(desired: DesiredTenant, registry: ObjectMeta) -> TenantIdentity:
    return TenantIdentity(desired.name, registry.namespace)
