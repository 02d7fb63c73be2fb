"""Fields without which no object can be made, whatever the row: a name, and the selector of a workload. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.validation.problems import Problem, ResourcePosition

_SELECTING: Final = frozenset({"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"})
_NO_NAME: Final = "is missing, and so is spec.metadata.name: set one, as in {{ .uid }}-api"
_NO_SELECTOR: Final = "is missing: set matchLabels to labels of spec.template.metadata.labels"


def required_field_problems(found: Iterable[ResourcePosition]) -> Iterator[Problem]:
    for position in found:
        if not _has_name(position.resource):
            yield Problem(f"{position.field}.nameTemplate", _NO_NAME)
        if _lacks_selector(position.resource):
            yield Problem(f"{position.field}.spec.spec.selector", _NO_SELECTOR)


def _has_name(resource: TResource) -> bool:
    template = resource.name_template
    return bool(_field(resource.spec, "metadata", "name")) or (template is not UNSET and bool(template))


def _lacks_selector(resource: TResource) -> bool:
    """With conflictPolicy Force, an object may be a part of one that exists and has a selector."""
    is_workload = resource.spec.get("apiVersion") == "apps/v1" and resource.spec.get("kind") in _SELECTING
    return (
        is_workload and resource.conflict_policy != "Force" and not _field(resource.spec, "spec", "selector")
    )


def _field(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
