"""`steward lint`: all that is wrong with manifests, with file, line, column and a caret. No cluster is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import click
import yaml

from steward.cli.documents import Document, read_documents
from steward.cli.files import NotReadable, text_of
from steward.cli.lint_checks import SPECS, Finding, lint, misshapes, unreadable
from steward.cli.main import ExitCode, one_sentence

_EPILOG: Final = """\b
Example:
  steward lint registry.yaml templates/*.yaml
  kubectl get tenanttemplates -o yaml | steward lint -

Exit codes: 0 nothing wrong (warnings may be told), 1 something is wrong, 2 wrong usage.
"""
_SHOWN: Final = 160
"""So much of a line is shown; a manifest that a program wrote may be one line of megabytes."""
_INPUT: Final = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command(name="lint", epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, type=_INPUT)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True
)
def command(files: tuple[Path, ...], output: str) -> None:
    """Check TenantTemplates, TenantRegistries, MultigresClusters and their templates, without a cluster.

    Files are checked together: a template is held against its registry, a cluster against the templates that it names.
    """
    findings, checked = _linted(files)
    if output == "text":
        for finding in findings:
            click.echo(as_text(finding))
        click.echo(_summary(findings, checked), err=True)
    else:
        click.echo(_as_data(findings, output), nl=False)
    if any(finding.severity == "error" for finding in findings):
        raise click.exceptions.Exit(ExitCode.FAILED)


def _linted(files: tuple[Path, ...]) -> tuple[list[Finding], int]:
    documents: list[Document] = []
    broken: list[Finding] = []
    for file in files:
        with one_sentence(OSError, NotReadable):
            text = text_of(file)
        try:
            documents += read_documents(str(file), text)
            broken += misshapes(str(file), text)
        except yaml.YAMLError as error:
            broken.append(unreadable(str(file), text.splitlines(), error))
    return [*broken, *lint(documents)], sum(document.kind in SPECS for document in documents)


def as_text(finding: Finding) -> str:
    line, column = finding.position
    number = str(line)
    source, before = _part(finding.source, column - 1)
    return "\n".join(
        [
            f"{finding.file}:{line}:{column}: {finding.severity}: {finding.message}",
            f"  {number} | {source}",
            f"  {' ' * len(number)} | {' ' * before}^",
            *(f"  {hint}" for hint in finding.hints),
        ]
    )


def _part(source: str, place: int) -> tuple[str, int]:
    """What is shown of a line, and where in that the place is."""
    start = max(0, place - _SHOWN // 2) if len(source) > _SHOWN else 0
    left, right = "…" * (start > 0), "…" * (start + _SHOWN < len(source))
    return left + source[start : start + _SHOWN] + right, place - start + len(left)


def _summary(findings: list[Finding], checked: int) -> str:
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    parts = ((checked, "manifest"), (errors, "error"), (warnings, "warning"))
    manifests, wrong, doubtful = (f"{count} {word}{'s' * (count != 1)}" for count, word in parts)
    return f"{manifests} checked: {wrong}, {doubtful}"


def _as_data(findings: list[Finding], output: str) -> str:
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
