"""The checks of `steward lint`: those of the webhooks, unknown fields, duplicate keys and documents without an object.

Pure: documents in, findings out. Registries and templates that a document refers to are looked up among the other
documents. Without its registry, some checks of a template are skipped; a missing template of a cluster is an error, as
on a server. Duplicate keys are errors: a server with strict decoding rejects them, others silently take the last one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
import yaml

from steward.cli.documents import Document, Position
from steward.kube.crd.schema import schema_of
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.resolution.validation import validate
from steward.multigres.resolution.warnings import spec_warnings
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.objects.permissions import Permissions
from steward.tenants.validation.access import access_advice, refused_fields
from steward.tenants.validation.registry import validate_registry
from steward.tenants.validation.template import Problem, advise_template, validate_template

SPECS: Final[dict[str, type[msgspec.Struct]]] = {
    "MultigresCluster": MultigresClusterSpec,
    "CoreTemplate": CoreTemplateSpec,
    "CellTemplate": CellTemplateSpec,
    "ShardTemplate": ShardTemplateSpec,
    "TenantRegistry": TenantRegistrySpec,
    "TenantTemplate": TenantTemplateSpec,
}
API_VERSIONS: Final = {
    custom.kind: custom.api_version for custom in (*MULTIGRES_KINDS, *TENANT_KINDS) if custom.kind in SPECS
}
NO_MANIFEST: Final = "is not a manifest: expected an object with apiVersion, kind and metadata"
_ERROR_WITH_PATH: Final = re.compile(r"(?P<why>.*) - at `\$(?P<field>.*)`", re.DOTALL)


class Finding(NamedTuple):
    """One error or warning; `severity` names which."""

    file: str
    position: Position
    severity: str
    message: str
    source: str
    """The text of the line."""
    hints: tuple[str, ...] = ()


def invalid_yaml(file: str, lines: list[str], error: yaml.YAMLError) -> Finding:
    """The finding for a file that is not YAML."""
    mark = getattr(error, "problem_mark", None)
    position = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
    return _finding_in_file(
        file, lines, position, "error", f"is not valid YAML: {getattr(error, 'problem', None) or error}"
    )


def check_documents(file: str, text: str) -> list[Finding]:
    """Findings about the YAML of a file, for any kind of object."""
    lines = text.splitlines()
    return [
        _finding_in_file(file, lines, problem.position, "error", problem.message)
        for problem in document_problems(text)
    ]


def lint(documents: Iterable[Document]) -> list[Finding]:
    """All findings, in the order of the documents."""
    checked = [document for document in documents if document.kind in SPECS]
    # No check refers to another cluster.
    others = [document for document in checked if document.kind != "MultigresCluster"]
    return [finding for document in checked for finding in _sort_findings(_check_document(document, others))]


def _sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Sorted by position, without warnings at the position of an error."""
    ordered = sorted(findings, key=lambda finding: (finding.position, finding.severity))
    error_positions = {finding.position for finding in ordered if finding.severity == "error"}
    return [
        finding
        for finding in ordered
        if finding.severity == "error" or finding.position not in error_positions
    ]


def _parse_spec(document: Document) -> Any:
    """The typed spec, or the validation error."""
    try:
        return msgspec.convert(document.manifest.get("spec") or {}, SPECS[document.kind])
    except msgspec.ValidationError as error:
        return error


def _check_document(document: Document, others: list[Document]) -> Iterator[Finding]:
    yield from (_problem_finding(document, problem, "error") for problem in _identity_problems(document))
    for problem in _unknown_fields(document.manifest.get("spec"), _schema_of(document.kind), "spec"):
        yield _finding_at(document, problem, document.key_position(problem.field), "error")
    spec = _parse_spec(document)
    if isinstance(spec, msgspec.ValidationError):
        yield _problem_finding(document, _type_problem(spec), "error")
        return
    if document.kind == "MultigresCluster":
        yield from _check_cluster(document, spec, others)
    elif document.kind == "TenantTemplate":
        yield from _check_template(document, spec, _specs_in_namespace(document, "TenantRegistry", others))
    elif document.kind == "TenantRegistry":
        yield from (_problem_finding(document, problem, "error") for problem in validate_registry(spec))


@cache
def _schema_of(kind: str) -> Mapping[str, Any]:
    """Cached for each kind: a file may hold thousands of manifests."""
    return schema_of(SPECS[kind])


def _identity_problems(document: Document) -> Iterator[Problem]:
    """Problems of apiVersion and metadata.name."""
    version, expected = document.manifest.get("apiVersion"), API_VERSIONS[document.kind]
    if version != expected:
        state = "is missing" if version is None else f"is {version}"
        yield Problem("apiVersion", f"{state}; that of a {document.kind} is {expected}")
    metadata = document.manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name:
        yield Problem("metadata.name", "is missing" if name is None else f"must be text, and is {name!r}")


def _specs_in_namespace(document: Document, kind: str, others: Iterable[Document]) -> dict[str, Any]:
    """Valid specs of a kind by name, in the namespace of the document as far as the files name one."""
    specs = {}
    for other in others:
        if other.kind == kind and (
            other.namespace == document.namespace or not (other.namespace and document.namespace)
        ):
            spec = _parse_spec(other)
            if not isinstance(spec, Exception):
                specs[other.name] = spec
    return specs


def resolve_cluster(
    document: Document, spec: MultigresClusterSpec, others: Iterable[Document]
) -> ResolvedCluster:
    """Resolves a cluster with the templates among the documents."""
    documents = list(others)
    templates = Templates(
        core=_specs_in_namespace(document, "CoreTemplate", documents),
        cell=_specs_in_namespace(document, "CellTemplate", documents),
        shard=_specs_in_namespace(document, "ShardTemplate", documents),
    )
    return resolve(ClusterIdentity(document.namespace or "default", document.name), spec, templates)


def _check_cluster(
    document: Document, spec: MultigresClusterSpec, others: list[Document]
) -> Iterator[Finding]:
    resolved = resolve_cluster(document, spec, others)
    for problem in validate(spec, resolved):
        yield _problem_finding(document, Problem(problem.field, problem.message), "error")
    for sentence in spec_warnings(spec, resolved):
        field, _, message = sentence.partition(": ")
        yield _problem_finding(document, Problem(field, message), "warning")


def _check_template(
    document: Document, spec: TenantTemplateSpec, registries: Mapping[str, TenantRegistrySpec]
) -> Iterator[Finding]:
    registry = registries.get(spec.registry_id)
    extra = None if registry is None else registry.extra_value_mappings
    mapped = None if registry is None else tuple(extra) if isinstance(extra, dict) else ()
    profile = "hermetic" if registry is None else registry.template_profile
    for problem in (*validate_template(spec, profile), *refused_fields(spec, Permissions())):
        yield _problem_finding(document, problem, "error")
    advice = access_advice(spec, document.namespace, Permissions())
    for problem in (*advise_template(spec, mapped, profile), *advice):
        yield _problem_finding(document, problem, "warning")


def _type_problem(error: msgspec.ValidationError) -> Problem:
    """The problem for a type error, with the field as users write it."""
    found = _ERROR_WITH_PATH.fullmatch(str(error))
    if found is None:
        return Problem("spec", str(error))
    return Problem(f"spec{found['field']}", found["why"])


def _unknown_fields(value: Any, schema: Mapping[str, Any], field: str) -> Iterator[Problem]:
    """Fields that are not in the schema; a server drops them silently."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown_fields(item, schema.get("items") or {}, f"{field}[{index}]")
    if not isinstance(value, dict):
        return
    properties = schema.get("properties")
    additional = schema.get("additionalProperties")
    for name, item in value.items():
        if isinstance(properties, dict) and name in properties:
            yield from _unknown_fields(item, properties[name], f"{field}.{name}")
        elif isinstance(additional, dict):
            yield from _unknown_fields(item, additional, f"{field}.{name}")
        elif isinstance(properties, dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield Problem(f"{field}.{name}", _unknown_field_message(str(name), properties))


def _unknown_field_message(name: str, properties: Mapping[str, Any]) -> str:
    similar = get_close_matches(name, properties, 1)
    return f"there is no such field; did you mean {similar[0]}?" if similar else "there is no such field"


def _problem_finding(document: Document, problem: Problem, severity: str) -> Finding:
    position = document.position(problem.field, problem.line, problem.column)
    return _finding_at(document, problem, position, severity)


def _finding_at(document: Document, problem: Problem, position: Position, severity: str) -> Finding:
    """Replaces the template excerpt in an explained error by the line of the file."""
    first, *more = problem.message.split("\n")
    first = re.sub(f"template: {re.escape(problem.field)}:[0-9]+:([0-9]+:)? ", "", first)
    hints = tuple(line for line in more if not re.match(r" +([0-9]+ )?\|", line))
    message = f"{document.kind}/{document.name}: {problem.field}: {first}"
    return _finding_in_file(document.file, document.lines, position, severity, message)._replace(hints=hints)


def _finding_in_file(file: str, lines: list[str], position: Position, severity: str, message: str) -> Finding:
    source = lines[position.line - 1] if position.line <= len(lines) else ""
    return Finding(file, position, severity, message, source)


class DocumentProblem(NamedTuple):
    """A problem of the YAML itself."""

    position: Position
    message: str


def document_problems(text: str) -> Iterator[DocumentProblem]:
    """Duplicate keys and documents that are not objects. Raises yaml.YAMLError for invalid YAML."""
    for node in yaml.compose_all(text, yaml.CSafeLoader):
        if node is None or _is_null(node):
            continue
        if not isinstance(node, yaml.MappingNode):
            yield DocumentProblem(_node_position(node), NO_MANIFEST)
        yield from _duplicate_keys(node)


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _duplicate_keys(root: yaml.Node) -> Iterator[DocumentProblem]:
    # Iterative, and each node once: an anchor may be used a million times, or inside itself.
    visited: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in visited or not isinstance(node, yaml.CollectionNode):
            continue
        visited.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield from _duplicate_keys_in(node)
            pending.extend(value for _, value in node.value)
        else:
            pending.extend(node.value)


def _duplicate_keys_in(node: yaml.MappingNode) -> Iterator[DocumentProblem]:
    first: dict[str, yaml.Node] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
            continue
        if key.value in first:
            line = first[key.value].start_mark.line + 1
            yield DocumentProblem(
                _node_position(key), f"{key.value} is a duplicate key; the first is in line {line}"
            )
        first.setdefault(key.value, key)


def _node_position(node: yaml.Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)
