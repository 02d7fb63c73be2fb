"""Reads a registry's table exactly as the operator does: the same source, the same Secrets, the same sorting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key, Manifest
from steward.local.paths import default_directory
from steward.local.settings import Layout
from steward.runtime.manager.connect_to import Redirect, parse_forwards
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.registry.source_credentials import CredentialWatches, secrets_of
from steward.tenants.errors import SourceError
from steward.tenants.sources.factory import open_source
from steward.tenants.sources.rows import Rows, columns_of
from steward.tenants.sources.source import Surroundings
from steward.tenants.validation.registry import typed
from steward.tenants.views import Registry

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])

NEEDS = """\b
Needs the right to get the tenantregistry, and to list and watch the Secrets that its source names; and a way to the
database: --connect-to maps an address inside the cluster to one that you reach.
"""


def source_options(verb: _Decorated) -> _Decorated:
    """What the operator has as flags of its own."""
    root = click.option(
        "--sqlite-root",
        envvar="STEWARD_SQLITE_ROOT",
        show_envvar=True,
        type=click.Path(path_type=Path, file_okay=False),
        help="Where files of type sqlite lie, as the operator's flag says. With --local: the sample's.",
    )
    forwards = click.option(
        "--connect-to",
        default="",
        metavar="HOST:PORT:ADDRESS:PORT",
        help="Reach a database by another address.",
    )
    return root(forwards(verb))


def surroundings_of(given: dict[str, Any]) -> Surroundings:
    """Takes the options of `source_options` out of what a verb was called with."""
    root, forwards = given.pop("sqlite_root"), given.pop("connect_to")
    if root is None and given["local"]:
        root = Layout(default_directory().absolute()).sample
    try:
        parsed = parse_forwards(tuple(part for part in forwards.split(",") if part))
    except ValueError as error:
        raise click.UsageError(f"--connect-to: {error}") from error
    return Surroundings(root, Redirect(parsed))


async def read_registry(
    client: Client, key: Key, instead: Manifest | None = None
) -> tuple[Registry, TenantRegistrySpec]:
    """As it is, or as somebody would have it."""
    if instead is not None:
        registry = msgspec.convert(instead, Registry)
    else:
        registry = await _living(client, key)
    spec, problems = typed(registry)
    if spec is None:
        told = "; ".join(f"{problem.field}: {problem.message}" for problem in problems)
        raise click.ClickException(f"TenantRegistry {key} cannot be used: {told}")
    return registry, spec


async def _living(client: Client, key: Key) -> Registry:
    try:
        return await client.get(REGISTRY, key, Registry)
    except NotFound as error:
        raise click.ClickException(
            f"there is no TenantRegistry {key}; `steward status -A` lists all"
        ) from error


async def read_rows(client: Client, key: Key, spec: TenantRegistrySpec, around: Surroundings) -> Rows:
    if spec.source.type == "sqlite" and around.sqlite_root is None:
        cure = (
            "give --sqlite-root DIRECTORY as the operator has it, or --local for the cluster of `steward up`"
        )
        raise click.ClickException(f"the table of TenantRegistry {key} is a file beside its operator: {cure}")
    credentials = CredentialWatches(client, lambda _: None)
    try:
        await credentials.use(key, secrets_of(spec.source, key.namespace))
        found = await credentials.read(spec.source, key.namespace)
        return await open_source(spec.source, found, around).read(columns_of(spec))
    except SourceError as error:
        raise click.ClickException(f"the table of TenantRegistry {key} cannot be read: {error}") from error
    finally:
        await credentials.stop()
