"""Reading the table of a registry as the operator does."""

import click
import msgspec
import pytest

from steward.cli.registry_rows import read_rows
from steward.kube.objects.kinds import Key
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.sources.reader import SourceEnvironment

SPEC = msgspec.convert(
    {
        "source": {"type": "sqlite", "sqlite": {"file": "shop.db", "table": "customers"}},
        "valueMappings": {"uid": "id", "hostOrUrl": "url", "activate": "active"},
    },
    TenantRegistrySpec,
)


async def test_an_sqlite_source_needs_its_directory() -> None:
    with pytest.raises(click.ClickException, match="give --sqlite-root DIRECTORY"):
        await read_rows(None, Key("shop", "prod"), SPEC, SourceEnvironment())  # type: ignore[arg-type]
