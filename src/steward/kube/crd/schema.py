"""Generates CustomResourceDefinitions from msgspec Structs.

The struct is the only source: names, bounds and CEL rules come from its annotations, and descriptions from the
docstrings of its fields, so that `kubectl explain` shows them. The schema is structural: no `$ref`, no `anyOf`
except for int-or-string, and a type at every node.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect as types

Schema = dict[str, Any]

ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}
INT_OR_STRING = "x-kubernetes-int-or-string"
NOT_OBSERVED = -1
"""The observedGeneration of an object that has no status yet. Tools that follow kstatus take an object without a status
for ready."""


class Cel(NamedTuple):
    """A CEL validation rule of the API server. Structs list theirs in a class variable `rules`."""

    rule: str
    message: str
    field_path: str = ""


class Column(NamedTuple):
    """A column of `kubectl get`. Priority 1 is shown only with `-o wide`."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0
    description: str = ""


@dataclass(frozen=True)
class CustomKind:
    """A custom resource, with all that its definition needs."""

    group: str
    version: str
    kind: str
    plural: str
    root: type[msgspec.Struct]
    short_names: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"

    @property
    def name(self) -> str:
        """The name of the CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"


class SchemaError(TypeError):
    """A struct has a type that a structural schema cannot express; the message names struct and field."""


def definition(custom: CustomKind) -> dict[str, Any]:
    names: dict[str, Any] = {
        "kind": custom.kind,
        "listKind": f"{custom.kind}List",
        "plural": custom.plural,
        "singular": custom.kind.lower(),
    }
    if custom.short_names:
        names["shortNames"] = list(custom.short_names)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": custom.name},
        "spec": {
            "group": custom.group,
            "names": names,
            "scope": "Namespaced",
            "versions": [_version(custom)],
        },
    }


def _version(custom: CustomKind) -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": custom.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _root_schema(custom.root)},
    }
    if custom.columns:
        version["additionalPrinterColumns"] = [_column(column) for column in custom.columns]
    subresources: dict[str, Any] = {}
    if "status" in version["schema"]["openAPIV3Schema"]["properties"]:
        subresources["status"] = {}
    if subresources:
        version["subresources"] = subresources
    return version


def _column(column: Column) -> dict[str, Any]:
    printed: dict[str, Any] = {"name": column.name, "jsonPath": column.path, "type": column.type}
    if column.priority:
        printed["priority"] = column.priority
    if column.description:
        printed["description"] = column.description
    return printed


def _root_schema(root: type[msgspec.Struct]) -> Schema:
    schema = schema_of(root)
    # The API server defines these three, and rejects more than their types here.
    schema["properties"] = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        **schema["properties"],
        "metadata": _metadata_schema(schema["properties"]["metadata"]),
    }
    status = schema["properties"].get("status", {})
    if "observedGeneration" in status.get("properties", {}):
        status["default"] = {"observedGeneration": NOT_OBSERVED}
    return schema


def _metadata_schema(schema: Schema) -> Schema:
    named = schema.get("properties", {}).get("name", {})
    bounds = {key: named[key] for key in ("maxLength", "minLength", "pattern") if key in named}
    if not bounds:
        return {"type": "object"}
    return {"type": "object", "properties": {"name": {"type": "string", **bounds}}}


def schema_of(annotation: Any) -> Schema:
    """The structural schema of a type annotation."""
    return _schema(types.type_info(annotation), where=getattr(annotation, "__name__", str(annotation)))


def _schema(kind: types.Type, where: str) -> Schema:
    if isinstance(kind, types.Metadata):
        return _annotated(kind, where)
    if isinstance(kind, types.StructType):
        return _struct(kind)
    if isinstance(kind, types.UnionType):
        return _union(kind, where)
    if isinstance(kind, types.ListType | types.VarTupleType | types.SetType):
        return _bounded({"type": "array", "items": _schema(kind.item_type, f"{where}[]")}, kind, "Items")
    if isinstance(kind, types.DictType):
        values = _schema(kind.value_type, f"{where}{{}}")
        return _bounded({"type": "object", "additionalProperties": values}, kind, "Properties")
    return _scalar(kind, where)


def _annotated(kind: types.Metadata, where: str) -> Schema:
    # A copy for each use: YAML would write the same dict in two places as an anchor.
    extra = copy.deepcopy(kind.extra_json_schema or {})
    if extra.get(INT_OR_STRING):
        return {"anyOf": [{"type": "integer"}, {"type": "string"}], **extra}
    if extra.get("x-kubernetes-preserve-unknown-fields"):
        return extra
    return {**_schema(kind.type, where), **extra}


def _union(kind: types.UnionType, where: str) -> Schema:
    # msgspec leaves UNSET out of the union: whether a field is optional follows from its default, not from its type.
    present = [member for member in kind.types if not isinstance(member, types.NoneType)]
    if len(present) != 1:
        raise SchemaError(f"{where}: a union of {len(present)} types has no structural schema; use one type")
    schema = _schema(present[0], where)
    if any(isinstance(member, types.NoneType) for member in kind.types):
        schema["nullable"] = True
    return schema


def _scalar(kind: types.Type, where: str) -> Schema:
    if isinstance(kind, types.StrType):
        schema = _bounded({"type": "string"}, kind, "Length")
        return schema if kind.pattern is None else {**schema, "pattern": kind.pattern}
    if isinstance(kind, types.BoolType):
        return {"type": "boolean"}
    if isinstance(kind, types.IntType):
        return _ranged({"type": "integer"}, kind)
    if isinstance(kind, types.FloatType):
        return _ranged({"type": "number"}, kind)
    if isinstance(kind, types.LiteralType):
        return {"type": "string", "enum": list(kind.values)}
    if isinstance(kind, types.EnumType):
        return {"type": "string", "enum": [member.value for member in kind.cls]}
    if isinstance(kind, types.AnyType | types.RawType):
        return dict(ANYTHING)
    raise SchemaError(
        f"{where}: {type(kind).__name__} has no structural schema; use a struct, list, map or scalar"
    )


def _bounded(schema: Schema, kind: Any, noun: str) -> Schema:
    if kind.min_length is not None:
        schema[f"min{noun}"] = kind.min_length
    if kind.max_length is not None:
        schema[f"max{noun}"] = kind.max_length
    return schema


def _ranged(schema: Schema, kind: types.IntType | types.FloatType) -> Schema:
    if kind.ge is not None:
        schema["minimum"] = kind.ge
    if kind.le is not None:
        schema["maximum"] = kind.le
    return schema


def _struct(kind: types.StructType) -> Schema:
    struct = kind.cls
    docs = field_docs(struct)
    schema: Schema = {"type": "object"}
    if description := class_doc(struct):
        schema["description"] = description
    fields = {field.encode_name: field for field in kind.fields}
    ordered = [fields[name] for name in property_names(struct)]
    schema["properties"] = {
        field.encode_name: _field(struct, field, docs.get(field.name, "")) for field in ordered
    }
    required = [field.encode_name for field in ordered if field.required]
    if required:
        schema["required"] = required
    if rules := getattr(struct, "rules", ()):
        schema["x-kubernetes-validations"] = [_cel(rule) for rule in rules]
    return schema


@cache
def property_names(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """Names of the fields on the wire, in the order of `property_order` where the struct declares one.

    msgspec lists inherited fields first; a struct that shares fields with others still starts with its own name.
    """
    order: Sequence[str] = getattr(struct, "property_order", ())
    fields = [field for field in msgspec.structs.fields(struct) if field.name not in order]
    by_name = {field.name: field.encode_name for field in msgspec.structs.fields(struct)}
    return (*(by_name[name] for name in order), *(field.encode_name for field in fields))


def _field(struct: type[msgspec.Struct], field: types.Field, doc: str) -> Schema:
    schema = _schema(field.type, f"{struct.__name__}.{field.name}")
    return {**schema, "description": doc} if doc else schema


def _cel(rule: Cel) -> dict[str, Any]:
    printed = {"rule": rule.rule, "message": rule.message}
    if rule.field_path:
        printed["fieldPath"] = rule.field_path
    return printed


def class_doc(struct: type[msgspec.Struct]) -> str:
    # msgspec generates a signature as __doc__ of parents; only the docstring of the class itself counts.
    return " ".join((struct.__dict__.get("__doc__") or "").split())


@cache
def field_docs(struct: type[msgspec.Struct]) -> dict[str, str]:
    """The string literal after each field, including inherited fields.

    Read from the source when a CRD is generated, never in a running operator. Python does not keep docstrings of
    fields; descriptions inside the annotations were rejected because they hide the types.
    """
    docs: dict[str, str] = {}
    for parent in reversed(struct.__mro__):
        if issubclass(parent, msgspec.Struct) and parent is not msgspec.Struct:
            docs.update(_own_field_docs(parent))
    return docs


def _own_field_docs(struct: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    written = _classes(struct.__module__)[struct.__qualname__]
    for statement, following in itertools.pairwise(written.body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            text = _literal(following)
            if text:
                yield statement.target.id, " ".join(text.split())


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """Classes by qualified name. `inspect.getsource` of a class would parse the module for each class."""
    return dict(_classes_in(ast.parse(inspect.getsource(sys.modules[module])), ""))


def _classes_in(scope: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for node in ast.iter_child_nodes(scope):
        below = prefix
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, node
            below = f"{prefix}{node.name}."
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            below = f"{prefix}{node.name}.<locals>."
        if isinstance(node, ast.stmt):
            yield from _classes_in(node, below)


def _literal(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return str(statement.value.value)
    return ""
