"""`steward render`: renders the objects of a TenantTemplate with rows, or of a MultigresCluster, and writes nothing.

The output is deterministic.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click
import msgspec

from steward.cli.definition_options import NEEDS, definition_options, read_asked_definitions
from steward.cli.documents import Document
from steward.cli.files import UnreadableFile, read_documents, read_text, read_yaml
from steward.cli.install_options import dump_yaml
from steward.cli.lint.definitions import OFFLINE, Definitions
from steward.cli.lint.template_checks import object_problems
from steward.cli.main import ExitCode, expected_errors
from steward.cli.output import summarize_names
from steward.cli.render_order import in_apply_order
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.resource import TResource
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError
from steward.tenants.names import TenantKey, name_tenants
from steward.tenants.rendering.prepared_template import prepare_template
from steward.tenants.rendering.render import TenantIdentity, render
from steward.tenants.rendering.secret_payload import with_payload
from steward.tenants.rendering.variables import row_variables
from steward.tenants.sources.rows import Columns, Rows, registry_columns, sort_rows

_EPILOG: Final = f"""\b
Example:
  printf 'uid,hostOrUrl,activate\\nacme,https://acme.example.com,true\\n' > rows.csv
  steward render -f template.yaml --rows rows.csv
  steward render -f template.yaml --rows rows.csv | kubectl apply -f -
  steward render -f template.yaml -f registry.yaml --rows rows.json -o json
  steward render -f template.yaml --rows rows.csv --with-cluster
  steward render -f cluster.yaml -f templates.yaml

\b
Exit codes: 0 all was rendered, 1 a row, a template or a cluster cannot be rendered, 2 wrong usage.
{NEEDS}"""
_INPUT: Final = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
_BUILT_IN: Final = ("uid", "hostOrUrl", "activate")
_Spec = TypeVar("_Spec", bound=msgspec.Struct)


class RenderInputError(ValueError):
    """The files hold nothing to render, or invalid input."""


class RowTable(NamedTuple):
    """Rows by column, and the file that has them."""

    rows: list[dict[str, Any]]
    file: str


class RenderJob(NamedTuple):
    template: Document
    registry: Document | None
    rows: Rows
    definitions: Definitions = OFFLINE


@click.command(name="render", epilog=_EPILOG)
@click.option(
    "-f", "--file", "files", type=_INPUT, multiple=True, required=True, help="Manifests; - for stdin."
)
@click.option(
    "--rows", type=_INPUT, help="Rows for a TenantTemplate: CSV with a header, or a list in JSON or YAML."
)
@click.option("--name", help="Which TenantTemplate or MultigresCluster, if the files hold several.")
@click.option("-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True)
@definition_options
def command(
    files: tuple[Path, ...], rows: Path | None, name: str | None, output: str, **options: Any
) -> None:
    """Print the objects of a TenantTemplate (with --rows) or of a MultigresCluster (without).

    With its TenantRegistry among the files, a template gets its columns, variables and profile; without it, the columns
    are uid, hostOrUrl and activate, and every other column is a variable of its name. A cluster needs the templates
    that it names among the files, or in the Kubernetes cluster with --with-cluster; Secrets and owner references are
    left out. What `steward lint` calls an error is not rendered.
    """
    with expected_errors(RenderInputError, RenderError, UnreadableFile, OSError):
        documents = [document for file in files for document in read_documents(file)]
        chosen = choose_document(documents, "MultigresCluster" if rows is None else "TenantTemplate", name)
        definitions = read_asked_definitions(options, [chosen]).with_files(documents)
        refuse_errors(chosen, documents, definitions)
        # Of two objects with the same name, that of the files counts.
        known = [*definitions.documents, *documents]
        if rows is None:
            return _print_manifests(_render_cluster(chosen, known), output)
        job = prepare_job(chosen, known, RowTable(_read_table(rows), str(rows)))._replace(
            definitions=definitions
        )
        _print_manifests(list(render_rows(job)), output)
    for rejected in job.rows.rejected:
        click.echo(f"row {rejected.shown or '(no uid)'}: {rejected.reason}", err=True)
    if job.rows.rejected:
        raise click.exceptions.Exit(ExitCode.FAILED)
    return None


def _print_manifests(manifests: list[dict[str, Any]], output: str) -> None:
    click.echo(json.dumps(manifests, indent=2) + "\n" if output == "json" else dump_yaml(manifests), nl=False)


def choose_document(documents: list[Document], kind: str, name: str | None) -> Document:
    found = [each for each in documents if each.kind == kind and name in (None, each.name)]
    if not any(each.kind == kind for each in documents):
        raise RenderInputError(f"the files hold no {kind}{_other_kind(documents)}")
    if len(found) != 1:
        names = summarize_names([each.name for each in documents if each.kind == kind])
        raise RenderInputError(f"choose one {kind} with --name; the files hold: {names}")
    if not found[0].name:
        raise RenderInputError(f"the {kind} in {found[0].file} has no metadata.name")
    return found[0]


def _other_kind(documents: list[Document]) -> str:
    """What to do with the kind that the files do hold."""
    kinds = {each.kind for each in documents}
    if "TenantTemplate" in kinds:
        return "; to render a TenantTemplate, give its rows with --rows FILE"
    return "; to render a MultigresCluster, leave --rows out" if "MultigresCluster" in kinds else ""


def refuse_errors(chosen: Document, documents: list[Document], definitions: Definitions = OFFLINE) -> None:
    """Refuses what `steward lint` refuses, in the document and in those that it refers to."""
    from steward.cli.commands.lint import format_finding
    from steward.cli.lint.checks import lint

    # Other clusters and templates are not rendered: their errors do not matter here.
    others = [each for each in documents if each.kind not in ("MultigresCluster", "TenantTemplate")]
    errors = [finding for finding in lint([chosen, *others], definitions) if finding.severity == "error"]
    if errors:
        shown = "\n".join(map(format_finding, errors))
        raise RenderInputError(f"{chosen.kind}/{chosen.name} cannot be rendered:\n{shown}")


def _render_cluster(cluster: Document, documents: list[Document]) -> list[dict[str, Any]]:
    from steward.cli.lint.checks import resolve_cluster
    from steward.cli.preview.offline_tree import offline_tree
    from steward.multigres.api.cluster import MultigresClusterSpec
    from steward.multigres.resolution.resolved import ClusterIdentity

    spec = _parse_spec(cluster, MultigresClusterSpec)
    resolved = resolve_cluster(cluster, spec, documents)
    identity = ClusterIdentity(cluster.namespace or "default", cluster.name)
    return list(offline_tree(identity, spec, resolved))


def prepare_job(template: Document, documents: list[Document], table: RowTable) -> RenderJob:
    registry_id = _parse_spec(template, TenantTemplateSpec).registry_id
    registries = [each for each in documents if (each.kind, each.name) == ("TenantRegistry", registry_id)]
    registry = registries[-1] if registries else None
    columns = (
        _default_columns(table.rows)
        if registry is None
        else registry_columns(_parse_spec(registry, TenantRegistrySpec))
    )
    return RenderJob(template, registry, _parse_rows(table, columns))


def render_rows(job: RenderJob) -> Iterator[dict[str, Any]]:
    """The manifests of every active row, in the order of the uids and in the order in which they can be applied."""
    spec = _parse_spec(job.template, TenantTemplateSpec)
    profile = (
        "hermetic" if job.registry is None else _parse_spec(job.registry, TenantRegistrySpec).template_profile
    )
    prepared = prepare_template(spec, profile)
    namespace = job.template.namespace or "default"
    keys = {row.uid: TenantKey(row.uid, job.template.name) for row in job.rows.active}
    names = name_tenants(keys.values(), {})
    for row in sorted(job.rows.active, key=lambda row: row.uid):
        identity = TenantIdentity(names[keys[row.uid]], namespace)
        made = render(prepared, row_variables(row, spec.registry_id, job.template.name), identity)
        for resource in in_apply_order(made.resources()):
            _check_rendered(resource, row.uid, job.definitions)
            yield _identity_first(with_payload(resource.spec, resource.id, made.payload))


def _check_rendered(resource: TResource, uid: str, definitions: Definitions) -> None:
    """Compares the object with its schema: only now the types of rendered values are known."""
    for problem in object_problems(resource.spec, "", definitions):
        raise RenderInputError(f"row {uid}: {resource.id}: {problem.field.lstrip('.')}: {problem.message}")


def _identity_first(manifest: dict[str, Any]) -> dict[str, Any]:
    return {name: manifest[name] for name in ("apiVersion", "kind", "metadata")} | manifest


def _parse_spec(document: Document, spec: type[_Spec]) -> _Spec:
    try:
        return msgspec.convert(document.manifest.get("spec") or {}, spec)
    except msgspec.ValidationError as error:
        raise RenderInputError(f"{document.kind}/{document.name} in {document.file}: {error}") from error


def _read_table(file: Path) -> list[dict[str, Any]]:
    if file.suffix.lower() == ".csv":
        return parse_csv(read_text(file), str(file))
    return require_rows(read_yaml(file), str(file))


def require_rows(table: object, file: str) -> list[dict[str, Any]]:
    if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
        raise RenderInputError(
            f"{file} must hold a list of rows, each a map of columns; a CSV file must end in .csv"
        )
    return table


def parse_csv(text: str, file: str) -> list[dict[str, Any]]:
    reader = csv.DictReader(io.StringIO(text))
    try:
        return list(reader)
    except csv.Error as error:
        raise RenderInputError(f"{file}:{reader.line_num} is not valid CSV: {error}") from error


def _default_columns(table: list[dict[str, Any]]) -> Columns:
    others = sorted({name for row in table for name in row if isinstance(name, str)} - set(_BUILT_IN))
    return Columns(*_BUILT_IN, extra=tuple((name, name) for name in others))


def _parse_rows(table: RowTable, columns: Columns) -> Rows:
    present = {name for row in table.rows for name in row}
    if missing := [name for name in columns.names if table.rows and name not in present]:
        raise RenderInputError(_missing_columns(missing, present, table.file))
    return sort_rows(columns, ([row.get(name) for name in columns.names] for row in table.rows))


def _missing_columns(missing: list[str], present: set[str], file: str) -> str:
    similar = get_close_matches(missing[0], sorted(map(str, present)), 1)
    hint = f"; did you mean {similar[0]} for {missing[0]}?" if similar else ""
    return f"{file} has no column {', '.join(missing)}; it has: {summarize_names(sorted(map(str, present)))}{hint}"
