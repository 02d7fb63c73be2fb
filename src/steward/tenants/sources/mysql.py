"""Reads rows of a MySQL or MariaDB server.

The reader sends one SELECT, in a read-only transaction on one snapshot, with a time limit that the server enforces
and a longer one of its own. Session defaults of the server's administrator (a limit of rows, another character set)
are overridden: omitted rows would look as if they were deleted. The reader never sends a file (`local_infile` is off,
and a request for one is an error), and never sends the password in clear text over a connection without TLS. The
driver connects and logs in; the results are read by `mysql_result`, which says why.
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final

from asyncmy.errors import Error as MySqlError

from steward.kube.objects.durations import parse_interval
from steward.tenants.api.source import MySqlSource
from steward.tenants.errors import (
    AccessDenied,
    BrokenRead,
    SourceError,
    SourceUnreachable,
    TlsFailed,
    WrongTable,
)
from steward.tenants.sources.conditions import MYSQL
from steward.tenants.sources.error_text import clean_text
from steward.tenants.sources.limits import RECEIVED_BYTES
from steward.tenants.sources.mysql_logins import NO_COMMON_LOGIN, rejected_logins
from steward.tenants.sources.mysql_packets import ValueFormat, first_value, row_values
from steward.tenants.sources.mysql_result import ResultReader, SkippedRow, connect
from steward.tenants.sources.reader import (
    DEFAULT_ENVIRONMENT,
    PAUSE_EVERY,
    SourceCredentials,
    SourceEnvironment,
)
from steward.tenants.sources.rows import Columns, Rows, RowSorter
from steward.tenants.sources.tls import TlsAttempt, read_with_tls

GRACE_SECONDS: Final = 5.0
"""How much longer than the server the reader waits itself."""
_DENIED: Final = frozenset({1044, 1045, 1130, 1142, 1143, 1227, 1698, 1820, 1862, 3118})
_WRONG_TABLE: Final = frozenset({1049, 1054, 1146})
_TOO_SLOW: Final = frozenset({1317, 1969, 3024})
_UNREACHABLE: Final = (ConnectionRefusedError, socket.gaierror, TimeoutError)
_GARBLED: Final = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, struct.error,
)  # fmt: skip
_WHOLE_AND_UTF8: Final = (
    "SESSION sql_select_limit = 18446744073709551615, "
    "SESSION character_set_client = utf8mb4, SESSION character_set_results = utf8mb4"
)


class MySqlReader:
    def __init__(
        self,
        source: MySqlSource,
        credentials: SourceCredentials,
        environment: SourceEnvironment = DEFAULT_ENVIRONMENT,
    ) -> None:
        self._source = source
        self._credentials = credentials
        self._environment = environment

    async def read(self, columns: Columns) -> Rows:
        query = MYSQL.select(columns.names, self._source.table, columns.where)
        return await read_with_tls(
            self._source.tls, self._credentials, lambda attempt: self._read(query, columns, attempt)
        )

    async def _read(self, query: str, columns: Columns, attempt: TlsAttempt) -> Rows:
        connection = await self._connect(attempt)
        try:
            async with asyncio.timeout(parse_interval(self._source.query_timeout) + GRACE_SECONDS):
                return await self._rows(connection, query, columns)
        except TimeoutError:
            raise self._too_slow() from None
        except MySqlError as error:
            raise self._explain(error) from None
        except (OSError, *_GARBLED) as error:
            raise BrokenRead(
                f"{self._name}: the response was interrupted or invalid ({self._text(error)})"
            ) from None
        finally:
            _hang_up(connection)

    async def _connect(self, attempt: TlsAttempt) -> Any:
        host, port = self._environment.redirect(self._source.host, self._source.port)
        limit = parse_interval(self._source.connect_timeout)
        try:
            async with asyncio.timeout(limit):
                return await connect(
                    host=host,
                    port=port,
                    user=self._source.username,
                    # As bytes: the driver would encode a str in Latin-1, and the server expects UTF-8.
                    password=self._credentials.password.encode(),
                    database=self._source.database,
                    charset="utf8mb4",
                    connect_timeout=limit,
                    local_infile=False,
                    use_unicode=False,
                    ssl=attempt,
                    auth_plugin_map=rejected_logins(attempt),
                )
        except TimeoutError:
            raise SourceUnreachable(
                f"{self._name}: no answer within {self._source.connect_timeout}"
            ) from None
        except (MySqlError, OSError, *_GARBLED) as error:
            raise self._not_connected(error, attempt) from None

    async def _rows(self, connection: Any, query: str, columns: Columns) -> Rows:
        result = ResultReader(connection, RECEIVED_BYTES)
        sorter = RowSorter(columns, self._environment.table_bytes)
        for statement in self._session_statements(connection.server_version):
            await result.run(statement)
        formats = await result.select(query, len(columns.names))
        read = 0
        while (row := await result.next_row()) is not None:
            _add_row(sorter, row, formats)
            read += 1
            if read % PAUSE_EVERY == 0:
                await asyncio.sleep(0)
        # One more round trip: a server that still answers has sent its complete result.
        await result.run("COMMIT")
        return sorter.rows()

    def _session_statements(self, version: str) -> Sequence[str]:
        limit = parse_interval(self._source.query_timeout)
        is_mariadb = "mariadb" in version.lower()
        clock = f"max_statement_time = {limit}" if is_mariadb else f"max_execution_time = {int(limit * 1000)}"
        return (
            f"SET SESSION {clock}, SESSION time_zone = '+00:00', {_WHOLE_AND_UTF8}",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        )

    @property
    def _name(self) -> str:
        source = self._source
        return f"mysql {source.username}@{source.host}:{source.port}/{source.database}, table {source.table}"

    def _not_connected(self, error: Exception, attempt: TlsAttempt) -> SourceError:
        causes = list(_causes(error))
        if any(isinstance(cause, ssl.SSLError) for cause in causes):
            return TlsFailed(f"{self._name}: TLS failed ({self._text(error)}); correct tls.mode or tls.caRef")
        code, message = _code(error), f"{self._name}: {self._text(error)}"
        if code in _DENIED | _WRONG_TABLE:
            return self._explain(error)
        if code == NO_COMMON_LOGIN:
            return AccessDenied(
                f"{message}; let the user log in with a hashed password, or set tls.mode: require"
            )
        if _is_server_error(code):
            return SourceUnreachable(f"{message}; the next sync tries again")
        if attempt is not None and not any(isinstance(cause, _UNREACHABLE) for cause in causes):
            takes = (
                "accept the certificate of clientCertificateRef"
                if self._credentials.certificate
                else "support TLS"
            )
            return TlsFailed(f"{self._name}: the server ended the TLS handshake; does it {takes}? See tls")
        return SourceUnreachable(f"{message}; check host, port and network")

    def _explain(self, error: Exception) -> SourceError:
        code, message = _code(error), f"{self._name}: {self._text(error)}"
        if code in _DENIED:
            return AccessDenied(f"{message}; {self._credentials.denied_cure}")
        if code in _WRONG_TABLE:
            return WrongTable(f"{message}; correct database, table, valueMappings or where, or restore it")
        if code in _TOO_SLOW:
            return self._too_slow()
        return BrokenRead(f"{message}; the next sync tries again")

    def _text(self, error: Exception) -> str:
        return clean_text(_error_text(error), self._credentials.password)

    def _too_slow(self) -> BrokenRead:
        return BrokenRead(
            f"{self._name}: the query took longer than {self._source.query_timeout}; raise queryTimeout or read a view"
        )


def _add_row(sorter: RowSorter, row: bytes | SkippedRow, formats: Sequence[ValueFormat]) -> None:
    if isinstance(row, SkippedRow):
        sorter.add_too_large(first_value(row.beginning, formats[0]))
    else:
        sorter.add(row_values(row, formats))


def _hang_up(connection: Any) -> None:
    """At once: a close would wait for a hostile server, and receive what it still sends."""
    if connection._transport is not None:
        connection._transport.abort()
    connection.close()


def _code(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _is_server_error(code: int) -> bool:
    """Error codes of the driver itself are between 2000 and 2999."""
    return code >= 1000 and code // 1000 != 2


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _error_text(error: Exception) -> str:
    message = [word.decode(errors="replace") if isinstance(word, bytes) else str(word) for word in error.args]
    return " ".join(message) or type(error).__name__
