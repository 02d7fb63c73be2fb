"""A table at rest is read, and nothing else is done for it, until a row, a Tenant or anything else moves."""

import pytest

from steward.kube.objects.kinds import Key
from tests.tenants.support.offline_registry import Server, Table


@pytest.fixture
def table() -> Table:
    return Table(Server())


async def at_rest(table: Table, *uids: str) -> None:
    await table.sync(*uids)
    await table.sync(*uids)
    assert table.memory.rest is not None


async def test_a_table_comes_to_rest_when_a_sync_has_found_nothing_to_do(table: Table) -> None:
    assert await table.sync("acme", "bob") == ["acme-web-app", "bob-web-app"]
    assert table.memory.rest is not None
    assert await table.sync("acme", "bob") == []
    rest = table.memory.rest
    assert await table.sync("acme", "bob") == []
    assert table.memory.rest is rest


async def test_a_new_row_ends_the_rest(table: Table) -> None:
    await at_rest(table, "acme", "bob")
    assert await table.sync("acme", "bob", "cat") == ["cat-web-app"]


async def test_a_tenant_that_goes_ends_the_rest(table: Table) -> None:
    await at_rest(table, "acme", "bob")
    table.context.fleets.tenants.forget(Key("shop", "acme-web-app"), "acme-web-app")
    assert await table.sync("acme", "bob") == ["acme-web-app"]


async def test_a_row_that_is_missed_keeps_the_table_from_resting(table: Table) -> None:
    uids = [f"t{number}" for number in range(9)]
    await at_rest(table, *uids, "acme")
    assert await table.sync(*uids) == []
    assert table.memory.rest is None
    assert await table.sync(*uids) == ["- acme-web-app"]


async def test_an_approval_is_looked_at_though_the_rows_are_the_same(table: Table) -> None:
    await at_rest(table, "acme", "bob")
    before = table.memory.rest
    await table.sync("acme", "bob", approval="1-000000000000")
    assert table.memory.rest != before


async def test_a_table_whose_writes_failed_does_not_rest(table: Table) -> None:
    table.server.is_down = True
    await table.sync("acme")
    assert table.memory.rest is None
    table.server.is_down = False
    assert await table.sync("acme") == ["acme-web-app"]


async def test_an_edit_cuts_the_writing_short_and_the_next_read_goes_on(table: Table) -> None:
    table.is_edited = True
    assert await table.sync("acme", "bob") == []
    assert table.memory.rest is None
    assert table.memory.pending is not None
    table.is_edited = False
    assert await table.sync("acme", "bob") == ["acme-web-app", "bob-web-app"]
    assert table.memory.pending is None
