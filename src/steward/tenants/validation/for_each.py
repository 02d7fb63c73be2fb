"""Validates `forEach`: a constant list must be one, and names must differ from entry to entry. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.errors import RenderError
from steward.tenants.rendering.for_each import ITEM_VARIABLES, parse_items
from steward.tenants.validation.problems import Problem, ResourcePosition

_SAME_NAME: Final = (
    "gives all entries of forEach the same object: use .itemKey in it, as in {{ .uid }}-{{ .itemKey }}"
)


def for_each_problems(found: Iterable[ResourcePosition]) -> Iterator[Problem]:
    for position in found:
        text = position.resource.for_each
        if text is UNSET or not text:
            continue
        if "{{" not in text:
            yield from _constant_problems(position, text)
        if not any("." + name in each for name in ITEM_VARIABLES for each in _names(position.resource)):
            yield Problem(f"{position.field}.nameTemplate", _SAME_NAME)


def item_variables(field: str, position: ResourcePosition) -> set[str]:
    """The variables that an entry adds; `forEach` itself is rendered without them."""
    has_items = position.resource.for_each is not UNSET and field != f"{position.field}.forEach"
    return set(ITEM_VARIABLES) if has_items else set()


def _constant_problems(position: ResourcePosition, text: str) -> Iterator[Problem]:
    try:
        parse_items(text)
    except RenderError as error:
        yield Problem(f"{position.field}.forEach", error.text)


def _names(resource: TResource) -> list[str]:
    """The texts that make an object another one."""
    metadata: Any = resource.spec.get("metadata")
    inside = metadata.get("name") if isinstance(metadata, dict) else None
    texts = (resource.name_template, resource.target_namespace, inside)
    return [text for text in texts if isinstance(text, str)]
