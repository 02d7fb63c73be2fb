"""`steward restore`: creates a cluster from the backups of a lost one, and waits until it has its data."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.hints import command_line
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import ExitCode
from steward.cli.restore_request import (
    Namespaces,
    RestoreRequest,
    describe_restore,
    is_taken,
    read_facts,
    read_request,
    resolve_request,
)
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key, Manifest
from steward.multigres import reasons
from steward.multigres.backups.restore import RestoreFacts, restore_problem
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.status.conditions import RESTORED

FIELD_MANAGER = "steward-cli"
POLL_SECONDS = 1.0
_EPILOG = """\b
Examples:
  steward restore -f shop.yaml --dry-run
  steward restore -f shop.yaml -n saas
  steward restore -f shop.yaml --from-backup shop-nightly
\b
Exit codes: 0 the cluster has its data, 1 it cannot be restored, or its repository had no backup, 130 interrupted: the
restore goes on.
\b
Needs the rights to list multigresclusters, multigresbackups, templates and persistentvolumeclaims, to get secrets, and
to create and get multigresclusters.
"""


@click.command("restore", epilog=_EPILOG)
@click.option(
    "-f",
    "--file",
    "files",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    multiple=True,
    required=True,
    help="The manifest of the lost cluster.",
)
@click.option(
    "--from-backup", "backup", default="", metavar="NAME", help="A MultigresBackup of that cluster."
)
@click.option("--dry-run", is_flag=True, help="Say what would happen, and create nothing.")
@namespace_options
def command(files: tuple[Path, ...], backup: str, dry_run: bool, **options: Any) -> None:
    """Create a cluster again from the backups of its repository.

    Every server restores the newest backup and replays the WAL that was archived after it. Name, cells, pools,
    repository and passwords must be those of the lost cluster; the namespace may be another one.
    """
    source, namespace = selected_namespace(options)
    request = read_request(files, Namespaces(options.get("namespace") or "", namespace), backup)
    facts = with_client(source, lambda client: _check(client, request))
    for line in describe_restore(facts):
        click.echo(line)
    for other in request.others:
        name = (other.get("metadata") or {}).get("name", "")
        click.echo(f"not created, apply it yourself: {other.get('kind', 'object')} {name}", err=True)
    with_client(source, lambda client: _create(client, request, dry_run))
    if dry_run:
        click.echo(
            f"MultigresCluster {request.key.name} would be created in namespace {request.key.namespace}"
        )
        return
    _wait_for(source, request.key)


async def _check(client: Client, request: RestoreRequest) -> RestoreFacts:
    key = request.key
    if await is_taken(client, request):
        message = f"MultigresCluster {key.name} exists in namespace {key.namespace}"
        raise click.ClickException(
            f"{message}: data cannot be restored into a cluster that exists; delete it first"
        )
    facts = await read_facts(client, request, await resolve_request(client, request))
    if problem := restore_problem(facts):
        raise click.ClickException(problem)
    return facts


async def _create(client: Client, request: RestoreRequest, dry_run: bool) -> None:
    await client.create(request.manifest, manager=FIELD_MANAGER, dry_run=dry_run)


def _wait_for(source: Any, key: Key) -> None:
    try:
        reason, message = with_client(source, lambda client: _wait(client, key))
    except KeyboardInterrupt:
        why = command_line("why", f"multigrescluster/{key.name}", namespace=key.namespace)
        click.echo(f"The restore goes on: `{why}` shows it.", err=True)
        raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
    if reason != reasons.RESTORED:
        raise click.ClickException(message)


async def _wait(client: Client, key: Key) -> tuple[str, str]:
    """Reason and message of the end; prints each message on the way."""
    shown = ""
    while True:
        status = (await client.get(CLUSTER, key)).get("status") or {}
        reason, message = _restored(status)
        text = (
            message
            if reason in (reasons.RESTORED, reasons.RESTORE_BLOCKED)
            else status.get("message", message)
        )
        if text != shown:
            click.echo(f"{key.name}: {text}")
            shown = text
        if reason in (reasons.RESTORED, reasons.REPOSITORY_EMPTY):
            return reason, message
        await asyncio.sleep(POLL_SECONDS)


def _restored(status: Manifest) -> tuple[str, str]:
    found = [each for each in status.get("conditions") or [] if each["type"] == RESTORED]
    return (found[0]["reason"], found[0]["message"]) if found else ("", "the operator has not acted yet")
