"""A row and a template in, the objects of one Tenant out: whole or not at all.

Everything is rendered before anything is written. What comes out is exactly what will be applied, except that the
payload of Secrets is apart from the objects, so that no specification of a Tenant ever holds it.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec

from steward.kube.apply.folded import with_folded_data
from steward.kube.objects.kinds import SECRET, kind_of
from steward.tenants.api.lists import Listed, listed
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError, TooLarge
from steward.tenants.labels import CREATED_ONCE, DELETION_POLICY, TENANT, TENANT_NAMESPACE
from steward.tenants.names import NAME_LENGTH, values_secret
from steward.tenants.rendering.object_shape import check_object
from steward.tenants.rendering.object_template import (
    Filling,
    Node,
    Place,
    Variables,
    limits_for,
    prepare,
    prepare_object,
    texts_in,
)
from steward.tenants.rendering.secret_payload import Payload, split

SIZE_LIMIT: Final = 1_000_000
"""What a Tenant or its payload may weigh in JSON: below what an API server takes, with room for metadata and status."""


_TEMPLATES: Final = (
    "spec", "name_template", "target_namespace", "labels_template", "annotations_template", "when",
)  # fmt: skip


class TenantIdentity(NamedTuple):
    name: str
    namespace: str


class PreparedResource(NamedTuple):
    """A resource of a template, parsed."""

    origin: TResource
    collection: str
    """The list that it stands in, as the manifest spells it."""
    body: Node
    name: Node | None
    namespace: Node | None
    labels: Node
    annotations: Node
    when: Node | None


class Rendered(NamedTuple):
    """All objects of one Tenant."""

    lists: Mapping[str, tuple[TResource, ...]]
    """By the list's name, without those that are empty."""
    payload: Payload

    def resources(self) -> list[TResource]:
        return [resource for found in self.lists.values() for resource in found]


def prepare_template(spec: TenantTemplateSpec, profile: str = "hermetic") -> tuple[PreparedResource, ...]:
    """Parses every text once; RenderError names the first that is no template."""
    resources = tuple(listed(spec))
    limits = limits_for(sum(_texts(each.resource) for each in resources))
    return tuple(_prepare_resource(each, Place("", profile, limits=limits)) for each in resources)


def _texts(resource: TResource) -> int:
    return sum(texts_in(getattr(resource, name)) for name in _TEMPLATES)


@contextmanager
def _naming(resource: TResource) -> Iterator[None]:
    """An error in here names the resource."""
    try:
        yield
    except RenderError as error:
        error.resource = resource.id
        raise


def _prepare_resource(each: Listed, place: Place) -> PreparedResource:
    resource = each.resource
    text = place.as_text()
    with _naming(resource):
        return PreparedResource(
            origin=resource,
            collection=each.list.field,
            body=prepare_object(resource.spec, place.below("spec")),
            name=_optional(resource.name_template, text.below("nameTemplate")),
            namespace=_optional(resource.target_namespace, text.below("targetNamespace")),
            labels=prepare(_given(resource.labels_template), text.below("labelsTemplate")),
            annotations=prepare(_given(resource.annotations_template), text.below("annotationsTemplate")),
            when=_optional(resource.when, text.below("when")),
        )


def _optional(source: Any, place: Place) -> Node | None:
    return None if source is UNSET or source == "" else prepare(source, place)


def _given(found: Any) -> dict[str, str]:
    return {} if found is UNSET else found


def render(prepared: Iterable[PreparedResource], variables: Variables, identity: TenantIdentity) -> Rendered:
    """The objects of one Tenant; RenderError if any of them fails, or if they are too large together."""
    lists: dict[str, list[TResource]] = {}
    payload = Payload()
    filling = Filling(variables, SIZE_LIMIT)
    for resource in prepared:
        with _naming(resource.origin):
            made = _render(resource, filling, identity)
        if made is None:
            continue
        body, secret = split(made)
        if secret is not None:
            payload = payload.with_secret(resource.origin.id, secret)
        lists.setdefault(resource.collection, []).append(_evaluated(resource.origin, body))
    rendered = Rendered({name: tuple(found) for name, found in lists.items()}, payload)
    _check_size(rendered)
    return rendered


def _render(resource: PreparedResource, filling: Filling, identity: TenantIdentity) -> dict[str, Any] | None:
    if resource.when is not None and resource.when.fill(filling).strip() != "true":
        return None
    body: dict[str, Any] = resource.body.fill(filling)
    check_object(body)
    metadata = dict(body.get("metadata") or {})
    metadata["name"] = _name(resource, metadata, filling)
    metadata |= _namespace(resource, body, filling, identity)
    metadata["labels"] = {
        **(metadata.get("labels") or {}),
        **resource.labels.fill(filling),
        **_tracking(identity),
    }
    metadata["annotations"] = {
        **(metadata.get("annotations") or {}),
        **resource.annotations.fill(filling),
        **_policies(resource.origin),
    }
    made = {**body, "metadata": metadata}
    return _secret(made, identity) if kind_of(made) == SECRET else made


def _secret(made: dict[str, Any], identity: TenantIdentity) -> dict[str, Any]:
    metadata = made["metadata"]
    if (metadata["name"], metadata["namespace"]) == (values_secret(identity.name), identity.namespace):
        told = f"gives {metadata['name']}, which is the Secret with the values of the Tenant: choose another name"
        raise RenderError("nameTemplate", told)
    return with_folded_data(made)


def _name(resource: PreparedResource, metadata: Mapping[str, Any], filling: Filling) -> str:
    field = "spec.metadata.name" if resource.name is None else "nameTemplate"
    name = metadata.get("name") if resource.name is None else resource.name.fill(filling)
    if not isinstance(name, str) or not name.strip():
        raise RenderError(field, "gives no name: set nameTemplate, as in {{ .uid }}-api")
    length = len(name.encode())
    if length > NAME_LENGTH and _is_template(resource):
        told = f"gives a name of {length} bytes, {name[:20]}…: use trunc63 to keep it within {NAME_LENGTH}"
        raise RenderError(field, told)
    return name


def _is_template(resource: PreparedResource) -> bool:
    """Whether the name is made from the row. One that is written out may be as long as its kind allows."""
    return resource.name is not None or "{{" in str((resource.origin.spec.get("metadata") or {}).get("name"))


def _namespace(
    resource: PreparedResource, body: Mapping[str, Any], filling: Filling, identity: TenantIdentity
) -> dict[str, str]:
    """The Tenant's own unless said otherwise. A Namespace is in none; of other kinds only the server knows."""
    if body["apiVersion"] == "v1" and body["kind"] == "Namespace":
        return {}
    if resource.namespace is None:
        return {"namespace": identity.namespace}
    found: str = resource.namespace.fill(filling)
    if not found.strip():
        raise RenderError(
            "targetNamespace", "renders to nothing: leave it out for the Tenant's own namespace"
        )
    return {"namespace": found}


def _tracking(identity: TenantIdentity) -> dict[str, str]:
    return {TENANT: identity.name, TENANT_NAMESPACE: identity.namespace}


def _policies(resource: TResource) -> dict[str, str]:
    once = {CREATED_ONCE: "true"} if resource.creation_policy == "Once" else {}
    return {DELETION_POLICY: resource.deletion_policy, **once}


def _evaluated(origin: TResource, body: dict[str, Any]) -> TResource:
    """What was said by templates stands in the object now. `readyWhen` stays: it is about the living object."""
    return msgspec.structs.replace(
        origin,
        spec=body,
        name_template=UNSET,
        target_namespace=UNSET,
        labels_template=UNSET,
        annotations_template=UNSET,
        when=UNSET,
    )


def _check_size(rendered: Rendered) -> None:
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
