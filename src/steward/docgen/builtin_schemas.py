"""Reduces the OpenAPI document of an API server to the field names and types of the kinds that templates hold.

The whole document has 4 MB, most of it descriptions; the result has a hundredth of that, so that `steward lint`
carries it. It is written when the pinned Kubernetes version changes, from a running `steward up`:

    steward kubectl get --raw /openapi/v2 | python -m steward.docgen.builtin_schemas

A test compares it with the document that the API server of the tests serves. Left out: descriptions, statuses, required
fields (an object with conflictPolicy Force may be a part of an existing one) and kinds that only operators write.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

KINDS: Final = (
    ("apps", "DaemonSet"), ("apps", "Deployment"), ("apps", "ReplicaSet"), ("apps", "StatefulSet"),
    ("autoscaling", "HorizontalPodAutoscaler"), ("batch", "CronJob"), ("batch", "Job"),
    ("coordination.k8s.io", "Lease"), ("", "ConfigMap"), ("", "LimitRange"), ("", "Namespace"),
    ("", "PersistentVolume"), ("", "PersistentVolumeClaim"), ("", "Pod"), ("", "ResourceQuota"), ("", "Secret"),
    ("", "Service"), ("", "ServiceAccount"), ("networking.k8s.io", "Ingress"), ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "NetworkPolicy"), ("policy", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "ClusterRole"), ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"), ("rbac.authorization.k8s.io", "RoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"), ("storage.k8s.io", "StorageClass"),
)  # fmt: skip
_UNCHECKED: Final = ("status", "managedFields")
"""Fields that the API server writes: any value is accepted, as in the output of kubectl."""
_REFERENCE: Final = "#/definitions/"
_PREFIXES: Final = ("io.k8s.api.", "io.k8s.apimachinery.pkg.apis.", "io.k8s.apimachinery.pkg.")
_FILE: Final = Path(__file__).parents[1] / "cli" / "lint" / "builtin_schemas.json"

Types = dict[str, dict[str, str]]


def reduce_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """`kinds`: the type of each kind; `types`: the fields of each type. A type is a name, `[]name` or `{}name`."""
    definitions = document["definitions"]
    kinds = dict(sorted(_stable_kinds(definitions)))
    types: Types = {}
    for definition in kinds.values():
        _add_types(definition, definitions, types)
    return {
        "kinds": {kind: _short_name(definition) for kind, definition in kinds.items()},
        "types": dict(sorted(types.items())),
    }


def format_schemas(reduced: Mapping[str, Any]) -> str:
    """One type a line, so that a change is readable in a diff."""
    sections = []
    for name, members in reduced.items():
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in members.items())
        sections.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def _stable_kinds(definitions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, definition in definitions.items():
        for served in definition.get("x-kubernetes-group-version-kind", ()):
            group, version, kind = served["group"], served["version"], served["kind"]
            if (group, kind) in KINDS and "alpha" not in version and "beta" not in version:
                yield f"{group}/{version} {kind}".lstrip("/"), name


def _add_types(name: str, definitions: Mapping[str, Any], types: Types) -> None:
    """Adds the definition and all that its fields refer to."""
    pending = [name]
    while pending:
        current = pending.pop()
        if _short_name(current) in types:
            continue
        fields = {
            field: {} if field in _UNCHECKED else schema
            for field, schema in definitions[current]["properties"].items()
        }
        types[_short_name(current)] = {
            field: _type_name(schema, definitions) for field, schema in sorted(fields.items())
        }
        pending += [found for schema in fields.values() for found in _references(schema, definitions)]


def _references(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    if reference := schema.get("$ref"):
        name = reference.removeprefix(_REFERENCE)
        if definitions[name].get("properties"):
            yield name
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from _references(schema[inner], definitions)


def _type_name(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if reference := schema.get("$ref"):
        return _referred_name(reference.removeprefix(_REFERENCE), definitions)
    if schema.get("type") == "array":
        return f"[]{_type_name(schema['items'], definitions)}"
    if schema.get("type") == "object":
        return (
            f"{{}}{_type_name(schema['additionalProperties'], definitions)}"
            if schema.get("additionalProperties")
            else "any"
        )
    return str(schema.get("type", "any"))


def _referred_name(name: str, definitions: Mapping[str, Any]) -> str:
    definition = definitions[name]
    if definition.get("properties"):
        return _short_name(name)
    if name.endswith(".Quantity"):
        return "quantity"
    if definition.get("format") == "int-or-string":
        return "int-or-string"
    return str(definition.get("type", "any")) if definition.get("type") != "object" else "any"


def _short_name(definition: str) -> str:
    for prefix in _PREFIXES:
        definition = definition.removeprefix(prefix)
    return definition


if __name__ == "__main__":
    _FILE.write_text(format_schemas(reduce_document(json.load(sys.stdin))))
