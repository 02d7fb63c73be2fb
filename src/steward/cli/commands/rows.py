"""`steward rows`: shows the table of a registry as the operator reads it, with reasons for rejected rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.object_names import ObjectName
from steward.cli.output import WIDE, is_machine_readable, output_option, print_table, print_value
from steward.cli.registry_rows import NEEDS, read_registry, read_rows, source_environment, source_options
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key
from steward.tenants.sources.reader import SourceEnvironment
from steward.tenants.sources.rows import Rows

_EPILOG = f"""\b
Examples:
  steward rows customers -n saas
  steward rows customers -n saas -o wide
  steward rows customers -n saas --connect-to mysql.saas.svc:3306:127.0.0.1:3306
\b
Exit codes: 0 every row is valid, 1 some rows are rejected, or the table cannot be read.
{NEEDS}"""


@click.command("rows", epilog=_EPILOG)
@click.argument("registry", type=ObjectName("TenantRegistry"), metavar="REGISTRY")
@output_option
@source_options
@namespace_options
def command(registry: str, output: str, **options: Any) -> None:
    """Show a registry's table as the operator reads it: active, inactive and rejected rows."""
    environment = source_environment(options)
    source, namespace = selected_namespace(options)
    # The code of the operator watches the Secrets of the source, so reading them needs the right to watch.
    rows = with_client(
        source, lambda client: _read_registry_rows(client, Key(namespace, registry), environment)
    )
    if is_machine_readable(output):
        print_value(list(_row_dicts(rows)), output)
    else:
        _print_rows(rows, output)
    click.get_current_context().exit(1 if rows.rejected else 0)


async def _read_registry_rows(client: Client, key: Key, environment: SourceEnvironment) -> Rows:
    _, spec = await read_registry(client, key)
    return await read_rows(client, key, spec, environment)


def _row_dicts(rows: Rows) -> Iterator[dict[str, Any]]:
    for row in rows.rejected:
        yield {"uid": row.shown, "state": "rejected", "reason": row.reason}
    for active in rows.active:
        yield {
            "uid": active.uid,
            "state": "active",
            "hostOrUrl": active.host_or_url,
            "extra": dict(active.extra),
        }
    for uid in sorted(rows.inactive):
        yield {"uid": uid, "state": "inactive"}


def _print_rows(rows: Rows, output: str) -> None:
    """Prints rejected rows first."""
    variables = sorted({name for row in rows.active for name in row.extra}) if output == WIDE else []
    lines = [[row.shown or "(none)", "rejected", row.reason, *[""] * len(variables)] for row in rows.rejected]
    lines += [
        [row.uid, "active", row.host_or_url, *(row.extra.get(name, "") for name in variables)]
        for row in rows.active
    ]
    lines += [[uid, "inactive", "", *[""] * len(variables)] for uid in sorted(rows.inactive)]
    print_table(["UID", "STATE", "HOST OR REASON", *(name.upper() for name in variables)], lines)
    counts = f"{len(rows.active)} active, {len(rows.inactive)} inactive, {len(rows.rejected)} rejected"
    click.echo(f"{rows.total} rows: {counts}")
