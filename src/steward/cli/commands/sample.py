"""`steward sample`: changes the customer table of `steward up`, and prints what the operator does."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any, Final

import click

from steward.cli.connection import config_source, with_client
from steward.cli.main import expected_errors
from steward.kube.client.client import Client
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
\b
Exit codes: 0 done, 1 there is no sample, no such customer, or the operator does not act in time.
"""

_NAME_PATTERN: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?")

DescribeOutcome = Callable[[Manifest, list[Manifest]], str]
"""Describes the effect of a change from the registry and its Tenants; "" while there is none."""


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
    _print_outcome(lambda _, tenants: _created_message(name, tenants))


@command.command("deactivate")
@click.argument("name")
def deactivate(name: str) -> None:
    """Deactivate a customer: its objects are deleted."""
    with expected_errors(LocalError):
        _open_table().deactivate(name)
    click.echo(f"{name} is inactive.")
    _print_outcome(lambda _, tenants: _deleted_message(name, tenants))


@command.command("empty")
def empty() -> None:
    """Delete every row. The deletion guard holds the deletions."""
    with expected_errors(LocalError):
        rows = _open_table().empty()
    click.echo(f"{rows} rows are deleted.")
    _print_outcome(_held_message)


@command.command("refill")
def refill() -> None:
    """Restore the first twelve customers."""
    with expected_errors(LocalError):
        _open_table().refill()
    click.echo("The twelve customers are restored.")
    _print_outcome(_released_message)


def _open_table() -> CustomerTable:
    return CustomerTable(Layout(default_directory().absolute()).sample)


def _created_message(name: str, tenants: list[Manifest]) -> str:
    names = [each["metadata"]["name"] for each in tenants if each["spec"]["uid"] == name]
    return f"Tenants {', '.join(sorted(names))} are created." if len(names) > 1 else ""


def _deleted_message(name: str, tenants: list[Manifest]) -> str:
    left = any(each["spec"]["uid"] == name for each in tenants)
    return "" if left else f"The Tenants of {name} and all their objects are deleted."


def _held_message(registry: Manifest, _: list[Manifest]) -> str:
    found = _deletion_held_condition(registry)
    return str(found.get("message", "")) if found.get("status") == "True" else ""


def _released_message(registry: Manifest, tenants: list[Manifest]) -> str:
    """A message once the operator has read the table again and every row has its Tenants."""
    is_released = _deletion_held_condition(registry).get("status") == "False"
    is_complete = len(tenants) == (registry.get("status") or {}).get("desired")
    return f"No deletion is held, and {len(tenants)} Tenants exist." if is_released and is_complete else ""


def _deletion_held_condition(registry: Manifest) -> dict[str, Any]:
    conditions: list[dict[str, Any]] = (registry.get("status") or {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == "DeletionHeld"), {})


def _print_outcome(describe: DescribeOutcome) -> None:
    """Waits for the effect of a change and prints it."""
    source = config_source({"kubeconfig": "", "context": "", "local": True})
    outcome = with_client(source, lambda client: _wait_for_outcome(client, describe))
    if not outcome:
        raise click.ClickException(
            f"the operator has not acted within {_TIMEOUT_SECONDS:.0f} s; does it run? `steward up` starts it"
        )
    click.echo(outcome)


async def _wait_for_outcome(client: Client, describe: DescribeOutcome) -> str:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        registry = await client.get(Kind(API, "TenantRegistry"), Key(objects.NAMESPACE, objects.REGISTRY))
        tenants = await client.list(Kind(API, "Tenant"), ListQuery(namespace=objects.NAMESPACE))
        if outcome := describe(registry, tenants.items):
            return outcome
        await asyncio.sleep(_PERIOD_SECONDS)
    return ""
