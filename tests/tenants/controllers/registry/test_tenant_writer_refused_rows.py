"""A row whose Tenant the API server does not take is told, and keeps nobody waiting, not even in a rollout."""

import pytest

from tests.tenants.support.offline_registry import Server, Table


@pytest.fixture
def server() -> Server:
    server = Server()
    server.refused = {"a-web-app"}
    return server


def told(table: Table) -> list[str]:
    return [row.uid for row in table.memory.rejected]


def looks_again(table: Table) -> bool:
    return table.memory.look_again_at is not None


async def test_others_go_on(server: Server) -> None:
    table = Table(server)
    assert await table.sync("a", "b", "c") == ["b-web-app", "c-web-app"]
    assert told(table) == ["a"]
    server.refused.clear()
    assert await table.sync("a", "b", "c") == ["a-web-app"]
    assert told(table) == []


async def test_its_place_in_a_rollout_goes_to_the_next_at_once(server: Server) -> None:
    table = Table(server, rollout={"maxSkew": 1})
    assert await table.sync("a", "b", "c") == []
    assert looks_again(table)
    assert await table.go_on() == ["b-web-app"]
    assert not looks_again(table)
    assert await table.go_on() == []


async def test_it_is_told_until_it_is_written_and_tried_when_nobody_else_waits(server: Server) -> None:
    table = Table(server, rollout={"maxSkew": 1})
    await table.sync("a", "b", "c")
    for name in ("b-web-app", "c-web-app"):
        assert await table.go_on() == [name]
        assert told(table) == ["a"]
        server.make_ready(name)
    assert await table.go_on() == []
    server.refused.clear()
    assert await table.go_on() == ["a-web-app"]
    assert told(table) == []


async def test_a_row_that_goes_is_told_no_more(server: Server) -> None:
    table = Table(server)
    await table.sync("a", "b")
    await table.sync("b")
    assert told(table) == []
