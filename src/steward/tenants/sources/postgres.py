"""Rows of a PostgreSQL server.

As with MySQL: one SELECT, one snapshot, a transaction that cannot write, limits of time on both sides. The rows come by
COPY, as text that we read ourselves: the driver would take whatever a hostile server says of types and lengths for
true, and go down with the whole process.
"""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from functools import partial
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
from steward.tenants.sources.postgres_columns import (
    Kind,
    Spelling,
    kind_of,
    rows_query,
    spelling_of,
    types_query,
)
from steward.tenants.sources.postgres_copy import Lines, count_in, fields_of
from steward.tenants.sources.postgres_frames import connect
from steward.tenants.sources.rows import Columns, Rows, Sorter
from steward.tenants.sources.source import Credentials, Redirect, directly
from steward.tenants.sources.tls import Attempt, read_over

GRACE_SECONDS: Final = 5.0
"""How much longer than the server we wait ourselves."""
MOST_COLUMNS: Final = 2000
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
_SESSION: Final = (
    "SET LOCAL statement_timeout = {}; SET LOCAL TIME ZONE 'UTC'; "
    "SET LOCAL datestyle = 'ISO'; SET LOCAL bytea_output = 'hex'"
)
_GARBLED: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip


Fields = Sequence[bytes | None]


class Postgres:
    def __init__(
        self, source: PostgresSource, credentials: Credentials, redirect: Redirect = directly
    ) -> None:
        self._source = source
        self._credentials = credentials
        self._redirect = redirect

    async def read(self, columns: Columns) -> Rows:
        rows_query(columns, self._source.table, {})  # names that are none are told before anybody is asked
        return await read_over(
            self._source.tls, self._credentials, lambda attempt: self._read(columns, attempt)
        )

    async def _read(self, columns: Columns, attempt: Attempt) -> Rows:
        connection = await self._connect(attempt)
        try:
            async with asyncio.timeout(seconds_of(self._source.query_timeout) + GRACE_SECONDS):
                return await self._rows(connection, columns)
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
            return await connect(
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

    async def _rows(self, connection: Any, columns: Columns) -> Rows:
        milliseconds = int(seconds_of(self._source.query_timeout) * 1000)
        # Begun and ended by hand: the context manager would roll back a broken connection, and wait for its answer.
        transaction = connection.transaction(isolation="repeatable_read", readonly=True)
        await transaction.start()
        await connection.execute(_SESSION.format(milliseconds))
        kinds: dict[bytes, Kind] = {}
        await self._each(connection, types_query(self._source.table), partial(_note, kinds))
        spellings = [spelling_of(kind_of(name, kinds)) for name in columns.names]
        sorter = Sorter(columns)
        query = rows_query(columns, self._source.table, kinds)
        await self._each(connection, query, lambda fields: sorter.add(_spelled(fields, spellings)))
        await transaction.commit()
        return sorter.sorted()

    async def _each(self, connection: Any, query: str, take: Callable[[Fields], None]) -> None:
        """Hands out every row of a query; BrokenRead unless there are as many as the server says it sent."""
        lines, read = Lines(), 0

        async def arrived(piece: bytes) -> None:
            nonlocal read
            for line in lines.cut(piece):
                take(fields_of(line))
                read += 1
            await asyncio.sleep(0)

        status = await connection.copy_from_query(query, output=arrived)
        if not lines.is_whole or count_in(status) != read:
            raise BrokenRead(f"{self._name}: {read} rows came, and the server says {status[:40]!r}")

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
            return AccessDenied(f"{said}; {self._credentials.cure}")
        if isinstance(error, _WRONG_TABLE):
            return WrongTable(f"{said}; correct database, table or valueMappings, or bring it back")
        return BrokenRead(f"{said}; the next sync tries again")

    def _too_slow(self) -> BrokenRead:
        return BrokenRead(
            f"{self._name}: the query took longer than {self._source.query_timeout}; raise queryTimeout or read a view"
        )


def _note(kinds: dict[bytes, Kind], fields: Fields) -> None:
    """ValueError for more columns than any table has."""
    name, category, type_name = (field or b"" for field in fields)
    kinds[name] = Kind(category, type_name)
    if len(kinds) > MOST_COLUMNS:
        raise ValueError("the table has too many columns")


def _spelled(fields: Fields, spellings: Sequence[Spelling]) -> list[bytes | str | None]:
    """ValueError where a row has other columns than were asked for."""
    pairs = zip(spellings, fields, strict=True)
    return [None if field is None else spell(field) for spell, field in pairs]
