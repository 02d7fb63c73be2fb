"""How a verb reads a registry's table: as the operator does, with the directory of its files given by hand."""

import click
import msgspec
import pytest

from steward.cli.registry_rows import read_rows
from steward.kube.objects.kinds import Key
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.sources.source import Surroundings

SPEC = msgspec.convert(
    {
        "source": {"type": "sqlite", "sqlite": {"file": "shop.db", "table": "customers"}},
        "valueMappings": {"uid": "id", "hostOrUrl": "url", "activate": "active"},
    },
    TenantRegistrySpec,
)


async def test_a_file_beside_the_operator_needs_its_directory() -> None:
    with pytest.raises(click.ClickException, match="give --sqlite-root DIRECTORY"):
        await read_rows(None, Key("shop", "prod"), SPEC, Surroundings())  # type: ignore[arg-type]
