"""`steward preview`: what the next sync of a registry, or a changed file, would do. Nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from steward.cli.connection import told_plainly, with_client
from steward.cli.files import NotReadable, documents_of
from steward.cli.inspect.options import namespace_options, where_of
from steward.cli.main import one_sentence
from steward.cli.object_names import NameOf
from steward.cli.output import WIDE, is_for_programs, output_option, print_value, some_of
from steward.cli.preview.text import Outlook, has_changes, has_problems, lines, outlook, plain
from steward.cli.registry_rows import source_options, surroundings_of
from steward.kube.client.client import Client
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import NoSuchKind
from steward.kube.objects.kinds import Key, Manifest, kind_of, ref_of
from steward.runtime.plan.dry_run import DryRunCarrier, Foreseen, Verdict
from steward.runtime.plan.steps import Apply
from steward.tenants.sources.source import Surroundings

MANAGER = "kubectl"
_INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)
_NEWS = (Verdict.CREATE, Verdict.CHANGE)
_COLOURS = {
    Verdict.CREATE: "green",
    Verdict.CHANGE: "yellow",
    Verdict.DELETE: "red",
    Verdict.HELD: "magenta",
    Verdict.WAITS: "magenta",
    Verdict.REFUSED: "red",
}
_EPILOG = """\b
Examples:
  steward preview customers -n saas
  steward preview -f cluster.yaml -n shop
  steward preview -f template.yaml -n saas
\b
Exit codes: 0 nothing would change, 2 something would (or the command line is wrong), 1 it would be refused or cannot
be known.
\b
A cluster that does not follow a changed template at once, by its updatePolicy, is told with what it will wait for.
\b
Needs the rights that the change itself needs, since the server is asked about every step by a dry run. For a sync:
to get, list and watch tenantregistries, tenanttemplates, tenants, Secrets and controllerrevisions, to create, patch
and delete tenants, and what `steward rows` needs. For a file: to get and patch what it holds; with a cluster or its
template, to list these and controllerrevisions.
"""


@click.command("preview", epilog=_EPILOG)
@click.argument("registry", required=False, type=NameOf("TenantRegistry"), metavar="[REGISTRY]")
@click.option("-f", "--file", "files", type=_INPUT, multiple=True, help="Manifests as they shall be.")
@output_option
@source_options
@namespace_options
def command(registry: str | None, files: tuple[Path, ...], output: str, **given: Any) -> None:
    """Say what the next sync of REGISTRY, or applying the files, would create, change and delete."""
    if not registry and not files:
        raise click.UsageError("name a registry, or files with -f")
    changed = _manifests(files)
    around = surroundings_of(given)
    source, namespace = where_of(given)
    asked = with_client(source, lambda client: _ask(client, changed, namespace)) if changed else []
    found = _foreseen(source, asked, [Key(namespace, registry)] if registry else [], around)
    _show(found, output)
    context = click.get_current_context()
    context.exit(1 if has_problems(found) else 2 if has_changes(found) else 0)


def _manifests(files: tuple[Path, ...]) -> list[Manifest]:
    with one_sentence(NotReadable, OSError):
        documents = [document for file in files for document in documents_of(file)]
    if files and not documents:
        raise click.ClickException(f"there is no object in {some_of([str(file) for file in files])}")
    for document in documents:
        if not _is_identified(document.manifest):
            told = "apiVersion, kind and metadata.name are needed, as text; metadata.namespace must be text"
            raise click.ClickException(f"{document.file}: {told}")
    return [document.manifest for document in documents]


def _is_identified(manifest: Manifest) -> bool:
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("namespace") or "", str):
        return False
    identity = (manifest.get("apiVersion"), manifest.get("kind"), metadata.get("name"))
    return all(isinstance(word, str) and word for word in identity)


def _foreseen(
    source: ConfigSource, asked: list[Foreseen], registries: list[Key], around: Surroundings
) -> list[Outlook]:
    after = [each.after for each in asked if each.verdict in _NEWS and each.after is not None]
    found = outlook(asked)
    if any(each["apiVersion"].startswith("multigres.com/") for each in after):
        found += _trees(source, after)
    for key in [*registries, *_touched(after)]:
        found += _sync(source, key, around, after)
    return found


async def _ask(client: Client, changed: list[Manifest], namespace: str) -> list[Foreseen]:
    executor = DryRunCarrier(client, MANAGER)
    placed = [await _placed(client, each, namespace) for each in changed]
    return [foreseen for each in placed for foreseen in await executor.execute((Apply(each),), ref_of(each))]


async def _placed(client: Client, manifest: Manifest, namespace: str) -> Manifest:
    """In the namespace that it names, or in the one that was given; nowhere, where its kind lives in none."""
    metadata = manifest["metadata"]
    try:
        is_inside = (await client.discovery.resource(kind_of(manifest))).namespaced
    except NoSuchKind:
        is_inside = True
    place = {"namespace": metadata.get("namespace") or namespace} if is_inside else {}
    others = {name: value for name, value in metadata.items() if name != "namespace"}
    return {**manifest, "metadata": {**others, **place}}


def _touched(after: list[Manifest]) -> list[Key]:
    """The registries whose next sync the files change."""
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


def _trees(source: ConfigSource, after: list[Manifest]) -> list[Outlook]:
    from steward.cli.preview.cluster import foreseen_trees
    from steward.cli.preview.template_situation import KINDS

    ours = [each for each in after if each["kind"] in KINDS]
    places = {each["metadata"]["namespace"] for each in ours}
    with one_sentence(msgspec.ValidationError):
        return with_client(source, lambda client: foreseen_trees(client, ours, places))


def _sync(source: ConfigSource, key: Key, around: Surroundings, after: list[Manifest]) -> list[Outlook]:
    from steward.cli.preview.registry import Sync, foreseen_sync

    here = tuple(each for each in after if each["metadata"].get("namespace") == key.namespace)
    return outlook(told_plainly(foreseen_sync(source, Sync(key, around, here))))


def _show(found: list[Outlook], output: str) -> None:
    if is_for_programs(output):
        print_value([plain(each) for each in found], output)
        return
    for text, verdict in lines(found, {}) if output == WIDE else lines(found):
        click.secho(text, fg=_COLOURS.get(verdict) if verdict else None)
