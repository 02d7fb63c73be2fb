"""Checks that a rendered object has the structure that every kind has; errors name the field. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from steward.tenants.errors import RenderError

MAX_DEPTH: Final = 100
"""How deeply maps and lists may be nested. No kind comes near it; far deeper objects cannot be walked recursively."""
_MAPS: Final = (("metadata",), ("metadata", "labels"), ("metadata", "annotations"))


def check_object(body: Mapping[str, Any]) -> None:
    if is_too_deep(body):
        raise RenderError("spec", f"is nested deeper than {MAX_DEPTH} levels: flatten it")
    for field in ("apiVersion", "kind"):
        if not isinstance(body.get(field), str) or not body[field]:
            raise RenderError(f"spec.{field}", f"is missing: spec is a complete object, with its {field}")
    for path in _MAPS:
        _check_map(body, path)
    if body["apiVersion"] == "v1" and body["kind"] == "Secret":
        for field in ("data", "stringData"):
            _check_map(body, (field,))
            _check_texts(body, field)


def check_names(body: Mapping[str, Any]) -> None:
    """For a rendered object; before that, names may be in other fields."""
    metadata = body.get("metadata") or {}
    for field in ("name", "namespace"):
        if not isinstance(metadata.get(field, ""), str):
            raise RenderError(f"spec.metadata.{field}", "is no text: put it in quotes")
    if not metadata.get("name"):
        raise RenderError("spec.metadata.name", "is missing: a rendered object has a name")
    owners = metadata.get("ownerReferences") or []
    if not isinstance(owners, list):
        raise RenderError("spec.metadata.ownerReferences", "is no list: write one entry for each owner")


def is_too_deep(body: Any) -> bool:
    """Level by level: recursion could exceed the stack."""
    level = [body]
    for _ in range(MAX_DEPTH):
        level = [child for value in level for child in _children(value)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    found = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (child for child in found if isinstance(child, dict | list))


def _check_map(body: Mapping[str, Any], path: tuple[str, ...]) -> None:
    value: Any = body
    for name in path:
        value = value.get(name) or {}
    if not isinstance(value, dict):
        raise RenderError(f"spec.{'.'.join(path)}", "is no map: write names and values below it")


def _check_texts(body: Mapping[str, Any], field: str) -> None:
    for name, value in (body.get(field) or {}).items():
        if not isinstance(value, str):
            raise RenderError(f"spec.{field}.{name}", "is no text: put it in quotes")
