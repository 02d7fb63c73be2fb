"""Manifests of Lynq, the successor of the Go tenant operator, whose kinds have other names."""

from __future__ import annotations

from typing import Any, Final

from steward.cli.convert.notes import Notes, Part, entries_of, parts_of

GROUP: Final = "operator.lynq.sh"
PREFIX: Final = "lynq.sh/"
_NO_HOST: Final = (
    "Steward needs the column, which Lynq does not: the column of uid is written here;"
    " name the one that has the host"
)
_KEPT_PREFIX: Final = f"a text names {PREFIX}, which Steward does not write: check what reads it"


def convert_hub(spec: Part, notes: Notes) -> None:
    mappings = parts_of(spec.get("valueMappings"))
    if "uid" in mappings and not mappings.get("hostOrUrl"):
        mappings["hostOrUrl"] = mappings["uid"]
        notes.check("spec.valueMappings.hostOrUrl", _NO_HOST)


def convert_form(spec: Part, notes: Notes) -> None:
    notes.rename(spec, "hubId", "registryId", "spec")
    for name, resources in spec.items():
        for resource in entries_of(resources):
            if _mentions_prefix(resource):
                notes.check(f"spec.{name}[{resource.get('id')}]", _KEPT_PREFIX)


def _mentions_prefix(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_mentions_prefix(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return any(map(_mentions_prefix, value))
    return isinstance(value, str) and PREFIX in value
