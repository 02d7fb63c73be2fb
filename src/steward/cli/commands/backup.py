"""`steward backup`: makes a backup of the shards of a cluster, and waits until it is in the repository."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any, NamedTuple

import click

from steward.cli.commands.backups import BACKUP
from steward.cli.connection import with_client
from steward.cli.hints import command_line
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import ExitCode
from steward.cli.object_names import ObjectName
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key, Kind, Manifest
from steward.kube.objects.options import ListQuery
from steward.multigres import names
from steward.multigres.names import ShardPath

FIELD_MANAGER = "steward-cli"
POLL_SECONDS = 1.0
SHARD = Kind("multigres.com/v1alpha1", "Shard")
CLUSTER_LABEL = "multigres.com/cluster"
ENDED = ("Completed", "Failed")
_EPILOG = """\b
Examples:
  steward backup shop -n saas
  steward backup shop -n saas --type incremental
  steward backup shop -n saas --shard postgres/default/0-inf
  steward backup shop -n saas --dry-run
\b
Exit codes: 0 all backups are in their repositories, 1 one failed, or there is nothing to back up, 130 interrupted: the
backups go on.
\b
Needs the rights to list shards, and to create and get multigresbackups.
"""


class Request(NamedTuple):
    cluster: str
    namespace: str
    type: str
    shard: str
    """DATABASE/TABLEGROUP/SHARD; "" for all."""


@click.command("backup", epilog=_EPILOG)
@click.argument("cluster", type=ObjectName("MultigresCluster"), metavar="CLUSTER")
@click.option(
    "--type",
    "backup_type",
    type=click.Choice(["full", "differential", "incremental"]),
    default="full",
    show_default=True,
    help="What to save: everything, or the changes since the last full or the last backup.",
)
@click.option(
    "--shard", default="", metavar="DATABASE/TABLEGROUP/SHARD", help="One shard. Default: all shards."
)
@click.option("--dry-run", is_flag=True, help="Name the shards, and make no backup.")
@namespace_options
def command(cluster: str, backup_type: str, shard: str, dry_run: bool, **options: Any) -> None:
    """Make a backup of a cluster now, and wait until it is complete."""
    source, namespace = selected_namespace(options)
    request = Request(cluster, namespace, backup_type, shard)
    paths = with_client(source, lambda client: read_shards(client, request))
    manifests = backup_manifests(request, paths, datetime.now(UTC))
    if dry_run:
        for path in paths:
            click.echo(
                f"would make a {backup_type} backup of shard {'/'.join(path[1:])} of {namespace}/{cluster}"
            )
        return
    try:
        phases = with_client(source, lambda client: _make(client, manifests))
    except KeyboardInterrupt:
        listing = command_line("backups", cluster, namespace=namespace)
        click.echo(f"The backups go on: `{listing}` shows them.", err=True)
        raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
    if set(phases) != {"Completed"}:
        raise click.ClickException(f"{phases.count('Failed')} of {len(phases)} backups failed")


async def read_shards(client: Client, request: Request) -> list[ShardPath]:
    selector = f"{CLUSTER_LABEL}={request.cluster}"
    listing = await client.list(SHARD, ListQuery(namespace=request.namespace, label_selector=selector))
    paths = [_path(request.cluster, each) for each in listing.items]
    found = sorted(path for path in paths if request.shard in ("", "/".join(path[1:])))
    if found:
        return found
    what = f"no shard {request.shard}" if request.shard and paths else "no shards"
    known = ", ".join("/".join(path[1:]) for path in sorted(paths)[:10])
    status = command_line("status", namespace=request.namespace)
    hint = f"it has {known}" if known else f"`{status}` shows what there is"
    raise click.ClickException(
        f"MultigresCluster {request.cluster} in namespace {request.namespace} has {what}; {hint}"
    )


def _path(cluster: str, shard: Manifest) -> ShardPath:
    spec = shard["spec"]
    return ShardPath(cluster, spec["databaseName"], spec["tableGroupName"], spec["shardName"])


def backup_manifests(request: Request, paths: list[ShardPath], now: datetime) -> list[Manifest]:
    """Pure."""
    return [
        {
            "apiVersion": BACKUP.api_version,
            "kind": BACKUP.kind,
            "metadata": {
                "name": names.timed_backup(path, request.type, f"{now:%Y%m%d%H%M%S}"),
                "namespace": request.namespace,
            },
            "spec": {
                "cluster": path.cluster,
                "database": path.database,
                "tableGroup": path.table_group,
                "shard": path.shard,
                "type": request.type,
            },
        }
        for path in paths
    ]


async def _make(client: Client, manifests: list[Manifest]) -> list[str]:
    for manifest in manifests:
        await client.create(manifest, manager=FIELD_MANAGER)
    return [await _wait(client, manifest["metadata"]) for manifest in manifests]


async def _wait(client: Client, metadata: dict[str, str]) -> str:
    """The phase in which the backup has ended; prints each message on the way."""
    key, shown = Key(metadata["namespace"], metadata["name"]), ""
    while True:
        status = (await client.get(BACKUP, key)).get("status") or {}
        phase, message = (
            status.get("phase", "Pending"),
            status.get("message", "the operator has not acted yet"),
        )
        if message != shown:
            click.echo(f"{key.name}: {phase}: {message}")
            shown = message
        if phase in ENDED:
            return str(phase)
        await asyncio.sleep(POLL_SECONDS)
