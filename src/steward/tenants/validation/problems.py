"""A problem of a spec, and the position of a resource in a template. Pure."""

from typing import NamedTuple

from steward.tenants.api.lists import list_resources
from steward.tenants.api.resource import TResource
from steward.tenants.api.template import TenantTemplateSpec


class Problem(NamedTuple):
    """`line` counts from 1, `column` counts bytes from 0; both are None where the field is no template."""

    field: str
    message: str
    line: int | None = None
    column: int | None = None


class ResourcePosition(NamedTuple):
    """A resource, and its field in the manifest."""

    field: str
    resource: TResource
    kind: str
    """The kind that its list is meant for; empty for any kind."""


def resource_positions(spec: TenantTemplateSpec) -> list[ResourcePosition]:
    return [
        ResourcePosition(
            f"spec.{where.field}[{resource.id}]", resource, where.kind.kind if where.kind else ""
        )
        for where, resource in list_resources(spec)
    ]
