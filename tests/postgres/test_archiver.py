"""A real PostgreSQL server whose program to archive WAL fails and recovers."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from steward.postgres.address import PostgresAddress
from steward.postgres.archiver import failing_wal
from steward.postgres.sessions import PostgresFailure
from tests.support.database_servers import DatabaseServer, archiving_postgres_server

LIMIT_SECONDS = 120.0


@pytest.fixture(scope="module")
def archiving() -> Iterator[DatabaseServer]:
    """It archives as long as a file `works` exists."""
    with archiving_postgres_server("test -e {directory}/works") as server:
        yield server


def address(server: DatabaseServer) -> PostgresAddress:
    return PostgresAddress(server.host, server.port, server.user, "postgres")


async def write_wal(server: DatabaseServer) -> None:
    connection = await asyncpg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, database="postgres"
    )
    await connection.execute("CREATE TABLE IF NOT EXISTS t (i int); INSERT INTO t VALUES (1)")
    await connection.execute("SELECT pg_switch_wal()")
    await connection.close()


async def until_failing(server: DatabaseServer, is_expected: bool) -> str:
    async with asyncio.timeout(LIMIT_SECONDS):
        while bool(found := await failing_wal(address(server), server.password, 0.0)) is not is_expected:
            await asyncio.sleep(0.2)
    return found


async def test_wal_that_cannot_be_archived_is_named_until_it_is(archiving: DatabaseServer) -> None:
    assert await failing_wal(address(archiving), archiving.password, 0.0) == ""
    await write_wal(archiving)
    assert len(await until_failing(archiving, True)) == 24
    assert await failing_wal(address(archiving), archiving.password) == "", "it has not lasted yet"
    Path(archiving.socket.with_name("works")).touch()
    await until_failing(archiving, False)


async def test_a_rejected_password_is_a_failure(archiving: DatabaseServer) -> None:
    with pytest.raises(PostgresFailure, match="does not accept"):
        await failing_wal(address(archiving), "wrong")
