"""A row whose Tenant the API server rejects is reported, and no other row waits for it, not even in a rollout."""

import pytest

from tests.tenants.support.offline_registry import OfflineRegistry, Server


@pytest.fixture
def server() -> Server:
    server = Server()
    server.rejected = {"a-web-app"}
    return server


def rejected_uids(registry: OfflineRegistry) -> list[str]:
    return [row.uid for row in registry.state.rejected]


def is_rechecked(registry: OfflineRegistry) -> bool:
    return registry.state.recheck_at is not None


async def test_other_rows_are_written(server: Server) -> None:
    registry = OfflineRegistry(server)
    assert await registry.sync("a", "b", "c") == ["b-web-app", "c-web-app"]
    assert rejected_uids(registry) == ["a"]
    server.rejected.clear()
    assert await registry.sync("a", "b", "c") == ["a-web-app"]
    assert rejected_uids(registry) == []


async def test_its_slot_in_a_rollout_is_free_at_once(server: Server) -> None:
    registry = OfflineRegistry(server, rollout={"maxSkew": 1})
    assert await registry.sync("a", "b", "c") == []
    assert is_rechecked(registry)
    assert await registry.write_pending() == ["b-web-app"]
    assert not is_rechecked(registry)
    assert await registry.write_pending() == []


async def test_it_is_reported_until_it_is_written_and_retried_after_the_others(server: Server) -> None:
    registry = OfflineRegistry(server, rollout={"maxSkew": 1})
    await registry.sync("a", "b", "c")
    for name in ("b-web-app", "c-web-app"):
        assert await registry.write_pending() == [name]
        assert rejected_uids(registry) == ["a"]
        server.make_ready(name)
    assert await registry.write_pending() == []
    server.rejected.clear()
    assert await registry.write_pending() == ["a-web-app"]
    assert rejected_uids(registry) == []


async def test_a_deleted_row_is_no_longer_reported(server: Server) -> None:
    registry = OfflineRegistry(server)
    await registry.sync("a", "b")
    await registry.sync("b")
    assert rejected_uids(registry) == []
