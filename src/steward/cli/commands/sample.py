"""`steward sample`: changes the table of customers that `steward up` made, and tells what comes of it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any, Final

import click

from steward.cli.connection import source_of, with_client
from steward.cli.main import one_sentence
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key, Kind, Manifest
from steward.kube.objects.options import ListQuery
from steward.local.errors import LocalError
from steward.local.paths import default_directory
from steward.local.sample import objects
from steward.local.sample.table import Customers, customer
from steward.local.settings import Layout

API: Final = "operator.kubernetes-tenants.org/v1"
_PERIOD_SECONDS: Final = 0.25
_PATIENCE: Final = 180.0
_EPILOG = """\b
Examples:
  steward sample list
  steward sample add nimbus --plan gold
  steward sample deactivate bluebird
  steward sample empty
  steward sample refill
\b
Exit codes: 0 done, 1 there is no sample, no such customer, or the operator does not answer.
"""

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?")

Answer = Callable[[Manifest, list[Manifest]], str]
"""From the registry and its Tenants to what has come of a change; nothing while nothing has."""


@click.group("sample", epilog=_EPILOG)
def command() -> None:
    """Change the customers of the sample that `steward up` made, and see what the operator does."""


@command.command("list")
def list_all() -> None:
    """Show the table."""
    with one_sentence(LocalError):
        for each in _table().list():
            click.echo(
                f"{each.id:<16} {each.plan:<6} {'active' if each.active else 'inactive':<9} {each.url}"
            )


def _name(_: click.Context, __: click.Parameter, value: str) -> str:
    if not _NAME.fullmatch(value):
        told = "a customer's name becomes part of an address: lower-case letters, digits and -, at most 30"
        raise click.BadParameter(told)
    return value


@command.command("add")
@click.argument("name", callback=_name)
@click.option("--plan", type=click.Choice(["basic", "gold"]), default="basic", show_default=True)
def add(name: str, plan: str) -> None:
    """Add a customer, or make one active again."""
    with one_sentence(LocalError):
        _table().add(customer(name, plan))
    click.echo(f"{name} is in the table.")
    _tell(lambda _, tenants: _made(name, tenants))


@command.command("deactivate")
@click.argument("name")
def deactivate(name: str) -> None:
    """Switch a customer off: its objects go."""
    with one_sentence(LocalError):
        _table().deactivate(name)
    click.echo(f"{name} is inactive.")
    _tell(lambda _, tenants: _gone(name, tenants))


@command.command("empty")
def empty() -> None:
    """Delete every row. The operator does not believe it."""
    with one_sentence(LocalError):
        rows = _table().empty()
    click.echo(f"{rows} rows are gone.")
    _tell(_held)


@command.command("refill")
def refill() -> None:
    """Bring the first dozen customers back."""
    with one_sentence(LocalError):
        _table().refill()
    click.echo("The dozen is back.")
    _tell(_free)


def _table() -> Customers:
    return Customers(Layout(default_directory().absolute()).sample)


def _made(name: str, tenants: list[Manifest]) -> str:
    names = [each["metadata"]["name"] for each in tenants if each["spec"]["uid"] == name]
    return f"Tenants {', '.join(sorted(names))} are there." if len(names) > 1 else ""


def _gone(name: str, tenants: list[Manifest]) -> str:
    left = any(each["spec"]["uid"] == name for each in tenants)
    return "" if left else f"The Tenants of {name} are gone, with all that was theirs."


def _held(registry: Manifest, _: list[Manifest]) -> str:
    found = _deletion_held(registry)
    return str(found.get("message", "")) if found.get("status") == "True" else ""


def _free(registry: Manifest, tenants: list[Manifest]) -> str:
    """Once the table was read again, and every row that is back has its Tenants."""
    is_free = _deletion_held(registry).get("status") == "False"
    is_whole = len(tenants) == (registry.get("status") or {}).get("desired")
    return f"No deletion is held, and {len(tenants)} Tenants are there." if is_free and is_whole else ""


def _deletion_held(registry: Manifest) -> dict[str, Any]:
    conditions: list[dict[str, Any]] = (registry.get("status") or {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == "DeletionHeld"), {})


def _tell(answer: Answer) -> None:
    """What has come of it, once something has."""
    source = source_of({"kubeconfig": "", "context": "", "local": True})
    told = with_client(source, lambda client: _until(client, answer))
    if not told:
        raise click.ClickException(
            f"the operator has not acted within {_PATIENCE:.0f} s; does it run? `steward up` starts it"
        )
    click.echo(told)


async def _until(client: Client, answer: Answer) -> str:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        registry = await client.get(Kind(API, "TenantRegistry"), Key(objects.NAMESPACE, objects.REGISTRY))
        tenants = await client.list(Kind(API, "Tenant"), ListQuery(namespace=objects.NAMESPACE))
        if told := answer(registry, tenants.items):
            return told
        await asyncio.sleep(_PERIOD_SECONDS)
    return ""
