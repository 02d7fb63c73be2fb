"""Brings the roles of a PostgreSQL server to what is declared, as its superuser."""

import asyncio
import secrets
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from steward.postgres.address import PostgresAddress
from steward.postgres.roles import (
    MARK,
    DeclaredRoles,
    LiveRole,
    RoleChange,
    quoted,
    removed_roles,
    role_changes,
)
from steward.postgres.scram import SALT_BYTES
from steward.postgres.sessions import (
    FAILURES,
    TIMEOUT_SECONDS,
    UNREACHABLE,
    PostgresFailure,
    ServerUnreachable,
    failure_text,
    log_in,
)

MAX_ROLES: Final = 1000
_ROLES: Final = f"""
SELECT rolname::text, rolcanlogin, rolpassword,
       CASE WHEN isfinite(rolvaliduntil) THEN extract(epoch FROM rolvaliduntil)::bigint END,
       ARRAY(SELECT groups.rolname::text FROM pg_catalog.pg_auth_members AS members
             JOIN pg_catalog.pg_authid AS groups ON groups.oid = members.roleid
             WHERE members.member = roles.oid),
       pg_catalog.shobj_description(oid, 'pg_authid')
FROM pg_catalog.pg_authid AS roles
WHERE rolname = ANY($1::text[]) OR pg_catalog.shobj_description(oid, 'pg_authid') LIKE '{MARK}%'
LIMIT {MAX_ROLES}
"""
_OWNER: Final = (
    "SELECT pg_catalog.pg_get_userbyid(datdba)::text FROM pg_catalog.pg_database WHERE datname = $1"
)


class RoleProblem(NamedTuple):
    role: str
    """"" if the problem is one of the database."""
    message: str


async def manage_roles(server: PostgresAddress, password: str, declared: DeclaredRoles) -> list[RoleProblem]:
    """What could not be done, in the server's words; raises PostgresFailure if nothing could."""
    connection = await log_in(server, password)
    if connection is None:
        raise PostgresFailure("Postgres does not accept the superuser's password")
    try:
        return await _manage(connection, declared)
    except UNREACHABLE as error:
        raise ServerUnreachable(f"Postgres at {server.host} does not answer: {failure_text(error)}") from None
    except FAILURES as error:
        raise PostgresFailure(f"Postgres does not list its roles: {failure_text(error)}") from None
    finally:
        connection.terminate()


async def _manage(connection: Any, declared: DeclaredRoles) -> list[RoleProblem]:
    live = await _live_roles(connection, [role.name for role in declared.roles])
    changes = role_changes(declared.roles, live, secrets.token_bytes(SALT_BYTES))
    problems = await _execute(connection, changes)
    failed = {problem.role for problem in problems}
    if declared.owner and declared.owner not in failed:
        problems += await _set_owner(connection, declared)
    if declared.drops_removed:
        problems += await _execute(connection, removed_roles(declared, live))
    return problems


async def _live_roles(connection: Any, names: Sequence[str]) -> dict[str, LiveRole]:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        rows = await connection.fetch(_ROLES, names)
    return {row[0]: LiveRole(row[0], row[1], row[2], row[3], frozenset(row[4]), row[5]) for row in rows}


async def _execute(connection: Any, changes: Sequence[RoleChange]) -> list[RoleProblem]:
    """One failed role does not keep the others from being changed. Statements of one change are one transaction."""
    problems: dict[str, RoleProblem] = {}
    for change in changes:
        if change.role in problems:
            continue
        message = change.problem or await _failure(connection, change.statements)
        if message:
            problems[change.role] = RoleProblem(change.role, message)
    return list(problems.values())


async def _failure(connection: Any, statements: Sequence[str]) -> str:
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await connection.execute("; ".join(statements))
    except UNREACHABLE:
        raise
    except FAILURES as error:
        return failure_text(error)
    return ""


async def _set_owner(connection: Any, declared: DeclaredRoles) -> list[RoleProblem]:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        owner = await connection.fetchval(_OWNER, declared.database)
    if owner == declared.owner:
        return []
    statement = f"ALTER DATABASE {quoted(declared.database)} OWNER TO {quoted(declared.owner)}"
    message = await _failure(connection, [statement])
    return [RoleProblem("", message)] if message else []
