"""Extracts the fields of an object that one manager owns, from managedFields. Pure."""

from __future__ import annotations

import json
from typing import Any

Fields = dict[str, Any]


def written_by(manager: str, obj: Fields, subresource: str = "") -> Fields | None:
    """The manager's fields, without name and namespace; None if it owns none."""
    entries = [
        entry
        for entry in obj["metadata"].get("managedFields", ())
        if entry["manager"] == manager and entry.get("subresource", "") == subresource
    ]
    # An apply entry is complete; other entries count only without one.
    chosen = [entry for entry in entries if entry["operation"] == "Apply"] or entries
    if not chosen:
        return None
    part: Fields = {}
    for entry in chosen:
        part |= _project(entry["fieldsV1"], obj)
    return part


def _project(fields: Fields, value: Any) -> Any:
    members = {name: nested for name, nested in fields.items() if name != "."}
    if not members:
        return value
    if isinstance(value, dict):
        return {
            name[2:]: _project(nested, value[name[2:]])
            for name, nested in members.items()
            if name[2:] in value
        }
    return _items(members, value)


def _items(members: Fields, items: list[Any]) -> list[Any]:
    if all(name.startswith("v:") for name in members):
        return [item for item in items if f"v:{json.dumps(item)}" in members]
    keyed = [(json.loads(name[2:]), nested) for name, nested in members.items()]
    return [
        {**keys, **_project(nested, item)}
        for item in items
        for keys, nested in keyed
        if all(item.get(key) == held for key, held in keys.items())
    ]
