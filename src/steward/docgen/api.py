"""The API of an operator as a document: every kind, every part once, in the order in which a reader meets them."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect as types

from steward.kube.crd.schema import INT_OR_STRING, CustomKind, class_doc, field_docs

_WORDS = {"StrType": "text", "BoolType": "boolean", "IntType": "integer", "FloatType": "number"}


def document(title: str, kinds: tuple[CustomKind, ...]) -> str:
    parts: dict[type[msgspec.Struct], None] = {}
    sections = [_kind(custom, parts) for custom in kinds]
    described = [_part(part) for part in parts]
    return f"# {title}\n\n" + "\n".join([*sections, "## Parts\n", *described])


def _kind(custom: CustomKind, parts: dict[type[msgspec.Struct], None]) -> str:
    names = f"`{custom.plural}`" + "".join(f", `{short}`" for short in custom.short_names)
    lines = [f"## {custom.kind}\n", f"`{custom.api_version}`; kubectl knows it as {names}.\n"]
    for field in _fields(custom.root):
        if field.name in ("spec", "status"):
            [struct] = _structs(field.type)
            lines.append(f"`{field.name}`: [{struct.__name__}](#{struct.__name__.lower()})\n")
            _collect(struct, parts)
    return "\n".join(lines)


def _collect(struct: type[msgspec.Struct], parts: dict[type[msgspec.Struct], None]) -> None:
    """What a part holds comes after it."""
    if struct in parts:
        return
    parts[struct] = None
    for field in _fields(struct):
        for held in _structs(field.type):
            _collect(held, parts)


def _part(struct: type[msgspec.Struct]) -> str:
    docs = field_docs(struct)
    rows = [
        f"| `{field.encode_name}` | {_type(field.type)}{', required' if field.required else ''} | "
        f"{_cell(docs.get(field.name, ''))} |"
        for field in _fields(struct)
    ]
    about = f"{class_doc(struct)}\n\n" if class_doc(struct) else ""
    return f"### {struct.__name__}\n\n{about}| Field | Type | |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _fields(struct: type[msgspec.Struct]) -> tuple[types.Field, ...]:
    kind = types.type_info(struct)
    assert isinstance(kind, types.StructType)
    return kind.fields


def _structs(kind: types.Type) -> Iterator[type[msgspec.Struct]]:
    if isinstance(kind, types.StructType):
        yield kind.cls
    elif isinstance(kind, types.Metadata):
        yield from _structs(kind.type)
    elif isinstance(kind, types.UnionType):
        for member in kind.types:
            yield from _structs(member)
    elif isinstance(kind, types.ListType | types.VarTupleType | types.SetType):
        yield from _structs(kind.item_type)
    elif isinstance(kind, types.DictType):
        yield from _structs(kind.value_type)


def _type(kind: Any) -> str:
    if isinstance(kind, types.Metadata):
        extra = kind.extra_json_schema or {}
        return "number or text" if extra.get(INT_OR_STRING) else _type(kind.type)
    if isinstance(kind, types.UnionType):
        return _type(next(member for member in kind.types if not isinstance(member, types.NoneType)))
    if isinstance(kind, types.StructType):
        return f"[{kind.cls.__name__}](#{kind.cls.__name__.lower()})"
    if isinstance(kind, types.ListType | types.VarTupleType | types.SetType):
        return f"list of {_type(kind.item_type)}"
    if isinstance(kind, types.DictType):
        return f"map to {_type(kind.value_type)}"
    return _scalar(kind)


def _scalar(kind: Any) -> str:
    if isinstance(kind, types.LiteralType):
        return " or ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, types.EnumType):
        return " or ".join(f"`{member.value}`" for member in kind.cls)
    return _WORDS.get(type(kind).__name__, "anything")


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
