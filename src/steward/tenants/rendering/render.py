"""Renders the objects of one Tenant from a row and a template: all of them, or none. Pure.

Everything is rendered before anything is written. The result is exactly what is applied, except that the payload of
Secrets is kept apart from the objects, so that it never appears in the spec of a Tenant.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec

from steward.kube.apply.normalize import fold_string_data
from steward.kube.objects.kinds import SECRET, kind_of
from steward.tenants.api.lists import ListedResource, list_resources
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError, TooLarge
from steward.tenants.labels import CREATED_ONCE, DELETION_POLICY, TENANT, TENANT_NAMESPACE
from steward.tenants.names import NAME_LENGTH, is_path_segment, values_secret
from steward.tenants.rendering.object_shape import check_object
from steward.tenants.rendering.object_template import (
    RenderContext,
    TemplateNode,
    TemplatePosition,
    Variables,
    count_templates,
    limits_for,
    prepare_object,
    prepare_value,
)
from steward.tenants.rendering.secret_payload import SecretPayload, split_payload

SIZE_LIMIT: Final = 1_000_000
"""The maximum size of a Tenant or its payload in JSON: below the limit of the API server, with room for metadata and
status."""


_TEMPLATES: Final = (
    "spec", "name_template", "target_namespace", "labels_template", "annotations_template", "when",
)  # fmt: skip


class TenantIdentity(NamedTuple):
    name: str
    namespace: str


class PreparedResource(NamedTuple):
    """A parsed resource of a template."""

    origin: TResource
    collection: str
    """The name of the list that contains it, as in the manifest."""
    body: TemplateNode
    name: TemplateNode | None
    namespace: TemplateNode | None
    labels: TemplateNode
    annotations: TemplateNode
    when: TemplateNode | None


class RenderedTenant(NamedTuple):
    """All objects of one Tenant."""

    lists: Mapping[str, tuple[TResource, ...]]
    """By the name of the list, without empty lists."""
    payload: SecretPayload

    def resources(self) -> list[TResource]:
        return [resource for found in self.lists.values() for resource in found]


def prepare_template(spec: TenantTemplateSpec, profile: str = "hermetic") -> tuple[PreparedResource, ...]:
    """Parses every text once; RenderError names the first that is no valid template."""
    resources = tuple(list_resources(spec))
    limits = limits_for(sum(_count_resource_templates(each.resource) for each in resources))
    return tuple(_prepare_resource(each, TemplatePosition("", profile, limits=limits)) for each in resources)


def _count_resource_templates(resource: TResource) -> int:
    return sum(count_templates(getattr(resource, name)) for name in _TEMPLATES)


@contextmanager
def _name_resource_in_errors(resource: TResource) -> Iterator[None]:
    """Adds the id of the resource to a RenderError."""
    try:
        yield
    except RenderError as error:
        error.resource = resource.id
        raise


def _prepare_resource(each: ListedResource, position: TemplatePosition) -> PreparedResource:
    resource = each.resource
    text = position.as_text()
    with _name_resource_in_errors(resource):
        return PreparedResource(
            origin=resource,
            collection=each.list.field,
            body=prepare_object(resource.spec, position.field("spec")),
            name=_optional(resource.name_template, text.field("nameTemplate")),
            namespace=_optional(resource.target_namespace, text.field("targetNamespace")),
            labels=prepare_value(_given(resource.labels_template), text.field("labelsTemplate")),
            annotations=prepare_value(
                _given(resource.annotations_template), text.field("annotationsTemplate")
            ),
            when=_optional(resource.when, text.field("when")),
        )


def _optional(source: Any, position: TemplatePosition) -> TemplateNode | None:
    return None if source is UNSET or source == "" else prepare_value(source, position)


def _given(found: Any) -> dict[str, str]:
    return {} if found is UNSET else found


def render(
    prepared: Iterable[PreparedResource], variables: Variables, identity: TenantIdentity
) -> RenderedTenant:
    """Renders the objects of one Tenant; RenderError if any of them fails, or if they are too large together."""
    lists: dict[str, list[TResource]] = {}
    payload = SecretPayload()
    context = RenderContext(variables, SIZE_LIMIT)
    for resource in prepared:
        with _name_resource_in_errors(resource.origin):
            manifest = _render(resource, context, identity)
        if manifest is None:
            continue
        body, secret = split_payload(manifest)
        if secret is not None:
            payload = payload.with_secret(resource.origin.id, secret)
        lists.setdefault(resource.collection, []).append(_evaluated_resource(resource.origin, body))
    rendered = RenderedTenant({name: tuple(found) for name, found in lists.items()}, payload)
    _check_size(rendered)
    return rendered


def _render(
    resource: PreparedResource, context: RenderContext, identity: TenantIdentity
) -> dict[str, Any] | None:
    if resource.when is not None and resource.when.render(context).strip() != "true":
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
