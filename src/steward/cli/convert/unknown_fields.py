"""Removes the fields that a schema does not have, as an API server would, and names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from steward.cli.convert.notes import Notes

NO_FIELD: Final = "Steward has no such field"
_PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"


def remove_unknown_fields(value: Any, schema: Mapping[str, Any], field: str, notes: Notes) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            where = f"{field}[{_entry_name(item, index)}]"
            remove_unknown_fields(item, schema.get("items") or {}, where, notes)
    elif isinstance(value, dict):
        _remove_from_map(value, schema, field, notes)


def _remove_from_map(value: dict[str, Any], schema: Mapping[str, Any], field: str, notes: Notes) -> None:
    properties, additional = schema.get("properties"), schema.get("additionalProperties")
    for name in list(value):
        if isinstance(properties, dict) and name in properties:
            remove_unknown_fields(value[name], properties[name], f"{field}.{name}", notes)
        elif isinstance(additional, dict):
            remove_unknown_fields(value[name], additional, f"{field}[{name}]", notes)
        elif isinstance(properties, dict) and not schema.get(_PRESERVE):
            del value[name]
            notes.lost(f"{field}.{name}", NO_FIELD)


def _entry_name(item: Any, index: int) -> str:
    named = (item.get(key) for key in ("name", "id")) if isinstance(item, dict) else ()
    return next((str(name) for name in named if name), str(index))
