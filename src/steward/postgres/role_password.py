"""Sets the password of a role on a PostgreSQL server, with a login of that role itself.

A role may change its own password: no other account and no further right is needed. The order makes a repetition
harmless: a server that accepts the new password already is left alone.
"""

import asyncio
import re
import secrets
from typing import Any, Final, NamedTuple

import asyncpg

from steward.postgres.frames import InvalidMessage, connect
from steward.postgres.scram import SALT_BYTES, scram_verifier

TIMEOUT_SECONDS: Final = 5.0
MAX_TEXT: Final = 300
_REJECTED: Final = (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError)
_UNREACHABLE: Final = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    InvalidMessage,
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]+")


class PostgresAddress(NamedTuple):
    host: str
    port: int
    user: str
    database: str


class PasswordNotSet(Exception):
    """The message is for users: it quotes the server, and holds no password."""


class ServerUnreachable(PasswordNotSet):
    pass


async def set_password(server: PostgresAddress, old: str, new: str) -> None:
    """Returns when the server accepts the new password; raises PasswordNotSet otherwise."""
    if await accepts_password(server, new):
        return
    connection = await _log_in(server, old)
    if connection is None:
        raise PasswordNotSet("Postgres accepts neither the new nor the published password")
    try:
        # The verifier consists of letters, digits and `$:+/=-`: it needs no escaping.
        verifier = scram_verifier(new, secrets.token_bytes(SALT_BYTES))
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await connection.execute(f"ALTER ROLE \"{server.user}\" PASSWORD '{verifier}'")
    except (asyncpg.PostgresError, *_UNREACHABLE) as error:
        raise PasswordNotSet(f"Postgres did not set it: {_text(error)}") from None
    finally:
        connection.terminate()
    if not await accepts_password(server, new):
        raise PasswordNotSet("Postgres has set the password and does not accept it")


async def accepts_password(server: PostgresAddress, password: str) -> bool:
    connection = await _log_in(server, password)
    if connection is None:
        return False
    connection.terminate()
    return True


async def _log_in(server: PostgresAddress, password: str) -> Any | None:
    """None if the server rejects the password."""
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await connect(
                host=server.host,
                port=server.port,
                user=server.user,
                password=password,
                database=server.database,
                ssl=False,
                timeout=TIMEOUT_SECONDS,
                statement_cache_size=0,
                server_settings={"application_name": "steward"},
            )
    except _REJECTED:
        return None
    except (asyncpg.PostgresError, *_UNREACHABLE) as error:
        raise ServerUnreachable(f"Postgres at {server.host} cannot be reached: {_text(error)}") from None


def _text(error: Exception) -> str:
    text = _CONTROL.sub(" ", str(error)).strip() or type(error).__name__
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
