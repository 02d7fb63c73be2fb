"""Renders the objects of one Tenant from a row and a template: all of them, or none. Pure.

Everything is rendered before anything is written. The result is exactly what is applied, except that the payload of
Secrets is kept apart from the objects, so that it never appears in the spec of a Tenant.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from steward.kube.apply.normalize import fold_string_data
from steward.kube.objects.kinds import SECRET, kind_of
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.errors import RenderError, TooLarge
from steward.tenants.labels import CREATED_ONCE, DELETION_POLICY, TENANT, TENANT_NAMESPACE
from steward.tenants.names import NAME_LENGTH, is_path_segment, values_secret
from steward.tenants.rendering.earlier import NEW_TENANT, EarlierRendering, keep_object
from steward.tenants.rendering.expansion import (
    ExpandedIds,
    check_objects,
    item_resource,
    with_expanded_dependencies,
)
from steward.tenants.rendering.for_each import parse_items
from steward.tenants.rendering.generated_values import generated_values, with_generated_values
from steward.tenants.rendering.object_shape import check_object
from steward.tenants.rendering.object_template import (
    RenderContext,
    Variables,
)
from steward.tenants.rendering.prepared_template import PreparedResource, name_resource_in_errors
from steward.tenants.rendering.secret_payload import SecretPayload, split_payload
from steward.tenants.rendering.when import is_included

SIZE_LIMIT: Final = 1_000_000
"""The maximum size of a Tenant or its payload in JSON: below the limit of the API server, with room for metadata and
status."""


class TenantIdentity(NamedTuple):
    name: str
    namespace: str


class RenderedTenant(NamedTuple):
    """All objects of one Tenant."""

    lists: Mapping[str, tuple[TResource, ...]]
    """By the name of the list, without empty lists."""
    payload: SecretPayload

    def resources(self) -> list[TResource]:
        return [resource for found in self.lists.values() for resource in found]


def render(
    prepared: Iterable[PreparedResource],
    variables: Variables,
    identity: TenantIdentity,
    earlier: EarlierRendering = NEW_TENANT,
) -> RenderedTenant:
    """Renders the objects of one Tenant; RenderError if any of them fails, or if they are too large together."""
    payload = SecretPayload()
    context = RenderContext(variables, SIZE_LIMIT)
    made: list[tuple[str, TResource]] = []
    expanded: ExpandedIds = {}
    for resource in prepared:
        with name_resource_in_errors(resource.origin):
            objects = _render_all(resource, context, identity, earlier)
        if resource.for_each is not None:
            expanded[resource.origin.id] = tuple(each.id for each, _ in objects)
        for each, manifest in objects:
            body, secret = split_payload(manifest)
            if secret is not None:
                payload = payload.with_secret(each.id, secret)
            made.append((resource.collection, _evaluated_resource(each, body)))
    rendered = RenderedTenant(_lists(made, expanded), payload)
    _check_size(rendered)
    return rendered


def _lists(made: list[tuple[str, TResource]], expanded: ExpandedIds) -> dict[str, tuple[TResource, ...]]:
    check_objects([resource for _, resource in made])
    lists: dict[str, list[TResource]] = {}
    for collection, resource in made:
        lists.setdefault(collection, []).append(with_expanded_dependencies(resource, expanded))
    return {name: tuple(found) for name, found in lists.items()}


def _render_all(
    resource: PreparedResource, context: RenderContext, identity: TenantIdentity, earlier: EarlierRendering
) -> list[tuple[TResource, dict[str, Any]]]:
    """The objects of a resource: one, none where `when` excludes it, or one for each entry of `forEach`."""
    if resource.for_each is None:
        found = [_render_one(resource, context, identity, earlier)]
    else:
        found = []
        for item in parse_items(resource.for_each.render(context)):
            with context.with_variables(item.variables()):
                each = resource._replace(origin=item_resource(resource.origin, item))
                found.append(_render_one(each, context, identity, earlier))
    return [each for each in found if each is not None]


def _render_one(
    resource: PreparedResource, context: RenderContext, identity: TenantIdentity, earlier: EarlierRendering
) -> tuple[TResource, dict[str, Any]] | None:
    manifest = _render(resource, context, identity)
    return None if manifest is None else (resource.origin, _keep_values(resource, manifest, earlier))


def _keep_values(
    resource: PreparedResource, manifest: dict[str, Any], earlier: EarlierRendering
) -> dict[str, Any]:
    """The object with the values that were made before, where it has values that are made once."""
    if values := generated_values(resource.origin):
        known = earlier.secret_data(resource.origin.id)
        manifest = with_generated_values(manifest, values, known, earlier.make_value)
    return _keep_rendering(resource, manifest, earlier) if resource.is_rendered_once else manifest


def _keep_rendering(
    resource: PreparedResource, manifest: dict[str, Any], earlier: EarlierRendering
) -> dict[str, Any]:
    known = earlier.manifest(resource.origin.id)
    # A random name is kept until the template is edited: nothing else tells whether another object is meant.
    if known is not None and earlier.is_of_this_version and not resource.has_repeatable_name:
        return known
    return keep_object(manifest, known)


def _render(
    resource: PreparedResource, context: RenderContext, identity: TenantIdentity
) -> dict[str, Any] | None:
    if resource.when is not None and not is_included(resource.when.render(context)):
        return None
    body: dict[str, Any] = resource.body.render(context)
    check_object(body)
    metadata = dict(body.get("metadata") or {})
    metadata["name"] = _name(resource, metadata, context)
    metadata |= _namespace(resource, body, context, identity)
    metadata["labels"] = {
        **(metadata.get("labels") or {}),
        **resource.labels.render(context),
        **_tracking_labels(identity),
    }
    metadata["annotations"] = {
        **(metadata.get("annotations") or {}),
        **resource.annotations.render(context),
        **policy_annotations(resource.origin),
    }
    manifest = {**body, "metadata": metadata}
    return _check_secret(manifest, identity) if kind_of(manifest) == SECRET else manifest


def _check_secret(manifest: dict[str, Any], identity: TenantIdentity) -> dict[str, Any]:
    metadata = manifest["metadata"]
    if (metadata["name"], metadata["namespace"]) == (values_secret(identity.name), identity.namespace):
        message = f"gives {metadata['name']}, which is the Secret with the values of the Tenant: choose another name"
        raise RenderError("nameTemplate", message)
    return fold_string_data(manifest)


def _name(resource: PreparedResource, metadata: Mapping[str, Any], context: RenderContext) -> str:
    field = "spec.metadata.name" if resource.name is None else "nameTemplate"
    name = metadata.get("name") if resource.name is None else resource.name.render(context)
    if not isinstance(name, str) or not name.strip():
        raise RenderError(field, "gives no name: set nameTemplate, as in {{ .uid }}-api")
    if not is_path_segment(name):
        raise RenderError(
            field, f"gives {name[:20]!r}, which no object can be called: use letters and digits"
        )
    length = len(name.encode())
    if length > NAME_LENGTH and _is_template(resource):
        message = f"gives a name of {length} bytes, {name[:20]}…: use trunc63 to keep it within {NAME_LENGTH}"
        raise RenderError(field, message)
    return name


def _is_template(resource: PreparedResource) -> bool:
    """Whether the name depends on the row. A constant name may be as long as its kind allows."""
    return resource.name is not None or "{{" in str((resource.origin.spec.get("metadata") or {}).get("name"))


def _namespace(
    resource: PreparedResource, body: Mapping[str, Any], context: RenderContext, identity: TenantIdentity
) -> dict[str, str]:
    """The namespace of the Tenant by default. A Namespace has none; which other kinds have none is known only later."""
    if body["apiVersion"] == "v1" and body["kind"] == "Namespace":
        return {}
    if resource.namespace is None:
        return {"namespace": identity.namespace}
    found: str = resource.namespace.render(context)
    if not found.strip():
        raise RenderError(
            "targetNamespace", "renders to nothing: leave it out for the Tenant's own namespace"
        )
    if not is_path_segment(found):
        raise RenderError("targetNamespace", f"gives {found[:20]!r}, which no Namespace can be called")
    return {"namespace": found}


def _tracking_labels(identity: TenantIdentity) -> dict[str, str]:
    return {TENANT: identity.name, TENANT_NAMESPACE: identity.namespace}


def policy_annotations(resource: TResource) -> dict[str, str]:
    """The policies that must be known when the template no longer contains the resource."""
    once = {CREATED_ONCE: "true"} if resource.creation_policy == "Once" else {}
    return {DELETION_POLICY: resource.deletion_policy, **once}


def _evaluated_resource(origin: TResource, body: dict[str, Any]) -> TResource:
    """The resource with the rendered object and without templates, except `readyWhen`, which reads the live object."""
    return msgspec.structs.replace(
        origin,
        spec=body,
        name_template=UNSET,
        target_namespace=UNSET,
        labels_template=UNSET,
        annotations_template=UNSET,
        when=UNSET,
        for_each=UNSET,
    )


def _check_size(rendered: RenderedTenant) -> None:
    sizes = {resource.id: len(msgspec.json.encode(resource.spec)) for resource in rendered.resources()}
    sizes["Secrets"] = rendered.payload.size
    total = sum(sizes.values())
    if total > SIZE_LIMIT:
        largest = max(sizes, key=lambda name: sizes[name])
        error = TooLarge(
            "spec",
            f"the Tenant's objects are {total} bytes together, and may be {SIZE_LIMIT}; shorten the row's values",
        )
        error.resource = largest
        raise error
