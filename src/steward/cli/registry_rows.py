"""Reads the table of a registry with the code of the operator: same source, Secrets and row checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from steward.cli.connection import config_source, is_local_cluster
from steward.cli.hints import command_line
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key, Manifest
from steward.local.paths import default_directory
from steward.local.settings import Layout
from steward.runtime.manager.connect_to import Redirect, parse_forwards
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.cache_rules import REGISTRY
from steward.tenants.controllers.registry.source_credentials import CredentialWatches, referenced_secrets
from steward.tenants.errors import SourceError
from steward.tenants.sources.factory import open_reader
from steward.tenants.sources.reader import SourceEnvironment
from steward.tenants.sources.rows import Rows, registry_columns
from steward.tenants.validation.registry import parse_registry
from steward.tenants.views import Registry

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])

NEEDS = """\b
Needs the right to get the tenantregistry, and to list and watch the Secrets that its source names; and a way to the
database: --connect-to maps an address inside the cluster to one that you reach.
"""


def source_options(verb: _Decorated) -> _Decorated:
    """Options that are flags of the operator."""
    root = click.option(
        "--sqlite-root",
        envvar="STEWARD_SQLITE_ROOT",
        show_envvar=True,
        type=click.Path(path_type=Path, file_okay=False),
        help="Directory of sqlite files, as in the flag of the operator. With --local: that of the sample.",
    )
    forwards = click.option(
        "--connect-to",
        default="",
        metavar="HOST:PORT:ADDRESS:PORT",
        help="Reach a database by another address.",
    )
    return root(forwards(verb))


def source_environment(options: dict[str, Any]) -> SourceEnvironment:
    """Pops the options of `source_options` from the options of a verb."""
    root, forwards = options.pop("sqlite_root"), options.pop("connect_to")
    if root is None and is_local_cluster(config_source(dict(options))):
        root = Layout(default_directory().absolute()).sample
    try:
        parsed = parse_forwards(tuple(part for part in forwards.split(",") if part))
    except ValueError as error:
        raise click.UsageError(f"--connect-to: {error}") from error
    return SourceEnvironment(root, Redirect(parsed))


async def read_registry(
    client: Client, key: Key, replacement: Manifest | None = None
) -> tuple[Registry, TenantRegistrySpec]:
    """Reads the live registry, or parses `replacement` instead."""
    if replacement is not None:
        registry = msgspec.convert(replacement, Registry)
    else:
        registry = await _live_registry(client, key)
    spec, problems = parse_registry(registry)
    if spec is None:
        listed = "; ".join(f"{problem.field}: {problem.message}" for problem in problems)
        raise click.ClickException(f"TenantRegistry {key} cannot be used: {listed}")
    return registry, spec


async def _live_registry(client: Client, key: Key) -> Registry:
    try:
        return await client.get(REGISTRY, key, Registry)
    except NotFound as error:
        raise click.ClickException(
            f"there is no TenantRegistry {key}; `{command_line('status', '-A')}` lists all"
        ) from error


async def read_rows(
    client: Client, key: Key, spec: TenantRegistrySpec, environment: SourceEnvironment
) -> Rows:
    if spec.source.type == "sqlite" and environment.sqlite_root is None:
        cure = (
            "give --sqlite-root DIRECTORY as the operator has it, or --local for the cluster of `steward up`"
        )
        raise click.ClickException(
            f"the table of TenantRegistry {key} is a file next to its operator: {cure}"
        )
    credentials = CredentialWatches(client, lambda _: None)
    try:
        await credentials.watch_secrets(key, referenced_secrets(spec.source, key.namespace))
        values = await credentials.read(spec.source, key.namespace)
        return await open_reader(spec.source, values, environment).read(registry_columns(spec))
    except SourceError as error:
        raise click.ClickException(f"the table of TenantRegistry {key} cannot be read: {error}") from error
    finally:
        await credentials.stop()
