"""What is wrong with manifests, told without a cluster: the same checks as the webhooks', and fields that no kind has.

Pure: documents in, findings out. What a file refers to (a registry, a template) is looked for among the other files; a
registry that is not there only leaves some questions open, a template that is not there is an error, as it would be.
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
from steward.cli.manifest_shape import misshapen
from steward.kube.crd.schema import schema_of
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, ResolvedCluster, Templates
from steward.multigres.resolution.validation import validate
from steward.multigres.resolution.warnings import advice
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.template import TenantTemplateSpec
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
_AT: Final = re.compile(r"(?P<why>.*) - at `\$(?P<field>.*)`", re.DOTALL)


class Finding(NamedTuple):
    """One thing to tell. `severity` is error or warning."""

    file: str
    position: Position
    severity: str
    message: str
    source: str
    """The line it is about."""
    hints: tuple[str, ...] = ()


def unreadable(file: str, lines: list[str], error: yaml.YAMLError) -> Finding:
    """A file that is no YAML."""
    mark = getattr(error, "problem_mark", None)
    position = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
    return _finding(file, lines, position, "error", f"is no YAML: {getattr(error, 'problem', None) or error}")


def misshapes(file: str, text: str) -> list[Finding]:
    """What is wrong with a file whatever it holds."""
    lines = text.splitlines()
    return [_finding(file, lines, found.position, "error", found.message) for found in misshapen(text)]


def lint(documents: Iterable[Document]) -> list[Finding]:
    """Everything that is wrong with them, in the order of the files."""
    known = [document for document in documents if document.kind in SPECS]
    # Clusters are held against templates, never against each other.
    named = [document for document in known if document.kind != "MultigresCluster"]
    return [finding for document in known for finding in _in_order(_judged(document, named))]


def _in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By position; no warning where there is an error already."""
    found = sorted(findings, key=lambda finding: (finding.position, finding.severity))
    wrong = {finding.position for finding in found if finding.severity == "error"}
    return [finding for finding in found if finding.severity == "error" or finding.position not in wrong]


def _typed(document: Document) -> Any:
    """The specification, or the error that keeps it from being one."""
    try:
        return msgspec.convert(document.manifest.get("spec") or {}, SPECS[document.kind])
    except msgspec.ValidationError as error:
        return error


def _judged(document: Document, known: list[Document]) -> Iterator[Finding]:
    yield from (_told(document, problem, "error") for problem in _unidentified(document))
    for problem in _unknown(document.manifest.get("spec"), _schema_of(document.kind), "spec"):
        yield _finding_of(document, problem, document.key_position(problem.field), "error")
    spec = _typed(document)
    if isinstance(spec, msgspec.ValidationError):
        yield _told(document, _misfit(spec), "error")
        return
    if document.kind == "MultigresCluster":
        yield from _judged_cluster(document, spec, known)
    elif document.kind == "TenantTemplate":
        yield from _judged_template(document, spec, _beside(document, "TenantRegistry", known))
    elif document.kind == "TenantRegistry":
        yield from (_told(document, problem, "error") for problem in validate_registry(spec))


@cache
def _schema_of(kind: str) -> Mapping[str, Any]:
    """Once for each kind: a file may hold thousands of manifests."""
    return schema_of(SPECS[kind])


def _unidentified(document: Document) -> Iterator[Problem]:
    """What a server could not even file."""
    version, expected = document.manifest.get("apiVersion"), API_VERSIONS[document.kind]
    if version != expected:
        said = "is missing" if version is None else f"is {version}"
        yield Problem("apiVersion", f"{said}; that of a {document.kind} is {expected}")
    metadata = document.manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name:
        yield Problem("metadata.name", "is missing" if name is None else f"must be text, and is {name!r}")


def _beside(document: Document, kind: str, known: Iterable[Document]) -> dict[str, Any]:
    """The specifications of a kind that live in the document's namespace, as far as the files say."""
    found = {}
    for each in known:
        if each.kind == kind and (
            each.namespace == document.namespace or not (each.namespace and document.namespace)
        ):
            spec = _typed(each)
            if not isinstance(spec, Exception):
                found[each.name] = spec
    return found


def resolved_cluster(
    document: Document, spec: MultigresClusterSpec, known: Iterable[Document]
) -> ResolvedCluster:
    """The cluster with the templates among the documents."""
    documents = list(known)
    templates = Templates(
        core=_beside(document, "CoreTemplate", documents),
        cell=_beside(document, "CellTemplate", documents),
        shard=_beside(document, "ShardTemplate", documents),
    )
    return resolve(Identity(document.namespace or "default", document.name), spec, templates)


def _judged_cluster(
    document: Document, spec: MultigresClusterSpec, known: list[Document]
) -> Iterator[Finding]:
    resolved = resolved_cluster(document, spec, known)
    for problem in validate(spec, resolved):
        yield _told(document, Problem(problem.field, problem.message), "error")
    for sentence in advice(spec, resolved):
        field, _, message = sentence.partition(": ")
        yield _told(document, Problem(field, message), "warning")


def _judged_template(
    document: Document, spec: TenantTemplateSpec, registries: Mapping[str, TenantRegistrySpec]
) -> Iterator[Finding]:
    registry = registries.get(spec.registry_id)
    extra = None if registry is None else registry.extra_value_mappings
    mapped = None if registry is None else tuple(extra) if isinstance(extra, dict) else ()
    profile = "hermetic" if registry is None else registry.template_profile
    for problem in validate_template(spec, profile):
        yield _told(document, problem, "error")
    for problem in advise_template(spec, mapped, profile):
        yield _told(document, problem, "warning")


def _misfit(error: msgspec.ValidationError) -> Problem:
    """What the types say, with the field as users write it."""
    found = _AT.fullmatch(str(error))
    if found is None:
        return Problem("spec", str(error))
    return Problem(f"spec{found['field']}", found["why"])


def _unknown(value: Any, schema: Mapping[str, Any], field: str) -> Iterator[Problem]:
    """Fields that the kind does not have: a server drops them without a word."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(item, schema.get("items") or {}, f"{field}[{index}]")
    if not isinstance(value, dict):
        return
    properties = schema.get("properties")
    below = schema.get("additionalProperties")
    for name, item in value.items():
        if isinstance(properties, dict) and name in properties:
            yield from _unknown(item, properties[name], f"{field}.{name}")
        elif isinstance(below, dict):
            yield from _unknown(item, below, f"{field}.{name}")
        elif isinstance(properties, dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield Problem(f"{field}.{name}", _no_such_field(str(name), properties))


def _no_such_field(name: str, properties: Mapping[str, Any]) -> str:
    meant = get_close_matches(name, properties, 1)
    return f"there is no such field; did you mean {meant[0]}?" if meant else "there is no such field"


def _told(document: Document, problem: Problem, severity: str) -> Finding:
    position = document.position(problem.field, problem.line, problem.column)
    return _finding_of(document, problem, position, severity)


def _finding_of(document: Document, problem: Problem, position: Position, severity: str) -> Finding:
    """An explained error shows where in the template it is; here the file's own line is shown instead."""
    first, *more = problem.message.split("\n")
    first = re.sub(f"template: {re.escape(problem.field)}:[0-9]+:([0-9]+:)? ", "", first)
    hints = tuple(line for line in more if not re.match(r" +([0-9]+ )?\|", line))
    message = f"{document.kind}/{document.name}: {problem.field}: {first}"
    return _finding(document.file, document.lines, position, severity, message)._replace(hints=hints)


def _finding(file: str, lines: list[str], position: Position, severity: str, message: str) -> Finding:
    source = lines[position.line - 1] if position.line <= len(lines) else ""
    return Finding(file, position, severity, message, source)
