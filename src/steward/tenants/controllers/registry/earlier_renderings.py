"""Reads what a Tenant was rendered to before, where its template has values that are made once and kept.

An error of the API server is an error of the row's rendering, which is retried: a value that is in use must never be
replaced because it could not be read.
"""

import secrets

from msgspec import Struct

from steward.kube.errors import NotFound
from steward.kube.objects.kinds import SECRET, Key
from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.resource import GeneratedValue
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.common.document import TenantDocument, read_document
from steward.tenants.names import values_secret
from steward.tenants.objects.desired import resources_of
from steward.tenants.rendering.earlier import NEW_TENANT, EarlierRendering
from steward.tenants.rendering.generated_values import ALPHABETS
from steward.tenants.rendering.secret_payload import SecretPayload
from steward.tenants.rendering.tenant_manifest import ActiveTemplate, is_values_secret


class _ValuesSecret(Struct):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] = {}


async def read_earlier(context: TenantsContext, tenant: Key, template: ActiveTemplate) -> EarlierRendering:
    if not template.has_kept_values:
        return NEW_TENANT
    document = await context.documents.get_document(tenant)
    if document is None:
        # The cache may be older than the API server, and a value that is in use must not be made again.
        document = await read_document(context.client, tenant)
    if not isinstance(document, TenantDocument):
        return EarlierRendering(make_value=random_value)
    bodies = {each.id: each.spec for each in resources_of(document.spec)}
    is_of_this_version = document.spec.template_generation == template.generation
    payload = await _read_payload(context, document)
    return EarlierRendering(bodies, payload, is_of_this_version, random_value)


def random_value(value: GeneratedValue) -> str:
    alphabet = ALPHABETS[value.characters]
    return "".join(secrets.choice(alphabet) for _ in range(value.length))


async def _read_payload(context: TenantsContext, document: TenantDocument) -> SecretPayload:
    """The payload that the Tenant names, or else the one in its values Secret: after a crash between the two writes,
    and after a rendering that failed, the Tenant does not name it."""
    named = None if document.spec.values is UNSET else await context.documents.get_payload(document)
    if named is not None:
        return named
    key = Key(document.metadata.namespace, values_secret(document.metadata.name))
    try:
        found = await context.client.get(SECRET, key, _ValuesSecret)
    except NotFound:
        return SecretPayload()
    is_ours = is_values_secret(found.metadata, document.metadata)
    return SecretPayload.from_data(found.data) if is_ours else SecretPayload()
