"""Reads rows of a PostgreSQL server.

As with MySQL: one SELECT, one snapshot, a read-only transaction, and time limits on both sides. The rows are read
with COPY, as text that is parsed here: the driver trusts the types and lengths that a server sends, and a hostile
server could crash the process.
"""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import asyncpg

from steward.kube.objects.durations import parse_interval
from steward.postgres.frames import InvalidMessage, connect
from steward.tenants.api.source import PostgresSource
from steward.tenants.errors import (
    AccessDenied,
    BrokenRead,
    SourceError,
    SourceUnreachable,
    TlsFailed,
    WrongTable,
)
from steward.tenants.sources.error_text import clean_text
from steward.tenants.sources.limits import RECEIVED_BYTES
from steward.tenants.sources.postgres_columns import (
    ColumnType,
    ValueFormat,
    column_type,
    rows_query,
    types_query,
    value_format,
)
from steward.tenants.sources.postgres_copy import CopyLines, LongLine, copied_rows, copy_fields
from steward.tenants.sources.reader import DEFAULT_ENVIRONMENT, SourceCredentials, SourceEnvironment
from steward.tenants.sources.rows import Columns, Rows, RowSorter
from steward.tenants.sources.tls import TlsAttempt, read_with_tls

GRACE_SECONDS: Final = 5.0
"""How much longer than the server the reader waits itself."""
MAX_COLUMNS: Final = 2000
MAX_TYPE_BYTES: Final = 1024
"""The bytes of a column's name and type."""
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
    "SET LOCAL datestyle = 'ISO'; SET LOCAL bytea_output = 'hex'; SET LOCAL client_min_messages = error"
)
_GARBLED: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip


Fields = Sequence[bytes | None]
Line = bytes | LongLine


class PostgresReader:
    def __init__(
        self,
        source: PostgresSource,
        credentials: SourceCredentials,
        environment: SourceEnvironment = DEFAULT_ENVIRONMENT,
    ) -> None:
        self._source = source
        self._credentials = credentials
        self._environment = environment

    async def read(self, columns: Columns) -> Rows:
        rows_query(columns, self._source.table, {})  # reports invalid names before connecting
        return await read_with_tls(
            self._source.tls, self._credentials, lambda attempt: self._read(columns, attempt)
        )

    async def _read(self, columns: Columns, attempt: TlsAttempt) -> Rows:
        connection = await self._connect(attempt)
        try:
            async with asyncio.timeout(parse_interval(self._source.query_timeout) + GRACE_SECONDS):
                return await self._rows(connection, columns)
        except (TimeoutError, asyncpg.QueryCanceledError):
            raise self._too_slow() from None
        except (*_FAILURES, *_GARBLED) as error:
            raise self._explain(error) from None
        finally:
            connection.terminate()

    async def _connect(self, attempt: TlsAttempt) -> Any:
        host, port = self._environment.redirect(self._source.host, self._source.port)
        limit = parse_interval(self._source.connect_timeout)
        try:
            return await connect(
                host=host,
                port=port,
                user=self._source.username,
                # Never None: the driver would read a password from the environment or the home directory.
                password=self._credentials.password,
                database=self._source.database,
                ssl=attempt if attempt is not None else False,
                timeout=limit,
                statement_cache_size=0,
                server_settings={"application_name": "steward"},
            )
        except TimeoutError:
            raise SourceUnreachable(
                f"{self._name}: no answer within {self._source.connect_timeout}"
            ) from None
        except (*_FAILURES, *_GARBLED) as error:
            raise self._not_connected(error) from None

    async def _rows(self, connection: Any, columns: Columns) -> Rows:
        milliseconds = int(parse_interval(self._source.query_timeout) * 1000)
        # Started and committed explicitly: the context manager would roll back on a broken connection, and wait for it.
        transaction = connection.transaction(isolation="repeatable_read", readonly=True)
        await transaction.start()
        await connection.execute(_SESSION.format(milliseconds))
        kinds: dict[bytes, ColumnType] = {}
        await self._copy_rows(connection, types_query(self._source.table), partial(_add_column_type, kinds))
        formats = [value_format(column_type(name, kinds)) for name in columns.names]
        sorter = RowSorter(columns, self._environment.table_bytes)
        query = rows_query(columns, self._source.table, kinds)
        await self._copy_rows(connection, query, lambda line: _add_row(sorter, line, formats))
        await transaction.commit()
        return sorter.rows()

    async def _copy_rows(self, connection: Any, query: str, take: Callable[[Line], None]) -> None:
        """Calls `take` with every row of a query; BrokenRead unless the number of rows is what the server reports."""
        lines, read, received = CopyLines(), 0, 0

        async def arrived(piece: bytes) -> None:
            nonlocal read, received
            received += len(piece)
            if received > RECEIVED_BYTES:
                raise _too_large()
            for line in lines.split(piece):
                take(line)
                read += 1
            await asyncio.sleep(0)

        status = await connection.copy_from_query(query, output=arrived)
        if not lines.is_complete or copied_rows(status) != read:
            raise BrokenRead(f"{self._name}: {read} rows came, and the server says {status[:40]!r}")

    @property
    def _name(self) -> str:
        source = self._source
        return (
            f"postgres {source.username}@{source.host}:{source.port}/{source.database}, table {source.table}"
        )

    def _not_connected(self, error: Exception) -> SourceError:
        if isinstance(error, ssl.SSLError) or "SSL" in str(error):
            return TlsFailed(f"{self._name}: TLS failed ({self._text(error)}); correct tls.mode or tls.caRef")
        if isinstance(error, (*_DENIED, *_WRONG_TABLE)):
            return self._explain(error)
        return SourceUnreachable(f"{self._name}: {self._text(error)}; check host, port and network")

    def _explain(self, error: Exception) -> SourceError:
        message = f"{self._name}: {self._text(error)}"
        if isinstance(error, _DENIED):
            return AccessDenied(f"{message}; {self._credentials.denied_cure}")
        if isinstance(error, _WRONG_TABLE):
            return WrongTable(f"{message}; correct database, table, valueMappings or where, or restore it")
        return BrokenRead(f"{message}; the next sync tries again")

    def _text(self, error: Exception) -> str:
        """What this reader found wrong with a message explains more than the lost connection that follows."""
        found = error.__cause__ if isinstance(error.__cause__, InvalidMessage) else error
        return clean_text(str(found) or type(found).__name__, self._credentials.password)

    def _too_slow(self) -> BrokenRead:
        return BrokenRead(
            f"{self._name}: the query took longer than {self._source.query_timeout}; raise queryTimeout or read a view"
        )


def _too_large() -> BrokenRead:
    return BrokenRead(
        "the table is too large, the server sent more than a read may have: read a view of fewer columns"
    )


def _add_column_type(kinds: dict[bytes, ColumnType], line: Line) -> None:
    """ValueError for more columns than any table has, or longer names."""
    if isinstance(line, LongLine) or len(line) > MAX_TYPE_BYTES or len(kinds) >= MAX_COLUMNS:
        raise ValueError("the table has too many columns, or their names are too long")
    name, category, type_name = (field or b"" for field in copy_fields(line))
    kinds[name] = ColumnType(category, type_name)


def _add_row(sorter: RowSorter, line: Line, formats: Sequence[ValueFormat]) -> None:
    if isinstance(line, LongLine):
        sorter.add_too_large(_first_value(line.beginning, formats[0]))
    else:
        sorter.add(_format_row(copy_fields(line), formats))


def _first_value(beginning: bytes, format_value: ValueFormat) -> bytes | str | None:
    """The first value of a row of which only the beginning was kept. A longer one is cut, and left as it is."""
    first, *others = beginning.split(b"\t", 1)
    if not others:
        return first
    (value,) = copy_fields(first)
    return None if value is None else format_value(value)


def _format_row(fields: Fields, formats: Sequence[ValueFormat]) -> list[bytes | str | None]:
    """ValueError where a row has other columns than were requested."""
    pairs = zip(formats, fields, strict=True)
    return [None if field is None else format_value(field) for format_value, field in pairs]
