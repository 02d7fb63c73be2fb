"""For an unchanged table a sync only reads, until a row, a Tenant or another input changes."""

import pytest

from steward.kube.objects.kinds import Key
from tests.tenants.support.offline_registry import OfflineRegistry, Server


@pytest.fixture
def registry() -> OfflineRegistry:
    return OfflineRegistry(Server())


async def sync_until_idle(registry: OfflineRegistry, *uids: str) -> None:
    await registry.sync(*uids)
    await registry.sync(*uids)
    assert registry.state.last_no_op is not None


async def test_a_sync_that_had_nothing_to_do_is_remembered(registry: OfflineRegistry) -> None:
    assert await registry.sync("acme", "bob") == ["acme-web-app", "bob-web-app"]
    assert registry.state.last_no_op is not None
    assert await registry.sync("acme", "bob") == []
    no_op = registry.state.last_no_op
    assert await registry.sync("acme", "bob") == []
    assert registry.state.last_no_op is no_op


async def test_a_new_row_is_synced(registry: OfflineRegistry) -> None:
    await sync_until_idle(registry, "acme", "bob")
    assert await registry.sync("acme", "bob", "cat") == ["cat-web-app"]


async def test_a_deleted_tenant_is_synced(registry: OfflineRegistry) -> None:
    await sync_until_idle(registry, "acme", "bob")
    registry.context.fleets.tenants.observe_delete(Key("shop", "acme-web-app"), "acme-web-app")
    assert await registry.sync("acme", "bob") == ["acme-web-app"]


async def test_a_missing_row_is_no_no_op(registry: OfflineRegistry) -> None:
    uids = [f"t{number}" for number in range(9)]
    await sync_until_idle(registry, *uids, "acme")
    assert await registry.sync(*uids) == []
    assert registry.state.last_no_op is None
    assert await registry.sync(*uids) == ["- acme-web-app"]


async def test_an_approval_is_evaluated_although_the_rows_are_the_same(registry: OfflineRegistry) -> None:
    await sync_until_idle(registry, "acme", "bob")
    previous = registry.state.last_no_op
    await registry.sync("acme", "bob", approval="1-000000000000")
    assert registry.state.last_no_op != previous


async def test_a_sync_whose_writes_failed_is_repeated(registry: OfflineRegistry) -> None:
    registry.server.is_down = True
    await registry.sync("acme")
    assert registry.state.last_no_op is None
    registry.server.is_down = False
    assert await registry.sync("acme") == ["acme-web-app"]


async def test_an_edit_aborts_the_writing_and_the_next_read_continues(registry: OfflineRegistry) -> None:
    registry.is_edited = True
    assert await registry.sync("acme", "bob") == []
    assert registry.state.last_no_op is None
    assert registry.state.pending_rows is not None
    registry.is_edited = False
    assert await registry.sync("acme", "bob") == ["acme-web-app", "bob-web-app"]
    assert registry.state.pending_rows is None


@pytest.mark.parametrize(("rollout", "is_synced"), [({}, False), ({"maxSkew": 1}, True)])
async def test_only_a_limited_rollout_is_synced_when_a_status_changes(
    rollout: dict[str, int], is_synced: bool
) -> None:
    """After an edit of a template every Tenant of a fleet becomes ready again, while the table is read many times."""
    registry = OfflineRegistry(Server(), rollout=rollout)
    await registry.sync("acme")
    registry.server.make_ready("acme-web-app")
    await sync_until_idle(registry, "acme")
    no_op = registry.state.last_no_op
    registry.server.make_ready("acme-web-app", status="False")
    await registry.sync("acme")
    assert (registry.state.last_no_op is not no_op) == is_synced
