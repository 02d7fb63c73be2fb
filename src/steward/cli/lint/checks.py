"""The checks of `steward lint`: those of the webhooks, the schemas, and what the files say about each other.

Pure: documents in, findings out. Registries and templates that a document refers to are looked up among the other
documents, and among the definitions of a cluster if one was asked. Without its registry, some checks of a template are
skipped; a missing template of a cluster is an error, as on a server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from steward.cli.documents import Document
from steward.cli.lint.builtin_kinds import builtin_kinds
from steward.cli.lint.definitions import OFFLINE, Definitions
from steward.cli.lint.findings import Finding, problem_finding, sort_findings
from steward.cli.lint.foreign_manifests import foreign_kind
from steward.cli.lint.own_kinds import API_VERSIONS, SPECS, spec_problems, unknown_kind
from steward.cli.lint.template_checks import (
    KnownRegistries,
    check_template,
    object_problems,
    schema_finding,
)
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.resolution.validation import validate
from steward.multigres.resolution.warnings.clusters import spec_warnings
from steward.tenants.validation.problems import Problem
from steward.tenants.validation.registry import advise_registry, validate_registry


def lint(documents: Iterable[Document], definitions: Definitions = OFFLINE) -> list[Finding]:
    """All findings, by file and position."""
    found = list(documents)
    known = definitions.with_files(found)
    # No check refers to another cluster. Of two objects with the same name, that of the files comes last and counts.
    others = [
        document
        for document in (*known.documents, *found)
        if document.kind in SPECS and document.kind != "MultigresCluster"
    ]
    return sort_findings(
        finding for document in found for finding in _check_any_document(document, others, known)
    )


def is_checked(document: Document) -> bool:
    version = document.manifest.get("apiVersion")
    return document.kind in SPECS or f"{version} {document.kind}" in builtin_kinds()


def _check_any_document(
    document: Document, others: list[Document], definitions: Definitions
) -> Iterator[Finding]:
    version = str(document.manifest.get("apiVersion", ""))
    if sentence := foreign_kind(version, document.kind) or unknown_kind(version, document.kind):
        yield problem_finding(document, Problem("kind", sentence), "error")
    elif document.kind in SPECS:
        yield from _check_document(document, others, definitions)
    else:
        for problem in object_problems(document.manifest, "", definitions):
            yield schema_finding(document, problem._replace(field=problem.field.lstrip(".")))


def _parse_spec(document: Document) -> Any:
    """The typed spec, or the validation error."""
    try:
        return msgspec.convert(document.manifest.get("spec") or {}, SPECS[document.kind])
    except msgspec.ValidationError as error:
        return error


def _check_document(
    document: Document, others: list[Document], definitions: Definitions
) -> Iterator[Finding]:
    yield from (problem_finding(document, problem, "error") for problem in _identity_problems(document))
    given = document.manifest.get("spec")
    problems = list(spec_problems(document.kind, {} if given is None else given, "spec"))
    yield from (schema_finding(document, problem) for problem in problems)
    spec = _parse_spec(document)
    if isinstance(spec, msgspec.ValidationError):
        if not problems:
            # The schema says all that the decoder requires, and a test compares them; an error is better than silence.
            yield problem_finding(document, Problem("spec", str(spec)), "error")
        return
    if document.kind == "MultigresCluster":
        yield from _check_cluster(document, spec, others)
    elif document.kind == "TenantTemplate":
        registries = _specs_in_namespace(document, "TenantRegistry", others)
        names = [other.name for other in others if other.kind == "TenantRegistry"]
        yield from check_template(document, spec, KnownRegistries(registries, names), definitions)
    elif document.kind == "TenantRegistry":
        yield from (problem_finding(document, problem, "error") for problem in validate_registry(spec))
        yield from (problem_finding(document, problem, "warning") for problem in advise_registry(spec))


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
    """Valid specs of a kind by name, in the namespace of the document as far as the files name one. Of several with the
    same name, the one in the same file counts."""
    specs = {}
    for other in sorted(others, key=lambda each: each.file == document.file):
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
        yield problem_finding(document, Problem(problem.field, problem.message), "error")
    for sentence in spec_warnings(spec, resolved):
        field, _, message = sentence.partition(": ")
        yield problem_finding(document, Problem(field, message), "warning")
