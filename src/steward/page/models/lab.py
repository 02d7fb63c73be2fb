"""The lab: checks and renders pasted manifests with pasted rows, as `steward lint` and `steward render` do. Pure.

Nothing is read from the cluster or written to it. Values of Secrets are replaced: a screen may be shared.
"""

from __future__ import annotations

from typing import Any, Final

import yaml
from msgspec import Struct

from steward.cli.commands.lint import lint_texts
from steward.cli.commands.render import (
    RenderInputError,
    RowTable,
    choose_document,
    parse_csv,
    prepare_job,
    refuse_errors,
    render_rows,
    require_rows,
)
from steward.cli.documents import parse_documents
from steward.kube.objects.kinds import SECRET, Manifest, kind_of
from steward.page.models.structs import Model
from steward.tenants.errors import RenderError

MANIFESTS: Final = "template"
ROWS: Final = "rows"
MOST_ROWS: Final = 20
MOST_OBJECTS: Final = 200
MASK: Final = "…"


class LabInput(Struct, rename="camel"):
    manifests: str
    rows: str = ""


class LabFinding(Model, frozen=True):
    line: int
    column: int
    severity: str
    message: str
    hints: tuple[str, ...]


class LabResult(Model, frozen=True):
    """`objects` are rendered manifests; `error` says why there are none."""

    findings: list[LabFinding]
    objects: list[Manifest]
    rejected: list[str]
    error: str = ""


def has_alias(text: str) -> bool:
    """A few aliases of aliases make a document that no check can walk through."""
    return any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.CSafeLoader))


def try_out(given: LabInput) -> LabResult:
    try:
        if has_alias(given.manifests) or has_alias(given.rows):
            return LabResult([], [], [], "the lab reads no YAML aliases (*name): write the value out")
    except yaml.YAMLError:
        pass  # reported as a finding, with its place
    found, _ = lint_texts({MANIFESTS: given.manifests})
    findings = [LabFinding(*each.position, each.severity, each.message, each.hints) for each in found]
    if not given.rows.strip() or any(each.severity == "error" for each in findings):
        return LabResult(findings, [], [])
    try:
        return _render(given, findings)
    except (RenderInputError, RenderError, yaml.YAMLError) as error:
        return LabResult(findings, [], [], str(error))


def _render(given: LabInput, findings: list[LabFinding]) -> LabResult:
    documents = list(parse_documents(MANIFESTS, given.manifests))
    template = choose_document(documents, "TenantTemplate", None)
    refuse_errors(template, documents)
    table = RowTable(_parse_table(given.rows)[:MOST_ROWS], ROWS)
    job = prepare_job(template, documents, table)
    objects = [masked(each) for each, _ in zip(render_rows(job), range(MOST_OBJECTS), strict=False)]
    rejected = [f"row {each.shown or '(no uid)'}: {each.reason}" for each in job.rows.rejected]
    return LabResult(findings, objects, rejected)


def _parse_table(text: str) -> list[dict[str, Any]]:
    """A list in JSON or YAML, else CSV."""
    if text.lstrip().startswith(("[", "-")):
        return require_rows(yaml.load(text, yaml.CSafeLoader), ROWS)
    return parse_csv(text, ROWS)


def masked(manifest: Manifest) -> Manifest:
    if kind_of(manifest) != SECRET:
        return manifest
    hidden = {
        name: dict.fromkeys(manifest[name], MASK) for name in ("data", "stringData") if manifest.get(name)
    }
    return {**manifest, **hidden}
