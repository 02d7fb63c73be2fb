"""`steward render`: what grows out of a TenantTemplate and rows, or out of a MultigresCluster, without a server.

The same files give the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click
import msgspec

from steward.cli.documents import Document
from steward.cli.files import NotReadable, documents_of, text_of, yaml_of
from steward.cli.install_options import as_yaml
from steward.cli.main import ExitCode, one_sentence
from steward.cli.output import some_of
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError
from steward.tenants.names import TenantKey, name_tenants
from steward.tenants.rendering.render import TenantIdentity, prepare_template, render
from steward.tenants.rendering.secret_payload import joined
from steward.tenants.rendering.variables import variables_of
from steward.tenants.sources.rows import Columns, Rows, columns_of, sort_rows

_EPILOG: Final = """\b
Example:
  printf 'uid,hostOrUrl,activate\\nacme,https://acme.example.com,true\\n' > rows.csv
  steward render -f template.yaml --rows rows.csv
  steward render -f template.yaml -f registry.yaml --rows rows.json -o json
  steward render -f cluster.yaml -f templates.yaml

\b
Exit codes: 0 all was rendered, 1 a row, a template or a cluster cannot be, 2 wrong usage.
"""
_INPUT: Final = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
_BUILT_IN: Final = ("uid", "hostOrUrl", "activate")
_Spec = TypeVar("_Spec", bound=msgspec.Struct)


class NotRendered(ValueError):
    """There is nothing to render, or no way to; the message says the cure."""


class _Job(NamedTuple):
    template: Document
    registry: Document | None
    rows: Rows


@click.command(name="render", epilog=_EPILOG)
@click.option(
    "-f", "--file", "files", type=_INPUT, multiple=True, required=True, help="Manifests; - for stdin."
)
@click.option(
    "--rows", type=_INPUT, help="Rows for a TenantTemplate: CSV with a header, or a list in JSON or YAML."
)
@click.option("--name", help="Which TenantTemplate or MultigresCluster, if the files hold several.")
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True)
def command(files: tuple[Path, ...], rows: Path | None, name: str | None, output: str) -> None:
    """Print the manifests that grow out of a TenantTemplate with --rows, or out of a MultigresCluster without.

    With its TenantRegistry among the files, a template gets its columns, variables and profile; without, the columns
    are uid, hostOrUrl and activate, and every other column is a variable of its name. A cluster needs the templates
    that it names among the files; Secrets and owner references are left out.
    """
    with one_sentence(NotRendered, RenderError, NotReadable, OSError):
        documents = [document for file in files for document in documents_of(file)]
        if rows is None:
            return _print(_of_cluster(documents, name), output)
        job = _job(documents, rows, name)
        _print(list(rendered(job)), output)
    for rejected in job.rows.rejected:
        click.echo(f"row {rejected.shown or '(no uid)'}: {rejected.reason}", err=True)
    if job.rows.rejected:
        raise click.exceptions.Exit(ExitCode.FAILED)
    return None


def _print(manifests: list[dict[str, Any]], output: str) -> None:
    click.echo(json.dumps(manifests, indent=2) + "\n" if output == "json" else as_yaml(manifests), nl=False)


def _chosen(documents: list[Document], kind: str, name: str | None) -> Document:
    found = [each for each in documents if each.kind == kind and name in (None, each.name)]
    if len(found) != 1:
        names = some_of([each.name for each in documents if each.kind == kind])
        raise NotRendered(f"choose one {kind} with --name; the files hold: {names}")
    if not found[0].name:
        raise NotRendered(f"the {kind} in {found[0].file} has no metadata.name")
    return found[0]


def _of_cluster(documents: list[Document], name: str | None) -> list[dict[str, Any]]:
    from steward.cli.lint_checks import resolved_cluster
    from steward.cli.preview.offline_tree import grown
    from steward.multigres.api.cluster import MultigresClusterSpec
    from steward.multigres.resolution.validation import validate

    cluster = _chosen(documents, "MultigresCluster", name)
    spec = _typed(cluster, MultigresClusterSpec)
    resolved = resolved_cluster(cluster, spec, documents)
    if problems := validate(spec, resolved):
        told = "; ".join(f"{problem.field}: {problem.message}" for problem in problems)
        raise NotRendered(f"MultigresCluster/{cluster.name} in {cluster.file}: {told}")
    return list(grown(cluster.namespace or "default", cluster.name, spec, resolved))


def _job(documents: list[Document], rows: Path, name: str | None) -> _Job:
    template = _chosen(documents, "TenantTemplate", name)
    wanted = _typed(template, TenantTemplateSpec).registry_id
    registry = next(
        (each for each in documents if (each.kind, each.name) == ("TenantRegistry", wanted)), None
    )
    table = _table(rows)
    columns = _columns_in(table) if registry is None else columns_of(_typed(registry, TenantRegistrySpec))
    return _Job(template, registry, _sorted(table, columns, rows))


def rendered(job: _Job) -> Iterator[dict[str, Any]]:
    """The manifests of every active row, in the order of the uids and of the template's lists."""
    spec = _typed(job.template, TenantTemplateSpec)
    profile = (
        "hermetic" if job.registry is None else _typed(job.registry, TenantRegistrySpec).template_profile
    )
    prepared = prepare_template(spec, profile)
    namespace = job.template.namespace or "default"
    keys = {row.uid: TenantKey(row.uid, job.template.name) for row in job.rows.active}
    names = name_tenants(keys.values(), {})
    for row in sorted(job.rows.active, key=lambda row: row.uid):
        identity = TenantIdentity(names[keys[row.uid]], namespace)
        made = render(prepared, variables_of(row, spec.registry_id, job.template.name), identity)
        for resource in made.resources():
            yield joined(resource.spec, resource.id, made.payload)


def _typed(document: Document, spec: type[_Spec]) -> _Spec:
    try:
        return msgspec.convert(document.manifest.get("spec") or {}, spec)
    except msgspec.ValidationError as error:
        raise NotRendered(f"{document.kind}/{document.name} in {document.file}: {error}") from error


def _table(file: Path) -> list[dict[str, Any]]:
    if file.suffix.lower() == ".csv":
        return _csv(file)
    table = yaml_of(file)
    if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
        raise NotRendered(
            f"{file} must hold a list of rows, each a map of columns; a CSV file must end in .csv"
        )
    return table


def _csv(file: Path) -> list[dict[str, Any]]:
    reader = csv.DictReader(io.StringIO(text_of(file)))
    try:
        return list(reader)
    except csv.Error as error:
        raise NotRendered(f"{file}:{reader.line_num} is no CSV: {error}") from error


def _columns_in(table: list[dict[str, Any]]) -> Columns:
    others = sorted({name for row in table for name in row if isinstance(name, str)} - set(_BUILT_IN))
    return Columns(*_BUILT_IN, extra=tuple((name, name) for name in others))


def _sorted(table: list[dict[str, Any]], columns: Columns, file: Path) -> Rows:
    known = {name for row in table for name in row}
    if missing := [name for name in columns.names if table and name not in known]:
        raise NotRendered(f"{file} has no column {', '.join(missing)}")
    return sort_rows(columns, ([row.get(name) for name in columns.names] for row in table))
