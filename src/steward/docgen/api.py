"""Generates the API reference of an operator: every kind, then every struct once, in the order of first use."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import inspect as types

from steward.kube.crd.schema import INT_OR_STRING, CustomKind, class_doc, field_docs

_RESOLVED = (
    "A default is what the operator uses where neither the object nor a template of it sets the field."
)
_SCALAR_NAMES = {"StrType": "string", "BoolType": "boolean", "IntType": "integer", "FloatType": "number"}


Defaults = Mapping[type[msgspec.Struct], Mapping[str, Any]]
"""What an operator uses where a field is not set; by struct, by the name of the field in Python."""


def api_page(title: str, kinds: tuple[CustomKind, ...], defaults: Defaults | None = None) -> str:
    structs: dict[type[msgspec.Struct], None] = {}
    sections = [_kind_section(custom, structs) for custom in kinds]
    struct_sections = [_struct_section(struct, (defaults or {}).get(struct, {})) for struct in structs]
    about = f"{_RESOLVED}\n\n" if defaults else ""
    return f"# {title}\n\n{about}" + "\n".join([*sections, "## Types\n", *struct_sections])


def _kind_section(custom: CustomKind, structs: dict[type[msgspec.Struct], None]) -> str:
    names = f"`{custom.plural}`" + "".join(f", `{short}`" for short in custom.short_names)
    lines = [f"## {custom.kind}\n", f"`{custom.api_version}`; kubectl names: {names}.\n"]
    for field in _struct_fields(custom.root):
        if field.name in ("spec", "status"):
            [struct] = _structs_in(field.type)
            lines.append(f"`{field.name}`: [{struct.__name__}](#{struct.__name__.lower()})\n")
            _collect_structs(struct, structs)
    return "\n".join(lines)


def _collect_structs(struct: type[msgspec.Struct], structs: dict[type[msgspec.Struct], None]) -> None:
    """Adds the struct, then the structs of its fields."""
    if struct in structs:
        return
    structs[struct] = None
    for field in _struct_fields(struct):
        for held in _structs_in(field.type):
            _collect_structs(held, structs)


def _struct_section(struct: type[msgspec.Struct], defaults: Mapping[str, Any]) -> str:
    docs = field_docs(struct)
    rows = [
        f"| `{field.encode_name}` | {_type_text(field.type)}{', required' if field.required else ''} | "
        f"{_default_text(field, defaults.get(field.name, msgspec.UNSET))} | {_table_cell(docs.get(field.name, ''))} |"
        for field in _struct_fields(struct)
    ]
    about = f"{class_doc(struct)}\n\n" if class_doc(struct) else ""
    return (
        f"### {struct.__name__}\n\n{about}| Field | Type | Default | |\n|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def _default_text(field: types.Field, resolved: Any) -> str:
    """Empty where there is no default. `resolved` is what the operator uses; the schema does not have it."""
    default = field.default
    if default is msgspec.NODEFAULT or default is msgspec.UNSET or default is None or default == "":
        default = resolved
    return "" if default is msgspec.UNSET else f"`{_value_text(msgspec.to_builtins(default))}`"


def _value_text(value: Any) -> str:
    """As it is written in YAML, in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_value_text(each)}" for name, each in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _struct_fields(struct: type[msgspec.Struct]) -> tuple[types.Field, ...]:
    kind = types.type_info(struct)
    assert isinstance(kind, types.StructType)
    return kind.fields


def _structs_in(kind: types.Type) -> Iterator[type[msgspec.Struct]]:
    if isinstance(kind, types.StructType):
        yield kind.cls
    elif isinstance(kind, types.Metadata):
        yield from _structs_in(kind.type)
    elif isinstance(kind, types.UnionType):
        for member in kind.types:
            yield from _structs_in(member)
    elif isinstance(kind, types.ListType | types.VarTupleType | types.SetType):
        yield from _structs_in(kind.item_type)
    elif isinstance(kind, types.DictType):
        yield from _structs_in(kind.value_type)


def _type_text(kind: Any) -> str:
    if isinstance(kind, types.Metadata):
        extra = kind.extra_json_schema or {}
        return "integer or string" if extra.get(INT_OR_STRING) else _type_text(kind.type)
    if isinstance(kind, types.UnionType):
        return _type_text(next(member for member in kind.types if not isinstance(member, types.NoneType)))
    if isinstance(kind, types.StructType):
        return f"[{kind.cls.__name__}](#{kind.cls.__name__.lower()})"
    if isinstance(kind, types.ListType | types.VarTupleType | types.SetType):
        return f"list of {_type_text(kind.item_type)}"
    if isinstance(kind, types.DictType):
        return f"map to {_type_text(kind.value_type)}"
    return _scalar_text(kind)


def _scalar_text(kind: Any) -> str:
    if isinstance(kind, types.LiteralType):
        return " or ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, types.EnumType):
        return " or ".join(f"`{member.value}`" for member in kind.cls)
    return _SCALAR_NAMES.get(type(kind).__name__, "any")


def _table_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
