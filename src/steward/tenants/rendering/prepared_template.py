"""Parses the resources of a template once, to be rendered for each row. Pure."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from steward.tenants.api.lists import ListedResource, list_resources
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError
from steward.tenants.rendering.for_each import MAX_ITEMS
from steward.tenants.rendering.generated_values import generated_values
from steward.tenants.rendering.object_template import (
    TemplateNode,
    TemplatePosition,
    count_templates,
    limits_for,
    prepare_object,
    prepare_value,
)
from steward.tenants.rendering.repeatability import has_repeatable_name, is_repeatable

_TEMPLATES: Final = (
    "spec", "name_template", "target_namespace", "labels_template", "annotations_template", "when", "for_each",
)  # fmt: skip


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
    for_each: TemplateNode | None = None
    is_repeatable: bool = True
    """Whether rendering it twice gives the same object."""
    has_repeatable_name: bool = True

    @property
    def is_rendered_once(self) -> bool:
        """Whether its first rendering is kept: the object is never changed, and rendering it again would change the
        Tenant only."""
        return self.origin.creation_policy == "Once" and not self.is_repeatable

    @property
    def has_kept_values(self) -> bool:
        """Whether rendering it needs what was rendered before."""
        return self.is_rendered_once or bool(generated_values(self.origin))


def prepare_template(spec: TenantTemplateSpec, profile: str = "hermetic") -> tuple[PreparedResource, ...]:
    """Parses every text once; RenderError names the first that is no valid template."""
    resources = tuple(list_resources(spec))
    limits = limits_for(sum(_count_resource_templates(each.resource) for each in resources))
    return tuple(_prepare_resource(each, TemplatePosition("", profile, limits=limits)) for each in resources)


def _count_resource_templates(resource: TResource) -> int:
    """A resource with forEach counts as often as it may be rendered."""
    texts = sum(count_templates(getattr(resource, name)) for name in _TEMPLATES)
    return texts if resource.for_each is UNSET else texts * MAX_ITEMS


@contextmanager
def name_resource_in_errors(resource: TResource) -> Iterator[None]:
    """Adds the id of the resource to a RenderError."""
    try:
        yield
    except RenderError as error:
        error.resource = resource.id
        raise


def _prepare_resource(each: ListedResource, position: TemplatePosition) -> PreparedResource:
    resource = each.resource
    text = position.as_text()
    with name_resource_in_errors(resource):
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
            for_each=_optional(resource.for_each, text.field("forEach")),
            is_repeatable=is_repeatable(resource, position.profile),
            has_repeatable_name=has_repeatable_name(resource, position.profile),
        )


def _optional(source: Any, position: TemplatePosition) -> TemplateNode | None:
    return None if source is UNSET or source == "" else prepare_value(source, position)


def _given(found: Any) -> dict[str, str]:
    return {} if found is UNSET else found
