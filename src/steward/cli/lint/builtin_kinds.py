"""Schemas of the built-in kinds, from the file that `steward.docgen.builtin_schemas` writes.

Types are expanded when a check reaches them: they refer to each other, and a manifest uses few of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any, Final

Schema = Mapping[str, Any]
REFERENCE: Final = "$ref"
_ANY: Final = "any"
_INT_OR_STRING: Final[Schema] = {"x-kubernetes-int-or-string": True}
_SCALARS: Final[Mapping[str, Schema]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    # A quantity may be written as a number; the API server accepts that too.
    "quantity": {"x-kubernetes-int-or-string": True, "x-quantity": True},
    "int-or-string": _INT_OR_STRING,
    _ANY: {},
}


def builtin_schema(api_version: str, kind: str) -> Schema | None:
    """None for a kind that is not in the file."""
    name = _file()["kinds"].get(f"{api_version} {kind}")
    return None if name is None else expand_type(name)


def kind_problem(api_version: str, kind: str) -> str:
    """What is wrong with the name or version of a kind that resembles a built-in one; empty if nothing is."""
    served = [key.split(" ") for key in _file()["kinds"]]
    if [api_version, kind] in served or "{{" in api_version + kind:
        return ""
    here = [name for version, name in served if version == api_version]
    if similar := get_close_matches(kind, here, 1):
        return f"{api_version} has no kind {kind}; did you mean {similar[0]}?"
    group = _group(api_version)
    versions = [version for version, name in served if name == kind and _group(version) == group]
    return f"{kind} is no longer served in {api_version}: write {versions[-1]}" if versions else ""


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def resolve_schema(schema: Schema) -> Schema:
    """The schema that a reference stands for."""
    return expand_type(schema[REFERENCE]) if REFERENCE in schema else schema


@cache
def expand_type(name: str) -> Schema:
    fields = _file()["types"][name]
    return {"type": "object", "properties": {field: _schema(text) for field, text in fields.items()}}


def _schema(text: str) -> Schema:
    if text.startswith("[]"):
        return {"type": "array", "items": _schema(text[2:])}
    if text.startswith("{}"):
        return {"type": "object", "additionalProperties": _schema(text[2:])}
    return _SCALARS.get(text, {REFERENCE: text})


@cache
def _file() -> Any:
    return json.loads(resources.files(__package__).joinpath("builtin_schemas.json").read_text())


def builtin_kinds() -> Iterable[str]:
    """Each as `apiVersion kind`."""
    return tuple(_file()["kinds"])
