"""`steward lint`: checks manifests, alone or against a cluster; findings have file, line, column and a caret."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import yaml

from steward.cli.definition_options import NEEDS, definition_options, read_asked_definitions
from steward.cli.documents import Document, parse_documents
from steward.cli.files import UnreadableFile, read_text
from steward.cli.lint.checks import is_checked, lint
from steward.cli.lint.definitions import OFFLINE, Definitions
from steward.cli.lint.findings import Finding, has_errors, invalid_yaml, sort_findings
from steward.cli.lint.yaml_problems import yaml_findings
from steward.cli.main import ExitCode, expected_errors

_EPILOG: Final = f"""\b
Example:
  steward lint registry.yaml templates/*.yaml
  steward lint template.yaml --with-cluster
  kubectl get tenanttemplates -o yaml | steward lint -

Exit codes: 0 no errors (there may be warnings), 1 errors were found, or the cluster cannot be read, 2 wrong usage.
{NEEDS}"""
_EXCERPT_LENGTH: Final = 160
"""Characters of a line that are shown; a generated manifest may be one line of megabytes."""
_INPUT: Final = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command(name="lint", epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, type=_INPUT)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True
)
@definition_options
def command(files: tuple[Path, ...], output: str, **options: Any) -> None:
    """Check TenantTemplates, TenantRegistries, MultigresClusters and their templates, without a cluster or against one.

    Files are checked together: a template with its registry, a cluster with the templates that it names. Objects of
    built-in kinds, alone or in a template, are compared with their schemas; objects of custom kinds with those of
    CustomResourceDefinitions among the files, and of the cluster.
    """
    findings, checked = _lint_files(files, options)
    if output == "text":
        for finding in findings:
            click.echo(format_finding(finding))
        click.echo(_summary(findings, checked), err=True)
    else:
        click.echo(_format_data(findings, output), nl=False)
    if has_errors(findings):
        raise click.exceptions.Exit(ExitCode.FAILED)


def _lint_files(files: tuple[Path, ...], options: dict[str, Any]) -> tuple[list[Finding], int]:
    with expected_errors(OSError, UnreadableFile):
        texts = {str(file): read_text(file) for file in files}
    return lint_texts(texts, lambda documents: read_asked_definitions(options, documents))


def _offline(_documents: Sequence[Document]) -> Definitions:
    return OFFLINE


def lint_texts(
    texts: Mapping[str, str], define: Callable[[Sequence[Document]], Definitions] = _offline
) -> tuple[list[Finding], int]:
    """The findings about texts by the name of their file, and how many manifests were checked. `define` returns what
    the files lack."""
    documents: list[Document] = []
    findings: list[Finding] = []
    for file, text in texts.items():
        try:
            documents += parse_documents(file, text)
            findings += yaml_findings(file, text)
        except yaml.YAMLError as error:
            findings.append(invalid_yaml(file, text.splitlines(), error))
    found = lint(documents, define(documents))
    return sort_findings([*findings, *found]), sum(map(is_checked, documents))


def format_finding(finding: Finding) -> str:
    line, column = finding.position
    number = str(line)
    source, before = _source_excerpt(finding.source, column - 1)
    return "\n".join(
        [
            f"{finding.file}:{line}:{column}: {finding.severity}: {finding.message}",
            f"  {number} | {source}",
            f"  {' ' * len(number)} | {' ' * before}^",
            *(f"  {hint}" for hint in finding.hints),
        ]
    )


def _source_excerpt(source: str, column: int) -> tuple[str, int]:
    """The excerpt of a line around the column, and the column in the excerpt."""
    start = max(0, column - _EXCERPT_LENGTH // 2) if len(source) > _EXCERPT_LENGTH else 0
    left, right = "…" * (start > 0), "…" * (start + _EXCERPT_LENGTH < len(source))
    return left + source[start : start + _EXCERPT_LENGTH] + right, column - start + len(left)


def _summary(findings: list[Finding], checked: int) -> str:
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    parts = ((checked, "manifest"), (errors, "error"), (warnings, "warning"))
    manifests, wrong, warned = (f"{count} {word}{'s' * (count != 1)}" for count, word in parts)
    return f"{manifests} checked: {wrong}, {warned}"


def _format_data(findings: list[Finding], output: str) -> str:
    rows: list[dict[str, Any]] = [
        {
            "file": finding.file,
            "line": finding.position.line,
            "column": finding.position.column,
            "severity": finding.severity,
            "message": finding.message,
            **({"hints": list(finding.hints)} if finding.hints else {}),
        }
        for finding in findings
    ]
    return json.dumps(rows, indent=2) + "\n" if output == "json" else yaml.safe_dump(rows, sort_keys=False)
