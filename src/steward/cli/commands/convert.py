"""`steward convert`: translates manifests of the Go operators, and names what it cannot keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import click

from steward.cli.convert.conversion import convert
from steward.cli.convert.notes import LOST, Note
from steward.cli.documents import Document
from steward.cli.files import UnreadableFile, read_documents
from steward.cli.install_options import dump_yaml
from steward.cli.main import ExitCode, expected_errors

_EPILOG: Final = """\b
Example:
  steward convert old/*.yaml > new.yaml
  kubectl get mgc,coretemplates,celltemplates,shardtemplates -o yaml | steward convert - > clusters.yaml
  kubectl get lynqhubs,lynqforms -o yaml | steward convert - > tenants.yaml

\b
Exit codes: 0 everything was translated, 1 something was lost (it is named) or a file cannot be read, 2 wrong usage.
"""
_INPUT: Final = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command(name="convert", epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, type=_INPUT)
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True)
def command(files: tuple[Path, ...], output: str) -> None:
    """Translate manifests of the Go multigres operator and of Lynq. Nothing is read from or written to a cluster.

    The result goes to standard output. Standard error names each field that is lost, and each that is worth a check
    because it has another meaning. Objects of other kinds pass unchanged; objects that the operators make themselves
    are left out.
    """
    with expected_errors(UnreadableFile, OSError):
        documents = [document for file in files for document in read_documents(file)]
    results = [(document, convert(document.manifest)) for document in documents]
    manifests = [manifest for _, converted in results for manifest in converted.manifests]
    click.echo(json.dumps(manifests, indent=2) + "\n" if output == "json" else dump_yaml(manifests), nl=False)
    notes = [(document, note) for document, converted in results for note in converted.notes]
    for document, note in notes:
        click.echo(_describe(document, note), err=True)
    if any(note.effect == LOST and note.field for _, note in notes):
        raise click.exceptions.Exit(ExitCode.FAILED)


def _describe(document: Document, note: Note) -> str:
    subject = f"{document.kind}/{document.name}"
    if not note.field:
        return f"{subject}: {note.message}"
    return f"{subject}: {note.field}: {note.effect}: {note.message}"
