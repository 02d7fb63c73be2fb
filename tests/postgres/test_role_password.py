"""Passwords of a role on a real PostgreSQL server, also after a crash at each step."""

import secrets

import asyncpg
import pytest

from steward.postgres.address import PostgresAddress
from steward.postgres.role_password import PasswordNotSet, accepts_password, set_password
from steward.postgres.sessions import ServerUnreachable
from tests.support.database_servers import DatabaseServer


@pytest.fixture
def server(postgres: DatabaseServer) -> DatabaseServer:
    return postgres


async def run(server: DatabaseServer, statement: str) -> object:
    connection = await asyncpg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, database="postgres"
    )
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


@pytest.fixture
async def role(server: DatabaseServer) -> PostgresAddress:
    """A role with the password `old`."""
    name = f"role_{secrets.token_hex(4)}"
    await run(server, f"CREATE ROLE {name} LOGIN PASSWORD 'old'")
    return PostgresAddress(server.host, server.port, name, "postgres")


@pytest.mark.parametrize("new", ["new", "päss wörd\u00a0'\"\\", "x" * 200], ids=["short", "unicode", "long"])
async def test_a_new_password_replaces_the_old_one(role: PostgresAddress, new: str) -> None:
    await set_password(role, "old", new)
    assert await accepts_password(role, new)
    assert not await accepts_password(role, "old")


async def test_a_verifier_is_stored_as_postgres_would(server: DatabaseServer, role: PostgresAddress) -> None:
    await set_password(role, "old", "new")
    stored = await run(server, f"SELECT rolpassword FROM pg_authid WHERE rolname = '{role.user}'")
    assert str(stored).startswith("SCRAM-SHA-256$4096:")


async def test_a_repetition_after_a_crash_is_harmless(server: DatabaseServer, role: PostgresAddress) -> None:
    await set_password(role, "old", "new")
    query = f"SELECT rolpassword FROM pg_authid WHERE rolname = '{role.user}'"
    stored = await run(server, query)
    await set_password(role, "old", "new")
    assert await run(server, query) == stored


async def test_a_password_that_postgres_refuses_is_reported_in_its_words(
    server: DatabaseServer, role: PostgresAddress
) -> None:
    await run(server, f"ALTER ROLE {role.user} SET default_transaction_read_only = on")
    with pytest.raises(
        PasswordNotSet, match="cannot execute ALTER ROLE in a read-only transaction"
    ) as refused:
        await set_password(role, "old", "secret-new")
    assert "secret-new" not in str(refused.value)
    assert await accepts_password(role, "old")


async def test_without_a_valid_password_nothing_is_set(role: PostgresAddress) -> None:
    with pytest.raises(PasswordNotSet, match="neither the new nor the published password"):
        await set_password(role, "unknown", "new")
    assert await accepts_password(role, "old")


async def test_a_server_that_does_not_answer_is_named(role: PostgresAddress) -> None:
    with pytest.raises(ServerUnreachable, match=r"Postgres at 127\.0\.0\.1 cannot be reached"):
        await accepts_password(role._replace(port=1), "old")
