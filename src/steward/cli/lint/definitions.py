"""What the files alone do not say: registries and templates in a cluster, and the schemas of custom kinds. Pure.

Schemas come from definitions among the files, and from the OpenAPI documents of a cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from steward.cli.documents import Document
from steward.cli.lint.builtin_kinds import REFERENCE, Schema, builtin_kinds
from steward.cli.lint.own_kinds import is_own_group

KindName = tuple[str, str]
"""apiVersion and kind."""
_NESTED: Final = ("items", "additionalProperties")


class Definitions(NamedTuple):
    documents: tuple[Document, ...] = ()
    """Objects in the cluster that the files may refer to."""
    schemas: Mapping[KindName, Schema] = {}
    """Of custom kinds."""
    unserved: Mapping[KindName, str] = {}
    """Kinds that neither the files nor the cluster define, each with the sentence about it."""
    has_cluster: bool = False

    def with_files(self, documents: Iterable[Document]) -> Definitions:
        """Definitions among the files come before those of the cluster: they are about to be applied."""
        found = dict(_defined_schemas(documents))
        unserved = {name: text for name, text in self.unserved.items() if name not in found}
        return self._replace(schemas={**self.schemas, **found}, unserved=unserved)


OFFLINE: Final = Definitions()


def custom_kinds(documents: Iterable[Document]) -> set[KindName]:
    """The kinds of objects in the files, and in templates among them, whose schemas Steward does not have."""
    found = (name for document in documents for name in _kind_names(document.manifest))
    known = {tuple(name.split(" ")) for name in builtin_kinds()}
    return {name for name in found if name not in known and not is_own_group(name[0])}


def _kind_names(value: Any) -> Iterator[KindName]:
    """Of the value and of everything in it: templates hold objects in lists of several names."""
    if isinstance(value, list):
        for item in value:
            yield from _kind_names(item)
    if not isinstance(value, dict):
        return
    version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(version, str) and isinstance(kind, str) and "/" in version and "{{" not in version + kind:
        yield version, kind
    for item in value.values():
        yield from _kind_names(item)


def _defined_schemas(documents: Iterable[Document]) -> Iterator[tuple[KindName, Schema]]:
    """Schemas of the CustomResourceDefinitions among the files."""
    for document in documents:
        spec = document.manifest.get("spec")
        if document.kind != "CustomResourceDefinition" or not isinstance(spec, dict):
            continue
        for version in spec.get("versions") or ():
            schema = (version.get("schema") or {}).get("openAPIV3Schema")
            if isinstance(schema, dict):
                name = (
                    f"{spec.get('group')}/{version.get('name')}",
                    str((spec.get("names") or {}).get("kind")),
                )
                yield name, _with_identity(plain_schema(schema))


def openapi_schemas(api_version: str, document: Mapping[str, Any]) -> dict[KindName, Schema]:
    """The schemas in the OpenAPI document of a group version."""
    found = {}
    for schema in ((document.get("components") or {}).get("schemas") or {}).values():
        for each in schema.get("x-kubernetes-group-version-kind") or ():
            if f"{each.get('group')}/{each.get('version')}" == api_version:
                found[api_version, str(each.get("kind"))] = _with_identity(plain_schema(schema))
    return found


def plain_schema(schema: Mapping[str, Any]) -> Schema:
    """Without references, which only stand for types that are checked elsewhere, such as metadata, and without patterns
    that Python does not know."""
    if REFERENCE in schema or "allOf" in schema:
        return {}
    plain = dict(schema)
    if isinstance(schema.get("properties"), dict):
        plain["properties"] = {name: plain_schema(each) for name, each in schema["properties"].items()}
    for name in _NESTED:
        if isinstance(schema.get(name), dict):
            plain[name] = plain_schema(schema[name])
    if not _is_pattern(plain.get("pattern")):
        plain.pop("pattern", None)
    return plain


def _is_pattern(pattern: Any) -> bool:
    try:
        return bool(re.compile(pattern))
    except (re.error, TypeError):
        return False


def _with_identity(schema: Schema) -> Schema:
    """Every object has these fields, whether its definition names them or not."""
    if not isinstance(schema.get("properties"), dict):
        return schema
    return {**schema, "properties": {**schema["properties"], "apiVersion": {}, "kind": {}, "metadata": {}}}


def unserved_message(name: KindName, served: Iterable[str]) -> str:
    """`served`: the kinds that the cluster has in the same group version."""
    version, kind = name
    if similar := get_close_matches(kind, list(served), 1):
        return f"the cluster has no kind {kind} in {version}; did you mean {similar[0]}?"
    return f"the cluster has no kind {kind} in {version}: apply its definition first"
