"""The chart's `values.yaml`: every value with its default, under a comment that says what it is for."""

import textwrap
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import yaml
from msgspec import Meta, Struct, structs

from steward.install.values import Values

# Helm has its own way to say where things go.
_NOT_IN_THE_CHART = frozenset({"namespace"})


def values_file() -> str:
    return (
        "# The values of Steward's chart. Made by `make generate` from src/steward/install/values.py.\n"
        + _lines(Values())
    )


def values_schema() -> dict[str, Any]:
    schema = msgspec.json.schema(Values)
    definitions = schema.get("$defs", {})
    del definitions["Values"]["properties"]["namespace"]
    # Helm hands its charts a section `global`, whatever they declare.
    definitions["Values"]["properties"]["global"] = {"type": "object"}
    return {"$schema": "https://json-schema.org/draft-07/schema#", **schema}


def _lines(values: Struct, indent: int = 0) -> str:
    hints = get_type_hints(type(values), include_extras=True)
    parts = []
    for declared in structs.fields(values):
        if declared.encode_name in _NOT_IN_THE_CHART:
            continue
        comment = textwrap.indent(f"# {_description(hints[declared.name])}\n", " " * indent)
        parts.append(comment + _entry(declared.encode_name, getattr(values, declared.name), indent))
    return "".join(parts)


def _entry(name: str, value: Any, indent: int) -> str:
    if isinstance(value, Struct):
        return f"{' ' * indent}{name}:\n{_lines(value, indent + 2)}"
    return textwrap.indent(yaml.safe_dump({name: msgspec.to_builtins(value)}, sort_keys=False), " " * indent)


def _description(hint: Any) -> str:
    assert get_origin(hint) is not None
    found = next(note for note in get_args(hint)[1:] if isinstance(note, Meta))
    return found.description or ""
