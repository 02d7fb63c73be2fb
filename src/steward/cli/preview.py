"""`steward preview`: what the next sync of a registry, or a changed file, would do. Nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from steward.cli.files import NotReadable, documents_of
from steward.cli.looking.options import namespace_options, where_of
from steward.cli.main import one_sentence
from steward.cli.naming import NameOf
from steward.cli.previewing import Outlook, has_changes, has_problems, lines, outlook, plain
from steward.cli.printing import WIDE, is_for_programs, output_option, print_value
from steward.cli.reaching import told_plainly, with_client
from steward.cli.registry_rows import source_options, surroundings_of
from steward.kube.client import Client
from steward.kube.config import ConfigSource
from steward.kube.kinds import Key, Manifest, ref_of
from steward.runtime.dry_run import DryRunCarrier, Foreseen, Verdict
from steward.runtime.plan import Apply
from steward.tenants.rows.source import Surroundings

MANAGER = "kubectl"
_INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)
_NEWS = (Verdict.CREATE, Verdict.CHANGE)
_COLOURS = {
    Verdict.CREATE: "green",
    Verdict.CHANGE: "yellow",
    Verdict.DELETE: "red",
    Verdict.HELD: "magenta",
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
    around = surroundings_of(given)
    source, namespace = where_of(given)
    with one_sentence(NotReadable, OSError):
        changed = [_placed(each.manifest, namespace) for file in files for each in documents_of(file)]
    found = _foreseen(source, changed, [Key(namespace, registry)] if registry else [], around)
    _show(found, output)
    context = click.get_current_context()
    context.exit(1 if has_problems(found) else 2 if has_changes(found) else 0)


def _placed(manifest: Manifest, namespace: str) -> Manifest:
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or not all(
        (manifest.get("apiVersion"), manifest.get("kind"), metadata.get("name"))
    ):
        raise click.ClickException("a document without apiVersion, kind or metadata.name cannot be previewed")
    return {**manifest, "metadata": {"namespace": namespace, **metadata}}


def _foreseen(
    source: ConfigSource, changed: list[Manifest], registries: list[Key], around: Surroundings
) -> list[Outlook]:
    asked = with_client(source, lambda client: _ask(client, changed)) if changed else []
    after = [each.after for each in asked if each.verdict in _NEWS and each.after is not None]
    found = outlook(asked)
    if any(each["apiVersion"].startswith("multigres.com/") for each in after):
        found += _trees(source, after)
    for key in [*registries, *_touched(after)]:
        found += _sync(source, key, around, after)
    return found


async def _ask(client: Client, changed: list[Manifest]) -> list[Foreseen]:
    carrier = DryRunCarrier(client, MANAGER)
    return [
        foreseen for each in changed for foreseen in await carrier.carry_out((Apply(each),), ref_of(each))
    ]


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
    from steward.cli.cluster_foresight import KINDS, foreseen_trees

    ours = [each for each in after if each["kind"] in KINDS]
    places = {each["metadata"]["namespace"] for each in ours}
    with one_sentence(msgspec.ValidationError):
        return with_client(source, lambda client: foreseen_trees(client, ours, places))


def _sync(source: ConfigSource, key: Key, around: Surroundings, after: list[Manifest]) -> list[Outlook]:
    from steward.cli.foresight import Sync, foreseen_sync

    here = tuple(each for each in after if each["metadata"]["namespace"] == key.namespace)
    return outlook(told_plainly(foreseen_sync(source, Sync(key, around, here))))


def _show(found: list[Outlook], output: str) -> None:
    if is_for_programs(output):
        print_value([plain(each) for each in found], output)
        return
    for text, verdict in lines(found, {}) if output == WIDE else lines(found):
        click.secho(text, fg=_COLOURS.get(verdict) if verdict else None)
