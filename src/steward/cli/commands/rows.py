"""`steward rows`: a registry's table as the operator sees it, rejected rows with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.inspect.options import namespace_options, where_of
from steward.cli.object_names import NameOf
from steward.cli.output import WIDE, is_for_programs, output_option, print_value, table
from steward.cli.registry_rows import NEEDS, read_registry, read_rows, source_options, surroundings_of
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key
from steward.tenants.sources.rows import Rows
from steward.tenants.sources.source import Surroundings

_EPILOG = f"""\b
Examples:
  steward rows customers -n saas
  steward rows customers -n saas -o wide
  steward rows customers -n saas --connect-to mysql.saas.svc:3306:127.0.0.1:3306
\b
Exit codes: 0 every row can be used, 1 some rows are rejected, or the table cannot be read.
{NEEDS}"""


@click.command("rows", epilog=_EPILOG)
@click.argument("registry", type=NameOf("TenantRegistry"), metavar="REGISTRY")
@output_option
@source_options
@namespace_options
def command(registry: str, output: str, **given: Any) -> None:
    """Show a registry's table as the operator reads it: active, inactive and rejected rows."""
    around = surroundings_of(given)
    source, namespace = where_of(given)
    # The Secrets that a source names are watched, as the operator does.
    rows = with_client(source, lambda client: _read(client, Key(namespace, registry), around))
    if is_for_programs(output):
        print_value(list(_plain(rows)), output)
    else:
        _show(rows, output)
    click.get_current_context().exit(1 if rows.rejected else 0)


async def _read(client: Client, key: Key, around: Surroundings) -> Rows:
    _, spec = await read_registry(client, key)
    return await read_rows(client, key, spec, around)


def _plain(rows: Rows) -> Iterator[dict[str, Any]]:
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


def _show(rows: Rows, output: str) -> None:
    """Problems first."""
    variables = sorted({name for row in rows.active for name in row.extra}) if output == WIDE else []
    lines = [[row.shown or "(none)", "rejected", row.reason, *[""] * len(variables)] for row in rows.rejected]
    lines += [
        [row.uid, "active", row.host_or_url, *(row.extra.get(name, "") for name in variables)]
        for row in rows.active
    ]
    lines += [[uid, "inactive", "", *[""] * len(variables)] for uid in sorted(rows.inactive)]
    for line in table(["UID", "STATE", "HOST OR REASON", *(name.upper() for name in variables)], lines):
        click.echo(line)
    counts = f"{len(rows.active)} active, {len(rows.inactive)} inactive, {len(rows.rejected)} rejected"
    click.echo(f"{rows.total} rows: {counts}")
