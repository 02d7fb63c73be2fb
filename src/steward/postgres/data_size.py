"""How much data a PostgreSQL server stores, as the server itself counts it.

A server does not know how full its volume is. Databases, WAL and temporary files are what grows on it; the rest of a
data directory is small.
"""

import asyncio
from typing import Final

from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import FAILURES, TIMEOUT_SECONDS, PostgresFailure, failure_text, log_in

_QUERY: Final = """
SELECT ((SELECT coalesce(sum(pg_catalog.pg_database_size(oid)), 0) FROM pg_catalog.pg_database)
      + (SELECT coalesce(sum(size), 0) FROM pg_catalog.pg_ls_waldir())
      + (SELECT coalesce(sum(size), 0) FROM pg_catalog.pg_ls_tmpdir()))::bigint
"""


async def data_bytes(server: PostgresAddress, password: str) -> int:
    connection = await log_in(server, password)
    if connection is None:
        raise PostgresFailure("Postgres does not accept the superuser's password")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return int(await connection.fetchval(_QUERY))
    except FAILURES as error:
        raise PostgresFailure(f"Postgres does not report its size: {failure_text(error)}") from None
    finally:
        connection.terminate()
