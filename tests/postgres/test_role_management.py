"""Declared roles on a real PostgreSQL server."""

import secrets
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from steward.postgres.address import PostgresAddress
from steward.postgres.role_management import RoleProblem, manage_roles
from steward.postgres.role_password import accepts_password
from steward.postgres.roles import MARK, DeclaredRole, DeclaredRoles
from steward.postgres.sessions import PostgresFailure
from tests.support.database_servers import DatabaseServer


@pytest.fixture
def server(postgres: DatabaseServer) -> DatabaseServer:
    return postgres


class Database:
    """A database of its own for each test, on the shared server: roles belong to the whole server, so their names
    are made unique too."""

    def __init__(self, server: DatabaseServer, connection: Any) -> None:
        self.server = server
        self.connection = connection
        self.name = f"db_{secrets.token_hex(4)}"
        self.address = PostgresAddress(server.host, server.port, server.user, "postgres")

    def role(self, suffix: str, **fields: Any) -> DeclaredRole:
        return DeclaredRole(f"{self.name}_{suffix}", True, "päss", **fields)

    async def manage(self, *roles: DeclaredRole, **fields: Any) -> list[RoleProblem]:
        return await manage_roles(
            self.address, self.server.password, DeclaredRoles(self.name, roles, **fields)
        )

    async def run(self, statement: str) -> Any:
        return await self.connection.fetchval(statement)

    async def logs_in(self, role: DeclaredRole) -> bool:
        return await accepts_password(
            self.address._replace(user=role.name, database=self.name), role.password or ""
        )


@pytest.fixture
async def database(server: DatabaseServer) -> AsyncIterator[Database]:
    connection = await asyncpg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, database="postgres"
    )
    found = Database(server, connection)
    await connection.execute(f"CREATE DATABASE {found.name}")
    yield found
    # Tests of dropped roles would otherwise find those of the tests before.
    await connection.execute(f"DROP DATABASE {found.name} WITH (FORCE)")
    query = "SELECT rolname FROM pg_roles WHERE rolname LIKE $1"
    for row in await connection.fetch(query, f"{found.name}%"):
        await connection.execute(f'DROP OWNED BY "{row[0]}"; DROP ROLE "{row[0]}"')
    await connection.close()


async def test_an_owner_can_log_in_and_create_tables(database: Database) -> None:
    owner = database.role("owner")
    assert await database.manage(owner, owner=owner.name) == []
    assert await database.run(f"SELECT rolsuper FROM pg_roles WHERE rolname = '{owner.name}'") is False
    server = database.server
    connection = await asyncpg.connect(
        host=server.host, port=server.port, user=owner.name, password=owner.password, database=database.name
    )
    await connection.execute("CREATE TABLE orders ()")
    await connection.close()


async def test_a_repetition_changes_nothing(database: Database) -> None:
    group = DeclaredRole(f"{database.name}_group", False)
    role = database.role("app", valid_until=1_900_000_000, member_of=(group.name,))
    query = f"SELECT array_agg(xmin::text) FROM pg_authid WHERE rolname LIKE '{database.name}%'"
    assert await database.manage(role, group, owner=role.name) == []
    before = await database.run(query)
    assert await database.manage(role, group, owner=role.name) == []
    assert await database.run(query) == before


async def test_a_changed_role_is_altered(database: Database) -> None:
    role = database.role("app")
    await database.manage(role)
    changed = role._replace(password="another")
    assert await database.manage(changed) == []
    assert await database.logs_in(changed)
    assert not await database.logs_in(role)
    assert await database.manage(changed._replace(can_login=False)) == []
    assert not await database.logs_in(changed)


async def test_what_was_changed_by_hand_is_put_back(database: Database) -> None:
    role = database.role("app")
    await database.manage(role)
    await database.run(f"ALTER ROLE {role.name} PASSWORD 'by-hand' VALID UNTIL '2001-01-01'")
    assert await database.manage(role) == []
    assert await database.logs_in(role)


async def test_memberships_follow_the_declaration(database: Database) -> None:
    role = database.role("app", member_of=("pg_read_all_data",))
    await database.manage(role)
    query = f"SELECT pg_has_role('{role.name}', 'pg_read_all_data', 'member')"
    assert await database.run(query) is True
    await database.run(f"GRANT pg_monitor TO {role.name}")
    assert await database.manage(role._replace(member_of=())) == []
    assert await database.run(query) is False
    assert await database.run(f"SELECT pg_has_role('{role.name}', 'pg_monitor', 'member')") is True


async def test_removed_roles_are_dropped_only_by_policy_and_never_those_made_by_hand(
    database: Database,
) -> None:
    removed = database.role("removed")
    await database.manage(removed)
    await database.run(f"CREATE ROLE {database.name}_hand LOGIN")
    count = f"SELECT count(*) FROM pg_roles WHERE rolname LIKE '{database.name}%'"
    await database.manage()
    assert await database.run(count) == 2
    assert await database.manage(drops_removed=True) == []
    assert await database.run(count) == 1


async def test_a_role_with_objects_is_not_dropped_and_postgres_says_why(database: Database) -> None:
    owner = database.role("owner")
    await database.manage(owner, owner=owner.name)
    [problem] = await database.manage(drops_removed=True)
    assert problem.role == owner.name
    assert "cannot be dropped because some objects depend on it" in problem.message


async def test_one_refused_role_keeps_no_other_from_being_created(database: Database) -> None:
    refused = database.role("refused", member_of=("no_such_role",))
    created = database.role("created")
    [problem] = await database.manage(refused, created)
    assert problem == RoleProblem(refused.name, 'role "no_such_role" does not exist')
    assert await database.logs_in(created)


async def test_a_role_that_exists_already_is_adopted_only_by_a_comment(database: Database) -> None:
    role = database.role("app")
    await database.run(f"CREATE ROLE {role.name} NOLOGIN")
    [problem] = await database.manage(role)
    assert "was not created by Steward" in problem.message
    assert not await database.logs_in(role)
    await database.run(f"COMMENT ON ROLE {role.name} IS '{MARK}'")
    assert await database.manage(role) == []
    assert await database.logs_in(role)


async def test_a_database_that_does_not_exist_is_reported(database: Database) -> None:
    owner = database.role("owner")
    declared = DeclaredRoles("no_such", (owner,), owner.name)
    assert await manage_roles(database.address, database.server.password, declared) == [
        RoleProblem("", 'database "no_such" does not exist')
    ]


async def test_problems_hold_no_password(database: Database) -> None:
    await database.run("ALTER ROLE CURRENT_USER SET default_transaction_read_only = on")
    try:
        [problem] = await database.manage(database.role("app"))
    finally:
        await database.run("ALTER ROLE CURRENT_USER RESET default_transaction_read_only")
    assert problem.message == "cannot execute CREATE ROLE in a read-only transaction"


async def test_a_wrong_password_of_the_superuser_is_reported(database: Database) -> None:
    with pytest.raises(PostgresFailure, match="does not accept the superuser's password"):
        await manage_roles(database.address, "wrong", DeclaredRoles("postgres", ()))
