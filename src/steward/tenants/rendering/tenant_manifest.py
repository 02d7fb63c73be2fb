"""A Tenant as it is to be applied, and the Secret beside it. Pure.

Every default of the schema is written out: what the server would add inside an atomic list by itself is then no
difference between what is there and what is wanted.
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
from steward.tenants.rendering.render import PreparedResource, Rendered, TenantIdentity
from steward.tenants.sources.rows import Row

_DIGEST_BYTES: Final = 16
_FIELDS: Final = tuple((field.name, field.encode_name) for field in structs.fields(TResource))


class TemplateInUse(NamedTuple):
    """The content of a template that is in force, parsed."""

    name: str
    generation: int
    version: str
    """Names the content and the way it is rendered: what was rendered from the same is the same."""
    spec: TenantTemplateSpec
    prepared: tuple[PreparedResource, ...]
    is_repeatable: bool = True
    """Whether rendering twice gives the same: not with functions of clock and chance."""


class WantedTenant(NamedTuple):
    """A row and a template that are to be a Tenant."""

    name: str
    row: Row
    template: TemplateInUse

    @property
    def key(self) -> TenantKey:
        return TenantKey(self.row.uid, self.template.name)

    def fingerprint(self, registry: ObjectMeta) -> bytes:
        """Equal ones render to the same Tenant."""
        told = [registry.uid, self.name, self.template.version, *self.row[:3], self.row.extra]
        return blake2b(msgspec.json.encode(told), digest_size=_DIGEST_BYTES).digest()


def tenant_manifest(wanted: WantedTenant, registry: ObjectMeta, rendered: Rendered) -> Manifest:
    lists: dict[str, Any] = {name: listed(found) for name, found in rendered.lists.items()}
    if rendered.payload.entries:
        lists["values"] = {"secretName": values_secret(wanted.name), "digest": rendered.payload.digest}
    return _manifest(wanted, registry, lists)


def failed_manifest(wanted: WantedTenant, registry: ObjectMeta, error: RenderError) -> Manifest:
    """A Tenant that says why its row cannot be rendered, and has nothing to apply."""
    failure: dict[str, Any] = {
        "resource": error.resource,
        "field": error.field,
        "line": error.line,
        "message": error.text,
    }
    if error.column is not None:
        failure["column"] = error.column
    return _manifest(wanted, registry, {"renderFailure": failure})


def _manifest(wanted: WantedTenant, registry: ObjectMeta, content: dict[str, Any]) -> Manifest:
    """Without an owner reference: a foreground deletion of the registry would take its Tenants past the guard, even
    past the registry's finalizer. The label says whose they are, and the finalizer takes them along."""
    template = wanted.template
    account = template.spec.service_account_name
    return {
        "apiVersion": TENANT_KIND.api_version,
        "kind": TENANT_KIND.kind,
        "metadata": {
            "name": wanted.name,
            "namespace": registry.namespace,
            "labels": {
                labels.REGISTRY: label_value(registry.name),
                labels.UID: label_value(wanted.row.uid),
                labels.TEMPLATE: label_value(template.name),
                labels.BUCKET: bucket(wanted.name),
            },
            "annotations": {labels.TEMPLATE_GENERATION: str(template.generation)},
            # From its first moment, which spares a write for each Tenant. One that is being deleted is never applied.
            "finalizers": [labels.TENANT_FINALIZER],
        },
        "spec": {
            "uid": wanted.row.uid,
            "templateRef": template.name,
            "templateGeneration": template.generation,
            **({} if account is UNSET else {"serviceAccountName": account}),
            **content,
        },
    }


def listed(resources: Iterable[TResource]) -> list[dict[str, Any]]:
    return [
        {name: value for field, name in _FIELDS if (value := getattr(resource, field)) is not UNSET}
        for resource in resources
    ]


def values_manifest(tenant: ObjectMeta, rendered: Rendered) -> Manifest:
    """The Secret that holds what the specification must not."""
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


def holds_values_of(secret: ObjectMeta, tenant: ObjectMeta) -> bool:
    """Whether it is the Secret that we made beside the Tenant. One that a Tenant applies has a policy for its end."""
    tracked = (secret.labels.get(labels.TENANT), secret.labels.get(labels.TENANT_NAMESPACE))
    return tracked == (tenant.name, tenant.namespace) and labels.DELETION_POLICY not in secret.annotations


def identity_of(wanted: WantedTenant, registry: ObjectMeta) -> TenantIdentity:
    return TenantIdentity(wanted.name, registry.namespace)
