"""What every object is, whatever its kind: looked at before it is taken apart, with the field in the error."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from steward.tenants.errors import RenderError

DEEPEST: Final = 100
"""How many maps and lists may stand in each other. No kind comes near it; what goes far beyond cannot be walked."""
_MAPS: Final = (("metadata",), ("metadata", "labels"), ("metadata", "annotations"))


def check_object(body: Mapping[str, Any]) -> None:
    if is_too_deep(body):
        raise RenderError("spec", f"is nested deeper than {DEEPEST} levels: flatten it")
    for field in ("apiVersion", "kind"):
        if not isinstance(body.get(field), str) or not body[field]:
            raise RenderError(f"spec.{field}", f"is missing: spec is a whole object, with its {field}")
    for path in _MAPS:
        _check_map(body, path)
    if body["apiVersion"] == "v1" and body["kind"] == "Secret":
        for field in ("data", "stringData"):
            _check_map(body, (field,))
            _check_texts(body, field)


def is_too_deep(body: Any) -> bool:
    """Level by level, since whoever goes down by recursion may not come back."""
    level = [body]
    for _ in range(DEEPEST):
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
