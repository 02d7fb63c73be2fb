"""Resources with `forEach` become several: their ids, and the dependencies on them. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from steward.kube.objects.kinds import ref_of
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.errors import RenderError
from steward.tenants.rendering.for_each import FIELD, Item, item_id

MAX_OBJECTS: Final = 500
"""Of one Tenant: its status records each, and has to fit into the Tenant."""
MAX_DEPENDENCIES: Final = 100
_ID_LENGTH: Final = 253

ExpandedIds = dict[str, tuple[str, ...]]
"""By the id of a resource with forEach, the ids of its objects."""


def item_resource(origin: TResource, item: Item) -> TResource:
    found = item_id(origin.id, item)
    if len(found) > _ID_LENGTH:
        raise RenderError(
            "id", f"is too long for forEach: {found[:20]}… has more than {_ID_LENGTH} characters"
        )
    return replace(origin, id=found)


def with_expanded_dependencies(resource: TResource, expanded: Mapping[str, tuple[str, ...]]) -> TResource:
    """A dependency on a resource with forEach is one on all its objects."""
    if resource.depend_ids is UNSET or not expanded.keys() & set(resource.depend_ids):
        return resource
    found = [id for written in resource.depend_ids for id in expanded.get(written, (written,))]
    if len(found) > MAX_DEPENDENCIES:
        message = f"are {len(found)} with the entries of forEach, and may be {MAX_DEPENDENCIES}"
        error = RenderError("dependIds", f"{message}: shorten the lists of the row")
        error.resource = resource.id
        raise error
    return replace(resource, depend_ids=found)


def check_objects(resources: Sequence[TResource]) -> None:
    """RenderError if there are too many, or if two entries of forEach make the same object or the same id."""
    if len(resources) > MAX_OBJECTS:
        message = f"the Tenant has {len(resources)} objects, and may have {MAX_OBJECTS}: shorten the lists of the row"
        raise RenderError(FIELD, message)
    ids: set[str] = set()
    objects: dict[object, str] = {}
    for resource in resources:
        ref = ref_of(resource.spec)
        first = objects.setdefault(ref, resource.id)
        if _is_expanded(resource.id, first) and (resource.id in ids or first != resource.id):
            error = RenderError(FIELD, f"makes {ref} more than once: use .itemKey in nameTemplate")
            error.resource = resource.id
            raise error
        ids.add(resource.id)


def _is_expanded(*ids: str) -> bool:
    """Objects of the same name without forEach are reported by the Tenant as a conflict of the two resources, and two
    resources with the same id by the validation of the template."""
    return any(id.endswith("]") for id in ids)
