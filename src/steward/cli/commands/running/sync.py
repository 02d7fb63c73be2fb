"""`steward sync`: makes the operator read the table of a registry now, and waits for the result."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.hints import command_line
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import expected_errors
from steward.cli.object_names import ObjectName
from steward.cli.operations.outcome import RequestError, wait_until
from steward.cli.operations.spec_switches import missing_message
from steward.cli.operations.sync_requests import (
    GUARD_NOTE,
    held_deletions,
    is_answered,
    request_sync,
    request_value,
    sync_result,
)
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key, Manifest, Ref
from steward.tenants.cache_rules import REGISTRY

_EPILOG = f"""\b
Examples:
  steward sync customers -n saas
  steward sync customers -n saas --timeout 600
\b
Exit codes: 0 the table was read and every change is written, 1 there is no such registry, it is paused, the table
cannot be read, or it took longer than --timeout: the read goes on.
\b
{GUARD_NOTE}: `steward hold` lists what it keeps.
Needs the right to get and patch tenantregistries.
"""


@click.command("sync", epilog=_EPILOG)
@click.argument("registry", type=ObjectName("TenantRegistry"), metavar="REGISTRY")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    help="Seconds to wait for the result.",
)
@namespace_options
def command(registry: str, timeout: float, **options: Any) -> None:
    """Read the table of a registry now instead of at its next interval, and wait until Tenants follow it."""
    source, namespace = selected_namespace(options)
    ref = Ref(REGISTRY, Key(namespace, registry))
    with expected_errors(RequestError):
        found = with_client(source, lambda client: _sync(client, ref, timeout))
        click.echo(f"{ref}: {sync_result(found)}")
    if held := held_deletions(found):
        hold = command_line("hold", namespace=namespace)
        click.echo(f"The deletion of {held} Tenant{'' if held == 1 else 's'} is held: `{hold}` shows why.")


async def _sync(client: Client, ref: Ref, seconds: float) -> Manifest:
    value = request_value(datetime.now(UTC))
    try:
        await request_sync(client, ref, value)
    except NotFound as error:
        raise RequestError(missing_message(f"TenantRegistry {ref.key.name}", ref.key.namespace)) from error
    return await wait_until(
        client, ref, lambda found: is_answered(found, value), seconds, lambda _message: None
    )
