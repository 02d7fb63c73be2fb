"""One error or warning of `steward lint`, with its position in a file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import yaml

from steward.cli.documents import Document, Position
from steward.tenants.validation.problems import Problem


class Finding(NamedTuple):
    """One error or warning; `severity` names which."""

    file: str
    position: Position
    severity: str
    message: str
    source: str
    """The text of the line."""
    hints: tuple[str, ...] = ()


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """By file and position, each once, without warnings at the position of an error."""
    ordered = sorted(dict.fromkeys(findings), key=lambda finding: (finding.position, finding.severity))
    errors = {(finding.file, finding.position) for finding in ordered if finding.severity == "error"}
    shown = [
        finding
        for finding in ordered
        if finding.severity == "error" or (finding.file, finding.position) not in errors
    ]
    # Stable: the order of positions stays inside each file.
    return sorted(shown, key=lambda finding: finding.file)


def has_errors(findings: Iterable[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


def invalid_yaml(file: str, lines: list[str], error: yaml.YAMLError) -> Finding:
    """The finding for a file that is not YAML."""
    mark = getattr(error, "problem_mark", None)
    position = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
    return finding_in_file(
        file, lines, position, "error", f"is not valid YAML: {getattr(error, 'problem', None) or error}"
    )


def problem_finding(document: Document, problem: Problem, severity: str) -> Finding:
    position = document.position(problem.field, problem.line, problem.column)
    return finding_at(document, problem, position, severity)


def finding_at(document: Document, problem: Problem, position: Position, severity: str) -> Finding:
    """Replaces the template excerpt in an explained error by the line of the file."""
    first, *more = problem.message.split("\n")
    first = re.sub(f"template: {re.escape(problem.field)}:[0-9]+:([0-9]+:)? ", "", first)
    hints = tuple(line for line in more if not re.match(r" +([0-9]+ )?\|", line))
    message = f"{document.kind}/{document.name}: {problem.field}: {first}"
    return finding_in_file(document.file, document.lines, position, severity, message)._replace(hints=hints)


def finding_in_file(file: str, lines: list[str], position: Position, severity: str, message: str) -> Finding:
    source = lines[position.line - 1] if position.line <= len(lines) else ""
    return Finding(file, position, severity, message, source)
