"""Lets a PostgreSQL server read a changed file of settings, once the server sees the change."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import FAILURES, TIMEOUT_SECONDS, PostgresFailure, failure_text, log_in
from steward.postgres.setting_values import KnownSetting

MAX_BYTES: Final = 1 << 20
_FILE: Final = f"""
SELECT pg_catalog.pg_read_file($1, 0, {MAX_BYTES}, true),
       (pg_catalog.pg_stat_file($1, true)).modification
         >= pg_catalog.date_trunc('second', pg_catalog.pg_conf_load_time())
"""
# The view tries the file. A setting that needs a restart has an error there, too, whether its value is valid or not;
# only a valid one is then marked as pending in this session, so the two are asked one after the other. Names have no
# case.
_LINES: Final = """
SELECT DISTINCT lower(coalesce(name, '')), error FROM pg_catalog.pg_file_settings
WHERE sourcefile = $1 ORDER BY 1 LIMIT 1000
"""
_SETTING: Final = re.compile(r"^\s*[^\s#]", re.MULTILINE)
# A server marks more than what waits: a setting of the command line, which wins over files, and one whose change was
# taken back. Those that wait are in the file with an error, or were in it when the server started and are no longer.
_PENDING: Final = """
SELECT lower(name) FROM pg_catalog.pg_settings
WHERE pending_restart AND source <> 'command line' AND (lower(name) = ANY ($1::text[]) OR sourcefile = $2)
ORDER BY 1 LIMIT 100
"""
_KNOWN: Final = """
SELECT lower(name) AS name, context, vartype, coalesce(unit, '') AS unit, coalesce(min_val, '') AS min_val,
       coalesce(max_val, '') AS max_val, coalesce(enumvals, '{}') AS enumvals
FROM pg_catalog.pg_settings WHERE lower(name) = ANY ($1::text[])
"""
_NUMBERS: Final = "SELECT name, setting FROM pg_catalog.pg_settings WHERE name = ANY ($1::text[])"


class SettingsState(NamedTuple):
    """`is_current`: the server has read these settings. `problems` are in its words. `pending` are settings that it
    applies when it is restarted. A server whose own file does not include this one never applies any."""

    is_current: bool
    problems: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    is_included: bool = True


async def known_settings(
    server: PostgresAddress, password: str, names: Sequence[str]
) -> dict[str, KnownSetting]:
    """What the server says about these settings. With one that it does not know it would not start again; those of
    extensions that it has not loaded are an exception."""
    connection = await log_in(server, password)
    if connection is None:
        raise PostgresFailure("Postgres does not accept the superuser's password")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            rows = await connection.fetch(_KNOWN, names)
            return {row["name"]: _known_setting(row) for row in rows}
    except FAILURES as error:
        raise PostgresFailure(f"Postgres does not list its settings: {failure_text(error)}") from None
    finally:
        connection.terminate()


async def current_numbers(server: PostgresAddress, password: str, names: Sequence[str]) -> dict[str, int]:
    """The values of these settings, which are integers, with which the server runs."""
    connection = await log_in(server, password)
    if connection is None:
        raise PostgresFailure("Postgres does not accept the superuser's password")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            found = {row["name"]: int(row["setting"]) for row in await connection.fetch(_NUMBERS, names)}
    except (*FAILURES, TypeError, ValueError) as error:
        raise PostgresFailure(f"Postgres does not list its settings: {failure_text(error)}") from None
    finally:
        connection.terminate()
    if missing := set(names) - set(found):
        raise PostgresFailure(f"Postgres does not list {', '.join(sorted(missing))}")
    return found


def _known_setting(row: Any) -> KnownSetting:
    limits = row["min_val"], row["max_val"]
    return KnownSetting(row["context"], row["vartype"], row["unit"], *limits, tuple(row["enumvals"]))


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
    lines = await connection.fetch(_LINES, path)
    errors = {name: error for name, error in lines if error is not None}
    pending = tuple(row[0] for row in await connection.fetch(_PENDING, list(errors), path))
    problems = tuple(
        f"{name}: {error}" if name else str(error) for name, error in errors.items() if name not in pending
    )
    return SettingsState(True, problems, pending, is_included=bool(lines) or not _SETTING.search(text))
