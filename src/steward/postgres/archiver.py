"""Whether a PostgreSQL server fails to archive its WAL, as the server itself reports it."""

import asyncio
from typing import Final

from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import FAILURES, TIMEOUT_SECONDS, PostgresFailure, failure_text, log_in

LASTING_SECONDS: Final = 300.0
"""The archiver tries again by itself: an object store that is away for a moment is no failure."""
# The names of WAL files are hexadecimal; the server is not trusted with a sentence of a status.
_QUERY: Final = """
SELECT substring(last_failed_wal from '^[0-9A-F]{8,40}') FROM pg_catalog.pg_stat_archiver
WHERE last_failed_time > coalesce(last_archived_time, '-infinity')
  AND now() - coalesce(last_archived_time, pg_catalog.pg_postmaster_start_time()) >= make_interval(secs => $1)
"""


async def failing_wal(
    primary: PostgresAddress, password: str, lasting_seconds: float = LASTING_SECONDS
) -> str:
    """The WAL file that cannot be archived; "" if the last try succeeded, or if one has a short while ago."""
    connection = await log_in(primary, password)
    if connection is None:
        raise PostgresFailure("Postgres does not accept the superuser's password")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return str(await connection.fetchval(_QUERY, lasting_seconds) or "")[:40]
    except FAILURES as error:
        raise PostgresFailure(f"Postgres does not report its archiver: {failure_text(error)}") from None
    finally:
        connection.terminate()
