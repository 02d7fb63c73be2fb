"""Generates `values.yaml` and its schema: every value with its default and description."""

import textwrap
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec
import yaml
from msgspec import Meta, Struct, structs

from steward.install.values import Image, Values

# No registry has an image `steward`: the chart asks for a repository instead of installing pods that cannot start. The
# kustomize files keep the name, which users replace by `images` in an overlay.
_CHART_DEFAULTS: Final = structs.replace(Values(), image=Image(repository=""))
# Helm sets the namespace by --namespace.
_EXCLUDED_VALUES = frozenset({"namespace"})


def values_file() -> str:
    return (
        "# The values of Steward's chart. Made by `make generate` from src/steward/install/values.py.\n"
        + _values_lines(_CHART_DEFAULTS)
    )


def values_schema() -> dict[str, Any]:
    schema = msgspec.json.schema(Values)
    definitions = schema.get("$defs", {})
    del definitions["Values"]["properties"]["namespace"]
    # Helm adds a section `global` to the values of every chart.
    definitions["Values"]["properties"]["global"] = {"type": "object"}
    return {"$schema": "https://json-schema.org/draft-07/schema#", **schema}


def _values_lines(values: Struct, indent: int = 0) -> str:
    hints = get_type_hints(type(values), include_extras=True)
    parts = []
    for declared in structs.fields(values):
        if declared.encode_name in _EXCLUDED_VALUES:
            continue
        comment = textwrap.indent(f"# {_description(hints[declared.name])}\n", " " * indent)
        parts.append(comment + _value_entry(declared.encode_name, getattr(values, declared.name), indent))
    return "".join(parts)


def _value_entry(name: str, value: Any, indent: int) -> str:
    if isinstance(value, Struct):
        return f"{' ' * indent}{name}:\n{_values_lines(value, indent + 2)}"
    return textwrap.indent(yaml.safe_dump({name: msgspec.to_builtins(value)}, sort_keys=False), " " * indent)


def _description(hint: Any) -> str:
    assert get_origin(hint) is not None
    found = next(note for note in get_args(hint)[1:] if isinstance(note, Meta))
    return found.description or ""
