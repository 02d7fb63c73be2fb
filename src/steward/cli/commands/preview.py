"""`steward preview`: shows what the next sync of a registry, or a changed file, would do, without writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from steward.cli.connection import run_async, with_client
from steward.cli.files import UnreadableFile, read_documents
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import expected_errors
from steward.cli.object_names import ObjectName
from steward.cli.output import (
    WIDE,
    is_machine_readable,
    output_option,
    print_value,
    summarize_names,
    wrap_for_terminal,
)
from steward.cli.preview.text import (
    PreviewEntry,
    entry_dict,
    has_changes,
    has_problems,
    preview_entries,
    render_entries,
    sort_entries,
)
from steward.cli.preview.user_apply import KUBECTL, user_apply_step
from steward.cli.registry_rows import source_environment, source_options
from steward.kube.client.client import Client
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Key, Manifest, Ref, kind_of, ref_of
from steward.runtime.plan.dry_run import DryRunExecutor, DryRunOutcome, DryRunResult
from steward.tenants.sources.reader import SourceEnvironment

_INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)
_WRITES = (DryRunOutcome.CREATE, DryRunOutcome.CHANGE)
_COLOURS = {
    DryRunOutcome.CREATE: "green",
    DryRunOutcome.CHANGE: "yellow",
    DryRunOutcome.DELETE: "red",
    DryRunOutcome.HELD: "magenta",
    DryRunOutcome.DEFERRED: "magenta",
    DryRunOutcome.REJECTED: "red",
}
_EPILOG = """\b
Examples:
  steward preview customers -n saas
  steward preview -f cluster.yaml -n shop
  steward preview -f template.yaml -n saas
\b
Exit codes: 0 nothing would change, 2 something would (or the command line is wrong), 1 the server would reject it or
the effect cannot be known.
\b
What waits is shown with what it waits for: a cluster by its updatePolicy, Tenants by maxSkew, deletions by the guard.
A file is applied as its object was applied last: by plain `kubectl apply`, or on the server. Values of Secrets are
never shown.
\b
Needs the rights that the change itself needs, since every step is a dry run on the server. For a sync:
to get, list and watch tenantregistries, tenanttemplates, tenants, Secrets and controllerrevisions, to create, patch
and delete tenants, to get, create, patch and delete the objects of the Tenants that change, and what `steward rows`
needs. For a file: to get and patch what it holds; with a cluster or its
template, to list these and controllerrevisions.
"""


@click.command("preview", epilog=_EPILOG)
@click.argument("registry", required=False, type=ObjectName("TenantRegistry"), metavar="[REGISTRY]")
@click.option("-f", "--file", "files", type=_INPUT, multiple=True, help="Manifests to apply.")
@output_option
@source_options
@namespace_options
def command(registry: str | None, files: tuple[Path, ...], output: str, **options: Any) -> None:
    """Show what the next sync of REGISTRY, or applying the files, would create, change and delete."""
    if not registry and not files:
        raise click.UsageError("name a registry, or files with -f")
    changed = _read_manifests(files)
    environment = source_environment(options)
    source, namespace = selected_namespace(options)
    results = with_client(source, lambda client: _dry_run(client, changed, namespace)) if changed else []
    entries = _preview_all(source, results, [Key(namespace, registry)] if registry else [], environment)
    _print_entries(entries, output)
    context = click.get_current_context()
    context.exit(1 if has_problems(entries) else 2 if has_changes(entries) else 0)


def _read_manifests(files: tuple[Path, ...]) -> list[Manifest]:
    with expected_errors(UnreadableFile, OSError):
        documents = [document for file in files for document in read_documents(file)]
    if files and not documents:
        raise click.ClickException(f"there is no object in {summarize_names([str(file) for file in files])}")
    for document in documents:
        if not _is_identified(document.manifest):
            problem = (
                "apiVersion, kind and metadata.name are needed, as text; metadata.namespace must be text"
            )
            raise click.ClickException(f"{document.file}: {problem}")
    return [document.manifest for document in documents]


def _is_identified(manifest: Manifest) -> bool:
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("namespace") or "", str):
        return False
    identity = (manifest.get("apiVersion"), manifest.get("kind"), metadata.get("name"))
    return all(isinstance(value, str) and value for value in identity)


def _preview_all(
    source: ConfigSource, results: list[DryRunResult], registries: list[Key], environment: SourceEnvironment
) -> list[PreviewEntry]:
    after = [each.after for each in results if each.outcome in _WRITES and each.after is not None]
    entries = preview_entries(results)
    if any(each["apiVersion"].startswith("multigres.com/") for each in after):
        entries += _preview_clusters(source, after)
    for key in [*registries, *_affected_registries(after)]:
        entries += _preview_sync(source, key, environment, after)
    return sort_entries(entries)


async def _dry_run(client: Client, changed: list[Manifest], namespace: str) -> list[DryRunResult]:
    executor = DryRunExecutor(client, KUBECTL)
    found: list[DryRunResult] = []
    for each in changed:
        manifest = await _with_namespace(client, each, namespace)
        step = user_apply_step(manifest, await _read_live(client, ref_of(manifest)))
        found.extend(await executor.execute((step,), ref_of(manifest)))
    return found


async def _read_live(client: Client, ref: Ref) -> Manifest | None:
    try:
        return await client.get(ref.kind, ref.key)
    except (NotFound, NoSuchKind):
        return None


async def _with_namespace(client: Client, manifest: Manifest, namespace: str) -> Manifest:
    """The manifest with its own namespace, else the given one; without a namespace for cluster-scoped kinds."""
    metadata = manifest["metadata"]
    try:
        is_namespaced = (await client.discovery.resource(kind_of(manifest))).namespaced
    except NoSuchKind:
        is_namespaced = True
    scope = {"namespace": metadata.get("namespace") or namespace} if is_namespaced else {}
    others = {name: value for name, value in metadata.items() if name != "namespace"}
    return {**manifest, "metadata": {**others, **scope}}


def _affected_registries(after: list[Manifest]) -> list[Key]:
    """Registries whose next sync the files affect."""
    keys = {
        Key(each["metadata"]["namespace"], each["spec"]["registryId"])
        for each in after
        if each["kind"] == "TenantTemplate"
    }
    keys |= {
        Key(each["metadata"]["namespace"], each["metadata"]["name"])
        for each in after
        if each["kind"] == "TenantRegistry"
    }
    return sorted(keys)


def _preview_clusters(source: ConfigSource, after: list[Manifest]) -> list[PreviewEntry]:
    from steward.cli.preview.cluster import preview_clusters
    from steward.cli.preview.namespace_snapshot import KINDS

    related = [each for each in after if each["kind"] in KINDS]
    namespaces = {each["metadata"]["namespace"] for each in related}
    with expected_errors(msgspec.ValidationError):
        return with_client(source, lambda client: preview_clusters(client, related, namespaces))


def _preview_sync(
    source: ConfigSource, key: Key, environment: SourceEnvironment, after: list[Manifest]
) -> list[PreviewEntry]:
    from steward.cli.preview.registry import SyncPreview, preview_sync

    changed = tuple(each for each in after if each["metadata"].get("namespace") == key.namespace)
    return run_async(preview_sync(source, SyncPreview(key, environment, changed)))


def _print_entries(entries: list[PreviewEntry], output: str) -> None:
    if is_machine_readable(output):
        print_value([entry_dict(each) for each in entries], output)
        return
    for text, outcome in render_entries(entries, {}) if output == WIDE else render_entries(entries):
        # A line of a diff is not wrapped: its indentation is its meaning.
        first, *others = [text] if text.startswith(" ") else wrap_for_terminal(text)
        click.echo(_styled(first, _COLOURS.get(outcome) if outcome else None))
        for line in others:
            click.echo(line)


def _styled(text: str, colour: str | None) -> str:
    """Lines of a diff are coloured; of sentences only the mark is."""
    if colour is None or text.startswith(" "):
        return click.style(text, fg=colour)
    mark, space, sentence = text.partition(" ")
    return f"{click.style(mark, fg=colour, bold=True)}{space}{sentence}"
