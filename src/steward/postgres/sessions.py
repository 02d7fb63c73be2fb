"""Logs in to a PostgreSQL server, with bounded time and with errors that hold no password.

PostgresFailure
└─ ServerUnreachable
"""

import asyncio
import re
from typing import Any, Final

import asyncpg

from steward.postgres.address import PostgresAddress
from steward.postgres.frames import InvalidMessage, connect

TIMEOUT_SECONDS: Final = 5.0
MAX_TEXT: Final = 300
_REJECTED: Final = (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError)
UNREACHABLE: Final = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    InvalidMessage,
)
FAILURES: Final = (asyncpg.PostgresError, *UNREACHABLE)
"""What a call of the driver raises."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]+")


class PostgresFailure(Exception):
    """The message is for users: it quotes the server, and holds no password."""


class ServerUnreachable(PostgresFailure):
    pass


async def log_in(server: PostgresAddress, password: str) -> Any | None:
    """An open connection; None if the server rejects the password."""
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
    except FAILURES as error:
        raise ServerUnreachable(
            f"Postgres at {server.host} cannot be reached: {failure_text(error)}"
        ) from None


def failure_text(error: Exception) -> str:
    """The primary message of the server, without its details, which may quote values."""
    words = error.args[0] if isinstance(error, asyncpg.PostgresError) and error.args else error
    text = _CONTROL.sub(" ", str(words)).strip() or type(error).__name__
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
