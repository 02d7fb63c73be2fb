"""Rows of a PostgreSQL server.

As with MySQL: one SELECT, one snapshot, a transaction that cannot write, limits of time on both sides.
"""

import asyncio
import re
import ssl
from collections.abc import Callable
from typing import Any, Final

import asyncpg

from steward.tenants.api.source import PostgresSource
from steward.tenants.errors import (
    AccessDenied,
    BrokenRead,
    SourceError,
    TlsFailed,
    Unreachable,
    WrongTable,
)
from steward.tenants.intervals import seconds_of
from steward.tenants.rows.identifiers import POSTGRES
from steward.tenants.rows.row import Columns, Rows, Sorter
from steward.tenants.rows.source import PAUSE_EVERY, Credentials, Redirect, directly
from steward.tenants.rows.tls import Attempt, read_over

GRACE_SECONDS: Final = 5.0
"""How much longer than the server we wait ourselves."""
_DENIED: Final = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InsufficientPrivilegeError,
)
_WRONG_TABLE: Final = (
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidSchemaNameError,
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
)
_FAILURES: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
_SESSION: Final = "SET LOCAL statement_timeout = {}; SET LOCAL TIME ZONE 'UTC'; SET LOCAL datestyle = 'ISO'"
_TIMES: Final = frozenset({"date", "timestamp", "timestamptz"})
_UTC: Final = re.compile(r"(?P<day>\d+-\d\d-\d\d) (?P<clock>\d\d:\d\d:\d\d(\.\d+)?)(\+00)?", re.ASCII)
_PADDED: Final = "bpchar"
"""CHAR(n): the server fills it up with spaces that mean nothing."""
_GARBLED: Final = (ArithmeticError, AssertionError, IndexError, KeyError, RuntimeError, TypeError, ValueError)


class Postgres:
    def __init__(
        self, source: PostgresSource, credentials: Credentials, redirect: Redirect = directly
    ) -> None:
        self._source = source
        self._credentials = credentials
        self._redirect = redirect

    async def read(self, columns: Columns) -> Rows:
        query = POSTGRES.select(columns.names, self._source.table)
        return await read_over(
            self._source.tls, self._credentials, lambda attempt: self._read(query, columns, attempt)
        )

    async def _read(self, query: str, columns: Columns, attempt: Attempt) -> Rows:
        connection = await self._connect(attempt)
        try:
            async with asyncio.timeout(seconds_of(self._source.query_timeout) + GRACE_SECONDS):
                return await self._rows(connection, query, columns)
        except (TimeoutError, asyncpg.QueryCanceledError):
            raise self._too_slow() from None
        except (*_FAILURES, *_GARBLED) as error:
            raise self._explain(error) from None
        finally:
            connection.terminate()

    async def _connect(self, attempt: Attempt) -> Any:
        host, port = self._redirect(self._source.host, self._source.port)
        limit = seconds_of(self._source.connect_timeout)
        try:
            return await asyncpg.connect(
                host=host,
                port=port,
                user=self._source.username,
                # Never None: the driver would look for a password in the environment and the home directory.
                password=self._credentials.password,
                database=self._source.database,
                ssl=attempt if attempt is not None else False,
                timeout=limit,
                statement_cache_size=0,
                server_settings={"application_name": "steward"},
            )
        except TimeoutError:
            raise Unreachable(f"{self._name}: no answer within {self._source.connect_timeout}") from None
        except (*_FAILURES, *_GARBLED) as error:
            raise self._not_connected(error) from None

    async def _rows(self, connection: Any, query: str, columns: Columns) -> Rows:
        sorter = Sorter(columns)
        milliseconds = int(seconds_of(self._source.query_timeout) * 1000)
        # Begun and ended by hand: the context manager would roll back a broken connection, and wait for its answer.
        transaction = connection.transaction(isolation="repeatable_read", readonly=True)
        await transaction.start()
        await connection.execute(_SESSION.format(milliseconds))
        statement = await _prepared(connection, query)
        spellings = [_spelling(attribute.type.name) for attribute in statement.get_attributes()]
        async for row in statement.cursor(prefetch=PAUSE_EVERY):
            if len(row) != len(columns.names):
                raise BrokenRead(f"{self._name}: the answer has other columns than were asked for")
            sorter.add([spell(value) for spell, value in zip(spellings, row, strict=True)])
        await transaction.commit()
        return sorter.sorted()

    @property
    def _name(self) -> str:
        source = self._source
        return (
            f"postgres {source.username}@{source.host}:{source.port}/{source.database}, table {source.table}"
        )

    def _not_connected(self, error: Exception) -> SourceError:
        if isinstance(error, ssl.SSLError) or "SSL" in str(error):
            return TlsFailed(f"{self._name}: TLS failed ({error}); correct tls.mode or tls.caRef")
        if isinstance(error, (*_DENIED, *_WRONG_TABLE)):
            return self._explain(error)
        return Unreachable(f"{self._name}: {error}; check host, port and network")

    def _explain(self, error: Exception) -> SourceError:
        said = f"{self._name}: {error or type(error).__name__}"
        if isinstance(error, _DENIED):
            return AccessDenied(f"{said}; check username and passwordRef, and grant SELECT on the table")
        if isinstance(error, _WRONG_TABLE):
            return WrongTable(f"{said}; correct database, table or valueMappings, or bring it back")
        return BrokenRead(f"{said}; the next sync tries again")

    def _too_slow(self) -> BrokenRead:
        return BrokenRead(
            f"{self._name}: the query took longer than {self._source.query_timeout}; raise queryTimeout or read a view"
        )


async def _prepared(connection: Any, query: str) -> Any:
    """With times as the server prints them: Python's calendar ends where PostgreSQL's goes on, and one such time would
    end the whole read."""
    statement = await connection.prepare(query)
    times = {attribute.type.name for attribute in statement.get_attributes()} & _TIMES
    if not times:
        return statement
    for name in sorted(times):
        await connection.set_type_codec(name, schema="pg_catalog", encoder=str, decoder=_time, format="text")
    return await connection.prepare(query)


def _time(text: str) -> str:
    """RFC 3339 where it is one: not for infinity, nor before Christ."""
    found = _UTC.fullmatch(text)
    return f"{found['day']}T{found['clock']}Z" if found else text


def _spelling(type_name: str) -> Callable[[Any], Any]:
    return _trimmed if type_name == _PADDED else _plain


def _trimmed(value: Any) -> Any:
    return None if value is None else value.rstrip(" ")


def _plain(value: Any) -> Any:
    return value.as_string() if isinstance(value, asyncpg.BitString) else value
