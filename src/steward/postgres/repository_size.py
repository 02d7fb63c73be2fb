"""What the backups of a PostgreSQL server take in its pgBackRest repository.

The server itself asks pgBackRest: it has the program, the configuration and the credentials, because it archives its
WAL with them. No other source knows the size of every kind of repository. The data plane reports only how much data a
backup restores; kubelets know volumes, not buckets, and need a right on nodes; `pods/exec` is a right on every pod; and
the operator does not read the credentials of an object store.
"""

import asyncio
import re
from typing import Any, Final

from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import FAILURES, PostgresFailure, failure_text, log_in

PROGRAM_SECONDS: Final = 20
ANSWER_SECONDS: Final = 30.0
# Nothing that a shell would interpret: the command becomes part of another one.
_ARCHIVE_COMMAND: Final = re.compile(r"((?:/[\w./-]*/)?pgbackrest(?: --[\w-]+=[\w./:-]+)+) archive-push %p")
_QUIET: Final = "--log-level-console=off --log-level-stderr=off --log-level-file=off"
# A temporary table, because COPY fills only tables. No character of JSON is one that COPY interprets.
_TABLE: Final = "CREATE TEMPORARY TABLE steward_repository (line text) ON COMMIT DROP"
_COPY: Final = (
    "COPY pg_temp.steward_repository FROM PROGRAM '{}' WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')"
)
_SUM: Final = """
SELECT coalesce(sum((backup -> 'info' -> 'repository' ->> 'delta')::bigint), 0)::bigint
FROM (SELECT string_agg(line, '')::jsonb AS stanzas FROM pg_temp.steward_repository) AS answer,
     jsonb_array_elements(stanzas) AS stanza, jsonb_array_elements(stanza -> 'backup') AS backup
"""


async def repository_bytes(primary: PostgresAddress, password: str) -> int:
    """The size of all backups: compressed, each file once, without WAL. Only a primary has temporary tables."""
    connection = await log_in(primary, password)
    if connection is None:
        raise PostgresFailure("Postgres does not accept the superuser's password")
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await _sum_of_backups(connection)
    except (*FAILURES, TypeError, ValueError) as error:
        raise PostgresFailure(f"pgBackRest does not report its repository: {failure_text(error)}") from None
    finally:
        connection.terminate()


async def _sum_of_backups(connection: Any) -> int:
    archive_command = await connection.fetchval("SELECT pg_catalog.current_setting('archive_command')")
    program = info_program(str(archive_command))
    # Rolled back: a commit would wait for the standbys.
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute("SET LOCAL search_path = pg_catalog")
    await connection.execute(_TABLE)
    await connection.execute(_COPY.format(program))
    found = max(0, int(await connection.fetchval(_SUM)))
    await transaction.rollback()
    return found


def info_program(archive_command: str) -> str:
    match = _ARCHIVE_COMMAND.fullmatch(archive_command.strip())
    if match is None:
        raise PostgresFailure("archive_command does not call pgBackRest")
    # A statement that waits for a program cannot be cancelled.
    return f"timeout {PROGRAM_SECONDS} {match[1]} {_QUIET} info --output=json"
