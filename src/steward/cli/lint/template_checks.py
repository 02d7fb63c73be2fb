"""Checks of a TenantTemplate with the registries among the files, and of the objects in it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from steward.cli.documents import Document
from steward.cli.lint.builtin_kinds import builtin_schema, kind_problem
from steward.cli.lint.definitions import OFFLINE, Definitions
from steward.cli.lint.findings import Finding, finding_at, problem_finding
from steward.cli.lint.foreign_manifests import foreign_kind
from steward.cli.lint.own_kinds import API_VERSIONS, spec_problems, unknown_kind
from steward.cli.lint.schema_problems import SchemaProblem, schema_problems
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.names import NAME_LENGTH
from steward.tenants.objects.permissions import Permissions
from steward.tenants.validation.access import access_advice, refused_fields
from steward.tenants.validation.problems import Problem, resource_positions
from steward.tenants.validation.template import advise_template, unknown_variables, validate_template

_UNCLOSED: Final = ("unexpected EOF", "an if, range, with or define is not closed: add {{ end }}")
_ACTION: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_SHORTENING: Final = re.compile(r"\b(trunc|trunc63|substr|abbrev|if|with|range|define)\b")


class KnownRegistries(NamedTuple):
    """The registries among the files, and in the cluster if one is asked."""

    specs: Mapping[str, TenantRegistrySpec]
    """By name; only valid ones, in the namespace of the template."""
    names: list[str]
    """Of all of them."""


def check_template(
    document: Document,
    spec: TenantTemplateSpec,
    registries: KnownRegistries,
    definitions: Definitions = OFFLINE,
) -> Iterator[Finding]:
    registry = registries.specs.get(spec.registry_id)
    profile = "hermetic" if registry is None else registry.template_profile
    mapped = None if registry is None else _variables(registry)
    errors = [
        *validate_template(spec, profile),
        *refused_fields(spec, Permissions()),
        *_long_names(spec),
        *(() if mapped is None else unknown_variables(spec, mapped, profile)),
    ]
    yield from (problem_finding(document, _in_plain_words(problem), "error") for problem in errors)
    advice = access_advice(spec, document.namespace, Permissions())
    for problem in (*advise_template(spec, mapped, profile), *advice):
        yield problem_finding(document, problem, "warning")
    yield from _registry_findings(document, spec.registry_id, registries.names, definitions)
    yield from _object_findings(document, spec, definitions)


def _variables(registry: TenantRegistrySpec) -> tuple[str, ...]:
    extra = registry.extra_value_mappings
    return () if extra is UNSET else tuple(extra)


def _in_plain_words(problem: Problem) -> Problem:
    return problem._replace(message=problem.message.replace(*_UNCLOSED))


def _registry_findings(
    document: Document, name: str, known: list[str], definitions: Definitions
) -> Iterator[Finding]:
    """Without a cluster, nothing where no registry is among the files: it is in the cluster then."""
    has_cluster = definitions.has_cluster
    if name in known or not (known or has_cluster):
        return
    places = "among the files or in the cluster" if has_cluster else "among the files"
    similar = get_close_matches(name, known, 1)
    unchecked = "" if has_cluster else ", so that its variables are not checked"
    hint = f"; did you mean {similar[0]}?" if similar else unchecked
    severity = "error" if similar or has_cluster else "warning"
    message = f"no TenantRegistry {name} is {places}{hint}"
    yield problem_finding(document, Problem("spec.registryId", message), severity)


def _long_names(spec: TenantTemplateSpec) -> Iterator[Problem]:
    """Names that are too long whatever the row holds: only the text around the variables is counted."""
    for position in resource_positions(spec):
        name = position.resource.name_template
        if name is UNSET or "{{" not in name or _SHORTENING.search(name):
            continue
        length = len(_ACTION.sub("", name).encode())
        if length >= NAME_LENGTH:
            message = (
                f"has {length} characters without its variables: use trunc63 to keep it within {NAME_LENGTH}"
            )
            yield Problem(f"{position.field}.nameTemplate", message)


def _object_findings(
    document: Document, spec: TenantTemplateSpec, definitions: Definitions
) -> Iterator[Finding]:
    for position in resource_positions(spec):
        for problem in object_problems(position.resource.spec, f"{position.field}.spec", definitions):
            yield schema_finding(document, problem)


def schema_finding(document: Document, problem: SchemaProblem) -> Finding:
    position = (
        document.key_position(problem.field) if problem.is_about_name else document.position(problem.field)
    )
    return finding_at(document, Problem(problem.field, problem.message), position, "error")


def object_problems(
    manifest: Mapping[str, Any], field: str, definitions: Definitions = OFFLINE
) -> Iterator[SchemaProblem]:
    """Problems of an object of a built-in kind, of one of ours, or of a custom kind whose definition is known."""
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return
    schema = builtin_schema(version, kind) or definitions.schemas.get((version, kind))
    if schema is not None:
        yield from schema_problems(manifest, schema, field)
    elif API_VERSIONS.get(kind) == version:
        yield from spec_problems(kind, manifest.get("spec"), f"{field}.spec")
    elif message := _kind_problem(version, kind) or definitions.unserved.get((version, kind), ""):
        yield SchemaProblem(f"{field}.kind", message)


def _kind_problem(version: str, kind: str) -> str:
    return foreign_kind(version, kind) or unknown_kind(version, kind) or kind_problem(version, kind)
