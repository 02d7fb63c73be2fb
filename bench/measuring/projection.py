"""The part of an object that one manager wrote, read from managedFields. Pure."""

from __future__ import annotations

import json
from typing import Any

Fields = dict[str, Any]


def written_by(manager: str, obj: Fields, subresource: str = "") -> Fields | None:
    """Without the metadata that names the object; None when the manager wrote nothing of it."""
    entries = [
        entry
        for entry in obj["metadata"].get("managedFields", ())
        if entry["manager"] == manager and entry.get("subresource", "") == subresource
    ]
    # What was applied is the whole of it; only what was never applied was created.
    chosen = [entry for entry in entries if entry["operation"] == "Apply"] or entries
    if not chosen:
        return None
    part: Fields = {}
    for entry in chosen:
        part |= _project(entry["fieldsV1"], obj)
    return part


def _project(fields: Fields, value: Any) -> Any:
    members = {name: below for name, below in fields.items() if name != "."}
    if not members:
        return value
    if isinstance(value, dict):
        return {
            name[2:]: _project(below, value[name[2:]]) for name, below in members.items() if name[2:] in value
        }
    return _items(members, value)


def _items(members: Fields, items: list[Any]) -> list[Any]:
    if all(name.startswith("v:") for name in members):
        return [item for item in items if f"v:{json.dumps(item)}" in members]
    keyed = [(json.loads(name[2:]), below) for name, below in members.items()]
    return [
        {**keys, **_project(below, item)}
        for item in items
        for keys, below in keyed
        if all(item.get(key) == held for key, held in keys.items())
    ]
