"""`steward pause` and `steward resume`: turn `spec.paused` of an object on and off, and wait for the operator."""

from __future__ import annotations

from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.hints import command_line
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.main import expected_errors
from steward.cli.operations.outcome import RequestError, wait_until
from steward.cli.operations.spec_switches import (
    PAUSED,
    Switch,
    check_changeable,
    is_paused,
    is_resumed,
    pausable_kinds,
    read_pausable,
    set_switch,
)
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Ref

WAIT_SECONDS = 60.0
_EPILOG = """\b
Examples:
  steward pause db -n shop
  steward pause tenantregistry/customers -n saas
  steward resume tenantregistry/customers -n saas
\b
Exit codes: 0 the operator has acknowledged it (with --no-wait: the spec is changed), 1 there is no such object, or the
operator has not acted within a minute: then the change of the spec stays.
\b
A manifest that is applied again, by GitOps for example, decides about spec.paused only if it has that field.
Needs the right to get and patch the object.
"""

_no_wait = click.option("--no-wait", is_flag=True, help="Change the spec and do not wait for the operator.")


@click.command("pause", epilog=_EPILOG)
@click.argument("what", metavar="[KIND/]NAME")
@_no_wait
@namespace_options
def pause(what: str, no_wait: bool, **options: Any) -> None:
    """Keep the operator from changing anything of a cluster, registry, template or Tenant until it is resumed.

    Servers and applications keep running; health is still reported."""
    ref, is_changed = _switch(what, Switch(PAUSED, True), options, is_awaited=not no_wait)
    name = f"{ref.kind.kind.lower()}/{ref.key.name}"
    end = command_line("resume", name, namespace=ref.key.namespace)
    state = "paused" if is_changed else "paused already"
    click.echo(f"{ref}: {state}; nothing is changed until `{end}`")


@click.command("resume", epilog=_EPILOG)
@click.argument("what", metavar="[KIND/]NAME")
@_no_wait
@namespace_options
def resume(what: str, no_wait: bool, **options: Any) -> None:
    """End a pause: what was edited meanwhile is applied, and what was changed by hand is put back."""
    ref, is_changed = _switch(what, Switch(PAUSED, False), options, is_awaited=not no_wait)
    click.echo(f"{ref}: resumed" if is_changed else f"{ref}: is not paused")


def _switch(what: str, switch: Switch, options: dict[str, Any], *, is_awaited: bool) -> tuple[Ref, bool]:
    """The object, and whether its spec was changed."""
    try:
        pausable_kinds(what)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    source, namespace = selected_namespace(options)
    seconds = WAIT_SECONDS if is_awaited else None
    with expected_errors(RequestError):
        return with_client(source, lambda client: _change(client, namespace, what, switch, seconds))


async def _change(
    client: Client, namespace: str, what: str, switch: Switch, seconds: float | None
) -> tuple[Ref, bool]:
    """Does not wait if `seconds` is None."""
    ref, found = await read_pausable(client, namespace, what)
    check_changeable(ref, found)
    is_changed = not switch.is_set(found)
    if is_changed:
        await set_switch(client, ref, found, switch)
    if seconds is not None:
        await wait_until(
            client, ref, is_paused if switch.is_on else is_resumed, seconds, lambda _message: None
        )
    return ref, is_changed
