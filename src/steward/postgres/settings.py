"""Lets a PostgreSQL server read a changed file of settings, once the server sees the change."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import FAILURES, TIMEOUT_SECONDS, PostgresFailure, failure_text, log_in

MAX_BYTES: Final = 1 << 20
_FILE: Final = f"""
SELECT pg_catalog.pg_read_file($1, 0, {MAX_BYTES}, true),
       (pg_catalog.pg_stat_file($1, true)).modification
         >= pg_catalog.date_trunc('second', pg_catalog.pg_conf_load_time())
"""
# A setting that needs a restart has an error, too: it takes effect when its pod is replaced.
_ERRORS: Final = """
SELECT DISTINCT coalesce(files.name, ''), files.error
FROM pg_catalog.pg_file_settings AS files
LEFT JOIN pg_catalog.pg_settings AS settings ON settings.name = files.name
WHERE files.error IS NOT NULL AND files.sourcefile = $1
  AND NOT coalesce(settings.pending_restart OR settings.context = 'postmaster', false)
LIMIT 20
"""


_UNKNOWN: Final = """
SELECT asked.name FROM unnest($1::text[]) AS asked (name)
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_settings AS known WHERE known.name = asked.name)
ORDER BY 1
"""


class SettingsState(NamedTuple):
    """`is_current`: the server has read these settings. `problems` are in its words."""

    is_current: bool
    problems: tuple[str, ...] = ()


async def unknown_settings(server: PostgresAddress, password: str, names: Sequence[str]) -> list[str]:
    """The names that the server does not know: with one of them it would not start again."""
    connection = await log_in(server, password)
    if connection is None:
        raise PostgresFailure("Postgres does not accept the superuser's password")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return [row[0] for row in await connection.fetch(_UNKNOWN, names)]
    except FAILURES as error:
        raise PostgresFailure(f"Postgres does not list its settings: {failure_text(error)}") from None
    finally:
        connection.terminate()


async def load_settings(server: PostgresAddress, password: str, path: str, text: str) -> SettingsState:
    """Reloads the server if the file has this text and was not read since. A file that does not have it yet is on its
    way to the server."""
    connection = await log_in(server, password)
    if connection is None:
        raise PostgresFailure("Postgres does not accept the superuser's password")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await _load(connection, path, text)
    except FAILURES as error:
        raise PostgresFailure(f"Postgres does not read its settings: {failure_text(error)}") from None
    finally:
        connection.terminate()


async def _load(connection: Any, path: str, text: str) -> SettingsState:
    row = await connection.fetchrow(_FILE, path)
    if row[0] != text:
        return SettingsState(is_current=False)
    if row[1]:
        await connection.fetchval("SELECT pg_catalog.pg_reload_conf()")
    rows = await connection.fetch(_ERRORS, path)
    return SettingsState(True, tuple(f"{name}: {error}" if name else str(error) for name, error in rows))
