"""`steward trace`: says which row, template or cluster made an object."""

from __future__ import annotations

from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import expected_errors
from steward.cli.operations.object_origin import (
    OriginStep,
    is_made_by_steward,
    kept_by,
    read_object,
    step_dict,
    trace_origin,
    writers,
)
from steward.cli.operations.outcome import RequestError
from steward.cli.output import is_machine_readable, output_option, print_value
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Manifest

_EPILOG = """\b
Examples:
  steward trace service/acme-web -n saas
  steward trace pod/db-postgres-default-0-inf-main-z1-0 -n shop
  steward trace certificates.cert-manager.io/acme -n acme -o json
\b
Exit codes: 0 something of Steward made it, 1 nothing did, or there is no such object.
\b
Needs the right to get the object and what made it. Values of Secrets are not printed.
"""


@click.command("trace", epilog=_EPILOG)
@click.argument("what", metavar="KIND/NAME")
@output_option
@namespace_options
def command(what: str, output: str, **options: Any) -> None:
    """Follow an object to what made it: its workload, its Tenant with template and row, or its cluster."""
    kind, slash, name = what.partition("/")
    if not (kind and slash and name):
        raise click.UsageError(f"{what} is not KIND/NAME, such as service/acme-web")
    source, namespace = selected_namespace(options)
    with expected_errors(RequestError):
        steps, live = with_client(source, lambda client: _trace(client, namespace, what))
    if is_machine_readable(output):
        print_value([step_dict(step) for step in steps], output)
    else:
        _print_steps(steps)
    if not is_made_by_steward(steps):
        raise click.ClickException(_foreign_message(steps[0], live))


async def _trace(client: Client, namespace: str, what: str) -> tuple[list[OriginStep], Manifest]:
    ref, live = await read_object(client, namespace, what)
    return await trace_origin(client, ref, live), live


def _print_steps(steps: list[OriginStep]) -> None:
    click.echo(steps[0].describe())
    for step in steps[1:]:
        click.echo(f"  by {step.describe()}")


def _foreign_message(step: OriginStep, live: Manifest) -> str:
    names = ", ".join(writers(live)) or "unknown"
    return kept_by(live) or f"neither a Tenant nor a cluster made {step.ref}; it was written by {names}"
