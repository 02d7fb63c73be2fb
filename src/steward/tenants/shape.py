"""What every object is, whatever its kind: looked at before it is taken apart, with the field in the error."""

from collections.abc import Mapping
from typing import Any, Final

from steward.tenants.errors import RenderError

_MAPS: Final = (("metadata",), ("metadata", "labels"), ("metadata", "annotations"))


def check_object(body: Mapping[str, Any]) -> None:
    for field in ("apiVersion", "kind"):
        if not isinstance(body.get(field), str) or not body[field]:
            raise RenderError(f"spec.{field}", f"is missing: spec is a whole object, with its {field}")
    for path in _MAPS:
        _check_map(body, path)
    if body["apiVersion"] == "v1" and body["kind"] == "Secret":
        for field in ("data", "stringData"):
            _check_map(body, (field,))
            _check_texts(body, field)


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
