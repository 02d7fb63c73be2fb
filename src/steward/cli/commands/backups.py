"""`steward backups`: lists the MultigresBackups of clusters."""

from __future__ import annotations

from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.hints import command_line
from steward.cli.inspect.byte_sizes import format_bytes
from steward.cli.inspect.options import scope_options, selected_scope
from steward.cli.object_names import ObjectName
from steward.cli.output import WIDE, is_machine_readable, output_option, print_table, print_value
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Kind, Manifest
from steward.kube.objects.options import ListQuery

BACKUP = Kind("multigres.com/v1alpha1", "MultigresBackup")
_EPILOG = """\b
Examples:
  steward backups -A
  steward backups shop -n saas
  steward backups shop -n saas -o json
\b
Exit codes: 0 done, 1 the backups cannot be listed.
\b
Needs the right to list multigresbackups.
"""


@click.command("backups", epilog=_EPILOG)
@click.argument(
    "cluster", type=ObjectName("MultigresCluster"), required=False, default="", metavar="[CLUSTER]"
)
@output_option
@scope_options
def command(cluster: str, output: str, **options: Any) -> None:
    """List the backups of clusters that are requested, made or failed, the newest last."""
    source, namespace = selected_scope(options)
    found = with_client(source, lambda client: read_backups(client, namespace, cluster))
    if is_machine_readable(output):
        print_value(found, output)
    elif not found:
        make_one = command_line("backup", cluster or "CLUSTER", namespace=namespace)
        click.echo(f"There is no MultigresBackup here; `{make_one}` makes one.")
    else:
        print_table(*backup_table(found, output))


async def read_backups(client: Client, namespace: str, cluster: str = "") -> list[Manifest]:
    listing = await client.list(BACKUP, ListQuery(namespace=namespace))
    found = [each for each in listing.items if cluster in ("", each["spec"]["cluster"])]
    return sorted(found, key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["name"]))


def backup_table(backups: list[Manifest], output: str) -> tuple[list[str], list[list[str]]]:
    """Heads and rows. Pure."""
    heads = ["NAMESPACE", "NAME", "CLUSTER", "PHASE", "TYPE", "BACKUP", "COMPLETED", "DATA"]
    rows = [_row(each) for each in backups]
    if output == WIDE:
        heads.append("MESSAGE")
        rows = [
            [*row, (each.get("status") or {}).get("message", "")]
            for row, each in zip(rows, backups, strict=True)
        ]
    return heads, rows


def _row(backup: Manifest) -> list[str]:
    meta, spec, status = backup["metadata"], backup["spec"], backup.get("status") or {}
    backup_type = status.get("type") or spec.get("type", "full")
    facts = (
        status.get("phase", "Pending"),
        backup_type,
        status.get("backupId"),
        status.get("stoppedAt"),
        format_bytes(status.get("sizeBytes")),
    )
    return [meta["namespace"], meta["name"], spec["cluster"], *(str(each or "-") for each in facts)]
