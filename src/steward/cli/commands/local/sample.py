"""`steward sample`: changes the customer table of `steward up`, and prints what the operator does."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import click

from steward.cli.connection import config_source, with_client
from steward.cli.main import expected_errors
from steward.kube.client.client import Client
from steward.kube.config.loader import ConfigSource
from steward.kube.objects.kinds import Key, Kind, Manifest
from steward.kube.objects.options import ListQuery
from steward.local.errors import LocalError
from steward.local.paths import default_directory
from steward.local.sample import objects
from steward.local.sample.table import CustomerTable, customer
from steward.local.settings import Layout

API: Final = "operator.kubernetes-tenants.org/v1"
_PERIOD_SECONDS: Final = 0.25
_TIMEOUT_SECONDS: Final = 180.0
_EPILOG = """\b
Examples:
  steward sample list
  steward sample add nimbus --plan gold
  steward sample deactivate bluebird
  steward sample empty
  steward sample refill
  steward sample reset
\b
Exit codes: 0 done, 1 there is no sample, no such customer, or the operator does not act in time.
"""

_NAME_PATTERN: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?")


class SampleState(NamedTuple):
    """The registry, its Tenants and its templates."""

    registry: Manifest
    tenants: list[Manifest]
    templates: list[str]


DescribeOutcome = Callable[[SampleState], str]
"""Describes the effect of a change; "" while there is none."""


@click.group("sample", epilog=_EPILOG)
def command() -> None:
    """Change the customers of the sample of `steward up`, and see what the operator does."""


@command.command("list")
def list_all() -> None:
    """Show the table."""
    with expected_errors(LocalError):
        for each in _open_table().list():
            click.echo(
                f"{each.id:<16} {each.plan:<6} {'active' if each.active else 'inactive':<9} {each.url}"
            )


def _validate_name(_: click.Context, __: click.Parameter, value: str) -> str:
    if not _NAME_PATTERN.fullmatch(value):
        message = "a customer's name becomes part of an address: lower-case letters, digits and -, at most 30"
        raise click.BadParameter(message)
    return value


@command.command("add")
@click.argument("name", callback=_validate_name)
@click.option("--plan", type=click.Choice(["basic", "gold"]), default="basic", show_default=True)
def add(name: str, plan: str) -> None:
    """Add a customer, or make one active again."""
    with expected_errors(LocalError):
        _open_table().add(customer(name, plan))
    click.echo(f"{name} is in the table.")
    _print_outcome(
        f"every template has made its Tenant for {name}", lambda state: created_message(name, state)
    )


def _complete_customers(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    try:
        found = _open_table().list()
    except (LocalError, OSError):
        return []
    return [each.id for each in found if each.active and each.id.startswith(incomplete)]


@command.command("deactivate")
@click.argument("name", shell_complete=_complete_customers)
def deactivate(name: str) -> None:
    """Deactivate a customer: its objects are deleted."""
    with expected_errors(LocalError):
        _open_table().deactivate(name)
    click.echo(f"{name} is inactive.")
    _print_outcome(f"the Tenants of {name} are deleted", lambda state: deleted_message(name, state))


@command.command("empty")
def empty() -> None:
    """Delete every row. The deletion guard holds the deletions."""
    with expected_errors(LocalError):
        rows = _open_table().empty()
    click.echo(f"{rows} rows are deleted.")
    _print_outcome("the guard holds the deletions", held_message)


@command.command("refill")
def refill() -> None:
    """Restore the first twelve customers."""
    with expected_errors(LocalError):
        _open_table().refill()
    click.echo("The twelve customers are restored.")
    _print_outcome("every row has its Tenants again", released_message)


@command.command("reset")
def reset() -> None:
    """Restore the objects and the customers of the sample. Objects that you added stay."""
    with expected_errors(LocalError):
        count = with_client(_local_source(), objects.restore)
        _open_table().refill()
    click.echo(f"The {count} objects of the sample and its twelve customers are restored.")
    _print_outcome("every row has its Tenants again", released_message)


def _open_table() -> CustomerTable:
    return CustomerTable(Layout(default_directory().absolute()).sample)


def created_message(name: str, state: SampleState) -> str:
    if not state.templates:
        return "No TenantTemplate uses the registry, so no Tenant is created; `steward sample reset` restores them."
    found = [each for each in state.tenants if each["spec"]["uid"] == name]
    missing = set(state.templates) - {each["spec"].get("templateRef") for each in found}
    names = ", ".join(sorted(each["metadata"]["name"] for each in found))
    return "" if missing else f"Tenants {names} are created."


def deleted_message(name: str, state: SampleState) -> str:
    left = any(each["spec"]["uid"] == name for each in state.tenants)
    return "" if left else f"The Tenants of {name} and all their objects are deleted."


def held_message(state: SampleState) -> str:
    found = _deletion_held_condition(state.registry)
    return str(found.get("message", "")) if found.get("status") == "True" else ""


def released_message(state: SampleState) -> str:
    """A message once the operator has read the table again and every row has its Tenants."""
    is_released = _deletion_held_condition(state.registry).get("status") == "False"
    count = len(state.tenants)
    is_complete = count == (state.registry.get("status") or {}).get("desired")
    return f"No deletion is held, and {count} Tenants exist." if is_released and is_complete else ""


def _deletion_held_condition(registry: Manifest) -> dict[str, Any]:
    conditions: list[dict[str, Any]] = (registry.get("status") or {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == "DeletionHeld"), {})


def _local_source() -> ConfigSource:
    return config_source({"kubeconfig": "", "context": "", "local": True})


def _print_outcome(awaited: str, describe: DescribeOutcome) -> None:
    """Waits for the effect of a change and prints it."""
    click.echo(f"Waiting until {awaited}.")
    outcome = with_client(_local_source(), lambda client: _wait_for_outcome(client, describe))
    if not outcome:
        why = f"steward why tenantregistry/{objects.REGISTRY} -n {objects.NAMESPACE} --local"
        raise click.ClickException(
            f"this has not happened within {_TIMEOUT_SECONDS:.0f} s; `{why}` shows what the operator waits for"
        )
    click.echo(outcome)


async def _wait_for_outcome(client: Client, describe: DescribeOutcome) -> str:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        if outcome := describe(await _read_state(client)):
            return outcome
        await asyncio.sleep(_PERIOD_SECONDS)
    return ""


async def _read_state(client: Client) -> SampleState:
    query = ListQuery(namespace=objects.NAMESPACE)
    registry = await client.get(Kind(API, "TenantRegistry"), Key(objects.NAMESPACE, objects.REGISTRY))
    tenants = await client.list(Kind(API, "Tenant"), query)
    templates = await client.list(Kind(API, "TenantTemplate"), query)
    used = [
        each["metadata"]["name"]
        for each in templates.items
        if each["spec"]["registryId"] == objects.REGISTRY and "deletionTimestamp" not in each["metadata"]
    ]
    return SampleState(registry, tenants.items, used)
