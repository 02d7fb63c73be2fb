"""A registry renders what is created once for each Tenant once, and reads the earlier values only where it has any."""

from typing import Any

import pytest

from tests.tenants.support.manifests import resource
from tests.tenants.support.offline_registry import OfflineRegistry, Server

RANDOM = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"id": "{{ uuidv4 }}"}}


def registry_of(**fields: Any) -> OfflineRegistry:
    return OfflineRegistry(Server(), "full", configMaps=[resource(spec=RANDOM, **fields)])


async def test_a_random_value_that_is_made_once_is_not_written_at_every_sync() -> None:
    registry = registry_of(creationPolicy="Once")
    assert await registry.sync("acme") == ["acme-web-app"]
    assert await registry.sync("acme") == []


async def test_another_random_value_is_written_at_every_sync() -> None:
    registry = registry_of()
    assert await registry.sync("acme") == ["acme-web-app"]
    assert await registry.sync("acme") == ["acme-web-app"]


async def test_a_template_of_the_full_profile_without_random_values_is_written_once() -> None:
    registry = OfflineRegistry(Server(), "full")
    await registry.sync("acme")
    assert await registry.sync("acme") == []


@pytest.mark.parametrize("change", ["restart", "other row"])
async def test_the_value_is_kept(change: str) -> None:
    server = Server()
    registry = OfflineRegistry(server, "full", configMaps=[resource(spec=RANDOM, creationPolicy="Once")])
    await registry.sync("acme")
    first = server.specs["acme-web-app"]["configMaps"]

    if change == "restart":
        registry.forget_written()
    host = "acme.example.com" if change == "restart" else "other.example.com"
    await registry.sync_rows([("acme", host, "1")])

    assert server.applied == ["acme-web-app"]
    assert server.specs["acme-web-app"]["configMaps"] == first
