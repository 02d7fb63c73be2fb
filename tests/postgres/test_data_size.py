"""The size of the data of a real PostgreSQL server."""

import pytest

from steward.postgres.address import PostgresAddress
from steward.postgres.data_size import data_bytes
from steward.postgres.sessions import PostgresFailure
from tests.support.database_servers import DatabaseServer


@pytest.fixture
def address(postgres: DatabaseServer) -> PostgresAddress:
    return PostgresAddress(postgres.host, postgres.port, postgres.user, "postgres")


async def test_an_empty_server_stores_its_templates_and_some_wal(
    address: PostgresAddress, postgres: DatabaseServer
) -> None:
    assert 16 << 20 < await data_bytes(address, postgres.password) < 1 << 30


async def test_a_rejected_password_is_a_failure(address: PostgresAddress) -> None:
    with pytest.raises(PostgresFailure, match="does not accept"):
        await data_bytes(address, "wrong")
