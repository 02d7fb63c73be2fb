"""Rows of a MySQL or MariaDB server.

The server gets one SELECT, in a read-only transaction on one snapshot, with a limit of time that the server keeps and a
longer one that we keep ourselves. What its administrator set for every session (a limit of rows, another character set)
does not hold for this one: rows that were left out would look as if they were gone. It never gets a file from us:
`local_infile` is off, and asking for one is an error. Nor does it get the password as it is over a wire that anybody
can read.
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final

import asyncmy
from asyncmy.constants import FIELD_TYPE
from asyncmy.converters import convert_datetime
from asyncmy.cursors import SSCursor
from asyncmy.errors import Error as MySqlError

from steward.tenants.api.source import MySqlSource
from steward.tenants.errors import (
    AccessDenied,
    BrokenRead,
    SourceError,
    TlsFailed,
    Unreachable,
    WrongTable,
)
from steward.tenants.intervals import seconds_of
from steward.tenants.sources.identifiers import MYSQL
from steward.tenants.sources.mysql_logins import NO_COMMON_LOGIN, refused_logins
from steward.tenants.sources.rows import Columns, Rows, Sorter
from steward.tenants.sources.source import PAUSE_EVERY, Credentials, Redirect, directly
from steward.tenants.sources.tls import Attempt, read_over

GRACE_SECONDS: Final = 5.0
"""How much longer than the server we wait ourselves."""
_DENIED: Final = frozenset({1044, 1045, 1130, 1142, 1143, 1227, 1698, 1820, 1862, 3118})
_WRONG_TABLE: Final = frozenset({1049, 1054, 1146})
_TOO_SLOW: Final = frozenset({1317, 1969, 3024})
_NOBODY_THERE: Final = (ConnectionRefusedError, socket.gaierror, TimeoutError)
_GARBLED: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, struct.error,
)  # fmt: skip
_WHOLE_AND_UTF8: Final = (
    "SESSION sql_select_limit = 18446744073709551615, "
    "SESSION character_set_client = utf8mb4, SESSION character_set_results = utf8mb4"
)

# All else stays as the server prints it.
_CONVERSIONS: Final = dict.fromkeys((FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP), convert_datetime)


class MySql:
    def __init__(self, source: MySqlSource, credentials: Credentials, redirect: Redirect = directly) -> None:
        self._source = source
        self._credentials = credentials
        self._redirect = redirect

    async def read(self, columns: Columns) -> Rows:
        query = MYSQL.select(columns.names, self._source.table)
        return await read_over(
            self._source.tls, self._credentials, lambda attempt: self._read(query, columns, attempt)
        )

    async def _read(self, query: str, columns: Columns, attempt: Attempt) -> Rows:
        connection = await self._connect(attempt)
        try:
            async with asyncio.timeout(seconds_of(self._source.query_timeout) + GRACE_SECONDS):
                return await self._rows(connection, query, columns)
        except TimeoutError:
            raise self._too_slow() from None
        except MySqlError as error:
            raise self._explain(error) from None
        except (OSError, *_GARBLED) as error:
            raise BrokenRead(
                f"{self._name}: the answer broke off or made no sense ({_words(error)})"
            ) from None
        finally:
            connection.close()

    async def _connect(self, attempt: Attempt) -> Any:
        host, port = self._redirect(self._source.host, self._source.port)
        limit = seconds_of(self._source.connect_timeout)
        try:
            async with asyncio.timeout(limit):
                return await asyncmy.connect(
                    host=host,
                    port=port,
                    user=self._source.username,
                    # As bytes: the driver would spell a text in Latin-1, the server expects UTF-8.
                    password=self._credentials.password.encode(),
                    database=self._source.database,
                    charset="utf8mb4",
                    connect_timeout=limit,
                    local_infile=False,
                    use_unicode=False,
                    conv=_CONVERSIONS,
                    ssl=attempt,
                    auth_plugin_map=refused_logins(attempt),
                )
        except TimeoutError:
            raise Unreachable(f"{self._name}: no answer within {self._source.connect_timeout}") from None
        except (MySqlError, OSError, *_GARBLED) as error:
            raise self._not_connected(error, attempt) from None

    async def _rows(self, connection: Any, query: str, columns: Columns) -> Rows:
        sorter = Sorter(columns)
        for statement in self._preparation(connection.server_version):
            await _run(connection, statement)
        cursor = SSCursor(connection)
        await cursor.execute(query)
        bits = self._bits(cursor.description, columns)
        read = 0
        while (row := await cursor.fetchone()) is not None:
            sorter.add(_with_numbers(row, bits))
            read += 1
            if read % PAUSE_EVERY == 0:
                await asyncio.sleep(0)
        # One more round trip: a server that still answers has really come to the end of its result.
        await _run(connection, "COMMIT")
        return sorter.sorted()

    def _preparation(self, version: str) -> Sequence[str]:
        limit = seconds_of(self._source.query_timeout)
        is_mariadb = "mariadb" in version.lower()
        clock = f"max_statement_time = {limit}" if is_mariadb else f"max_execution_time = {int(limit * 1000)}"
        return (
            f"SET SESSION {clock}, SESSION time_zone = '+00:00', {_WHOLE_AND_UTF8}",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        )

    def _bits(self, description: Sequence[Sequence[Any]] | None, columns: Columns) -> tuple[int, ...]:
        """Which columns hold bits: the driver hands them out as bytes."""
        if description is None or len(description) != len(columns.names):
            raise BrokenRead(f"{self._name}: the answer has other columns than were asked for")
        return tuple(place for place, field in enumerate(description) if field[1] == FIELD_TYPE.BIT)

    @property
    def _name(self) -> str:
        source = self._source
        return f"mysql {source.username}@{source.host}:{source.port}/{source.database}, table {source.table}"

    def _not_connected(self, error: Exception, attempt: Attempt) -> SourceError:
        causes = list(_causes(error))
        if any(isinstance(cause, ssl.SSLError) for cause in causes):
            return TlsFailed(f"{self._name}: TLS failed ({_words(error)}); correct tls.mode or tls.caRef")
        code, said = _code(error), f"{self._name}: {_words(error)}"
        if code in _DENIED | _WRONG_TABLE:
            return self._explain(error)
        if code == NO_COMMON_LOGIN:
            return AccessDenied(
                f"{said}; let the user log in by a scrambled password, or set tls.mode: require"
            )
        if _is_the_servers_word(code):
            return Unreachable(f"{said}; the next sync tries again")
        if attempt is not None and not any(isinstance(cause, _NOBODY_THERE) for cause in causes):
            takes = (
                "take the certificate of clientCertificateRef"
                if self._credentials.certificate
                else "speak TLS"
            )
            return TlsFailed(f"{self._name}: the server ended the TLS handshake; does it {takes}? See tls")
        return Unreachable(f"{said}; check host, port and network")

    def _explain(self, error: Exception) -> SourceError:
        code, said = _code(error), f"{self._name}: {_words(error)}"
        if code in _DENIED:
            return AccessDenied(f"{said}; {self._credentials.cure}")
        if code in _WRONG_TABLE:
            return WrongTable(f"{said}; correct database, table or valueMappings, or bring it back")
        if code in _TOO_SLOW:
            return self._too_slow()
        return BrokenRead(f"{said}; the next sync tries again")

    def _too_slow(self) -> BrokenRead:
        return BrokenRead(
            f"{self._name}: the query took longer than {self._source.query_timeout}; raise queryTimeout or read a view"
        )


async def _run(connection: Any, statement: str) -> None:
    cursor = connection.cursor()
    await cursor.execute(statement)
    await cursor.close()


def _with_numbers(row: Sequence[Any], bits: tuple[int, ...]) -> Sequence[Any]:
    if not bits:
        return row
    values = list(row)
    for place in bits:
        if values[place] is not None:
            values[place] = int.from_bytes(values[place], "big")
    return values


def _code(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _is_the_servers_word(code: int) -> bool:
    """Numbers of the driver's own are between 2000 and 2999."""
    return code >= 1000 and code // 1000 != 2


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _words(error: Exception) -> str:
    said = [word.decode(errors="replace") if isinstance(word, bytes) else str(word) for word in error.args]
    return " ".join(said) or type(error).__name__
