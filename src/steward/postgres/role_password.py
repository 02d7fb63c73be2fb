"""Sets the password of a role on a PostgreSQL server, with a login of that role itself.

A role may change its own password: no other account and no further right is needed. The order makes a repetition
harmless: a server that accepts the new password already is left alone.
"""

import asyncio
import secrets

from steward.postgres.address import PostgresAddress
from steward.postgres.scram import SALT_BYTES, scram_verifier
from steward.postgres.sessions import (
    FAILURES,
    TIMEOUT_SECONDS,
    PostgresFailure,
    failure_text,
    log_in,
)


class PasswordNotSet(PostgresFailure):
    pass


async def set_password(server: PostgresAddress, old: str, new: str) -> None:
    """Returns when the server accepts the new password; raises PostgresFailure otherwise."""
    if await accepts_password(server, new):
        return
    connection = await log_in(server, old)
    if connection is None:
        raise PasswordNotSet("Postgres accepts neither the new nor the published password")
    try:
        # The verifier consists of letters, digits and `$:+/=-`: it needs no escaping.
        verifier = scram_verifier(new, secrets.token_bytes(SALT_BYTES))
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await connection.execute(f"ALTER ROLE \"{server.user}\" PASSWORD '{verifier}'")
    except FAILURES as error:
        raise PasswordNotSet(f"Postgres did not set it: {failure_text(error)}") from None
    finally:
        connection.terminate()
    if not await accepts_password(server, new):
        raise PasswordNotSet("Postgres has set the password and does not accept it")


async def accepts_password(server: PostgresAddress, password: str) -> bool:
    connection = await log_in(server, password)
    if connection is None:
        return False
    connection.terminate()
    return True
