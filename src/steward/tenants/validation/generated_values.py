"""Validates `generate`: only Secrets have it, and no key is given twice. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from steward.kube.objects.kinds import SECRET
from steward.tenants.api.resource import TResource
from steward.tenants.objects.dependencies import duplicate_ids
from steward.tenants.rendering.generated_values import generated_values
from steward.tenants.validation.problems import Problem, ResourcePosition

_NO_SECRET: Final = "is for Secrets: write apiVersion: v1 and kind: Secret, or take it out"
_PAYLOADS: Final = ("data", "stringData")


def generate_problems(found: Iterable[ResourcePosition]) -> Iterator[Problem]:
    for position in found:
        if generated_values(position.resource):
            yield from _problems(f"{position.field}.generate", position.resource)


def _problems(field: str, resource: TResource) -> Iterator[Problem]:
    body = resource.spec
    if (body.get("apiVersion"), body.get("kind")) != SECRET:
        yield Problem(field, _NO_SECRET)
    keys = [value.key for value in generated_values(resource)]
    for key in duplicate_ids(keys):
        yield Problem(field, f"has the key {key!r} twice: take one of them out")
    for name in _PAYLOADS:
        for key in _keys(body.get(name)) & set(keys):
            yield Problem(field, f"has the key {key!r}, which spec.{name} has too: take one of them out")


def _keys(payload: Any) -> set[str]:
    return set(payload) if isinstance(payload, dict) else set()
