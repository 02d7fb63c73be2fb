"""Which texts give another result at every rendering: those that call functions of the clock or of random values.

Pure. The check parses each text once more, so it is done once for a version of a template, and only where the profile
has such functions at all.
"""

from collections.abc import Iterator
from typing import Any, Final

from steward.gotemplate import check
from steward.tenants.api.resource import TResource

REPEATABLE_PROFILE: Final = "hermetic"
_TEXTS: Final = ("labels_template", "annotations_template", "when", "for_each", "spec")


def is_repeatable(resource: TResource, profile: str) -> bool:
    return _is_repeatable([getattr(resource, name) for name in _TEXTS], profile) and has_repeatable_name(
        resource, profile
    )


def has_repeatable_name(resource: TResource, profile: str) -> bool:
    metadata = resource.spec.get("metadata")
    inside = metadata.get("name") if isinstance(metadata, dict) else None
    return _is_repeatable([resource.name_template, resource.target_namespace, inside], profile)


def _is_repeatable(value: Any, profile: str) -> bool:
    return profile == REPEATABLE_PROFILE or not any(_is_random(text, profile) for text in _texts(value))


def _is_random(text: str, profile: str) -> bool:
    return bool(check(text, functions="tenants", profile=profile, missingkey="defaulted").non_repeatable)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if "{{" in value:
            yield value
    elif isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _texts(child)
